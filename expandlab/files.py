"""Files that are replaced at once or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from expandlab.errors import ExpandlabError, ExportError


@contextmanager
def replacing(path: Path, error: type[ExpandlabError] = ExportError) -> Iterator[Path]:
    """A new file beside `path` to write to; it takes the place of `path` when the block ends, and goes if that fails.

    Readers see the old file or the whole new one. The folder is made where it is missing. A link stays one: what it
    points to is replaced. The mode of a file stays as well. A device or a pipe is written to as it is. What the system
    says against it is raised as `error`, with the path; what it says in the block against another file passes.
    """
    made: list[Path] = []
    theirs: OSError | None = None
    try:
        target = _place_of(path)
        written = target if _is_stream(target) else _beside(target, made)
        try:
            if written != target:
                # Here, and not in what the caller writes with, it fails where there is no place for it.
                written.touch(exist_ok=False)
                if target.is_file():
                    written.chmod(stat.S_IMODE(target.stat().st_mode))
            try:
                yield written
            except OSError as fault:
                # What runs out in the middle of a file, as space does, comes without a name.
                theirs = fault if fault.filename is not None and str(fault.filename) != str(written) else None
                raise
            if written != target:
                os.replace(written, target)
                made.clear()
        finally:
            if written != target:
                written.unlink(missing_ok=True)
    except OSError as fault:
        if fault is theirs or isinstance(fault, ExpandlabError):
            raise
        raise _refused(path, fault, error) from fault
    finally:
        _remove(made)


def check_writable(path: Path, error: type[ExpandlabError] = ExportError) -> None:
    """Raise `error` for a path that could not be replaced, before the work whose result it is to hold."""
    made: list[Path] = []
    try:
        target = _place_of(path)
        if not _is_stream(target):
            probe = _beside(target, made)
            try:
                probe.touch(exist_ok=False)
            finally:
                probe.unlink(missing_ok=True)
    except OSError as fault:
        raise _refused(path, fault, error) from fault
    finally:
        _remove(made)


def _place_of(path: Path) -> Path:
    """Where `path` leads. Raises OSError where no file can be."""
    try:
        if _is_stream(path):
            # Such as the pipe behind /dev/stdout: the name that the link has for it opens nothing.
            return path
        with suppress(FileNotFoundError):
            # It tells of links that lead to one another, as nothing below does.
            path.stat()
        target = Path(os.path.realpath(path))
        os.fsencode(target)
    except ValueError as fault:
        raise OSError(errno.EINVAL, f"no name of a file: {fault}") from fault
    if not target.name or not path.name or target.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.is_file() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return target


def _is_stream(path: Path) -> bool:
    """Whether a device, a pipe or a socket stands there, which no file may replace."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _beside(target: Path, made: list[Path]) -> Path:
    """A new name in the folder of `target`; the folders that had to be made for it are added to `made`."""
    folder = target.parent
    for missing in reversed([item for item in (folder, *folder.parents) if not item.exists()]):
        missing.mkdir(exist_ok=True)
        made.append(missing)
    # Not the target's own name, which may be as long as a name can be.
    return target.with_name(f".expandlab-{secrets.token_hex(6)}.tmp")


def _remove(made: list[Path]) -> None:
    """The folders, unless somebody has put something there."""
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()


def _refused(path: Path, fault: OSError, error: type[ExpandlabError]) -> ExpandlabError:
    name = str(path) if str(path).isprintable() else repr(str(path))
    return error(f"{name}: cannot be written ({fault.strerror or fault}); choose another place")
