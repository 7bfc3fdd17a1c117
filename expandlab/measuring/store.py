"""A file of results that only grows: what was written stays whole whatever happens to the process that wrote it.

One JSON object a line, the first a header. A line is written with one call and brought to the disk before the next
step begins, so a kill at any moment loses at most the line that was being written; such a torn last line is cut off
when the file is opened again. Every line carries a checksum, so damage elsewhere is told of and never taken for data.
A second process is kept out by a lock that the system gives up when its holder ends, however it ends.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from expandlab.errors import ExpandlabError

FORMAT, VERSION = "expandlab-sweep-store", 1


class StoreError(ExpandlabError, OSError):
    """A store that cannot be opened, is in use, or is damaged. The message says which."""

    # OSError's own would print two arguments as `[Errno ...]`.
    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class Store:
    """The lines of one file by key. Open it in a `with` block; while it is open no other process can."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self._lock: Any = None
        self._file: int | None = None
        self.entries: dict[str, Any] = {}

    def __enter__(self) -> Store:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self.path.with_name(self.path.name + ".lock"), self.path)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
            self._recover()
        except StoreError:
            self.close()
            raise
        except OSError as error:
            self.close()
            raise StoreError(f"store={self.path}: cannot be opened ({error.strerror or error})") from error
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Let the next process in."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def add(self, key: str, body: Any, *, replace: bool = False) -> None:
        """Append what belongs to `key`, on the disk when this returns. The last entry of a key counts.

        Raises StoreError for a key that is there, unless `replace` says that it is meant.
        """
        if key in self.entries and not replace:
            raise StoreError(f"store={self.path}: {key!r} is there already; it would be measured twice")
        self._write({"key": key, "body": body})
        self.entries[key] = body

    def _write(self, entry: dict[str, Any]) -> None:
        line = encode(entry)
        size, reason = os.fstat(self._file).st_size, "the disk is full"
        try:
            if os.write(self._file, line) == len(line):
                os.fsync(self._file)
                return
        except OSError as error:
            reason = error.strerror or str(error)
        # Part of the line, or one that never reached the disk.
        os.ftruncate(self._file, size)
        raise StoreError(
            f"store={self.path}: cannot be written ({reason}); make room and start again, what was stored is kept"
        )

    def _recover(self) -> None:
        """Read what is there, without a torn last line; write the header of a new file."""
        data = self.path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            os.ftruncate(self._file, whole)
            os.fsync(self._file)
        entries = list(decode(data[:whole], self.path))
        if not entries:
            self._write({"format": FORMAT, "version": VERSION})
            _sync_folder(self.path.parent)
            return
        check_header(entries[0], self.path)
        self.entries = {entry["key"]: entry["body"] for entry in entries[1:]}


def encode(entry: dict[str, Any]) -> bytes:
    """A line: the checksum of the JSON in front of it, so that both end where the line ends."""
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    return f"{zlib.crc32(text.encode()):08x} {text}\n".encode()


def decode(data: bytes, path: Path) -> Iterator[dict[str, Any]]:
    """The entries of whole lines. Raises StoreError naming the first damaged line, from 1."""
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        check, _, text = line.partition(b" ")
        try:
            if int(check, 16) != zlib.crc32(text):
                raise ValueError
            yield json.loads(text)
        except ValueError:
            raise StoreError(
                f"store={path}: line {number} is damaged; take a copy that is whole, or delete that line to measure it "
                "again"
            ) from None


def check_header(header: Any, path: Path) -> None:
    """Raise StoreError where the first line is not this format's."""
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise StoreError(f"store={path}: is no store of a sweep; give another path")
    if header.get("version") != VERSION:
        raise StoreError(f"store={path}: has version {header.get('version')!r}, and this expandlab reads {VERSION}")


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The entries of a store by key, also while another process writes it."""
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StoreError(f"store={path}: cannot be read ({error.strerror or error})") from error
    entries = list(decode(data[: data.rfind(b"\n") + 1], path))
    check_header(entries[0] if entries else None, path)
    return {entry["key"]: entry["body"] for entry in entries[1:]}


def _locked(path: Path, store: Path) -> Any:
    """An open file with an exclusive lock on it, which ends with the process."""
    file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - it stays open as long as the store
    try:
        if os.name == "nt":  # pragma: no cover
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise StoreError(f"store={store}: another process is writing it; wait for it, or give another path") from None
    return file


def _sync_folder(folder: Path) -> None:
    """Bring a new file's name to the disk, where folders can be opened."""
    if os.name != "nt":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
