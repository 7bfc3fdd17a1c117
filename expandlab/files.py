"""Files that are replaced at once or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from expandlab.errors import ExpandlabError, ExportError


@contextmanager
def replacing(path: Path, error: type[ExpandlabError] = ExportError) -> Iterator[Path]:
    """A new file beside `path` to write to; it takes the place of `path` when the block ends, and goes if that fails.

    Readers see the old file or the whole new one. The folder is made where it is missing. A link stays one: what it
    points to is replaced. The mode of a file stays as well. A device or a pipe is written to as it is. What the system
    says against it is raised as `error`, with the path.
    """
    try:
        target = _checked(path)
        if target.exists() and not target.is_file() and not target.is_dir():
            yield target
            return
        # Not the path's own name, which may be as long as a name can be.
        temporary = target.with_name(f".expandlab-{secrets.token_hex(6)}.tmp")
        try:
            # Here, and not in what the caller writes with, it fails where there is no place for it.
            temporary.touch(exist_ok=False)
            if target.is_file():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            yield temporary
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as fault:
        if isinstance(fault, ExpandlabError):
            raise
        raise _refused(path, fault, error) from fault


def check_writable(path: Path, error: type[ExpandlabError] = ExportError) -> None:
    """Raise `error` for a path that could not be replaced, before the work whose result it is to hold."""
    try:
        target = _checked(path)
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if target.is_file() or not target.exists():
            probe = target.with_name(f".expandlab-{secrets.token_hex(6)}.tmp")
            try:
                probe.touch(exist_ok=False)
            finally:
                probe.unlink(missing_ok=True)
    except OSError as fault:
        raise _refused(path, fault, error) from fault


def _checked(path: Path) -> Path:
    """Where `path` leads, with the folder made. Raises OSError."""
    try:
        target = Path(os.path.realpath(path))
        os.fsencode(target)
    except ValueError as fault:
        raise OSError(errno.EINVAL, f"no name of a file: {fault}") from fault
    if not target.name or not path.name:
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_file() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return target


def _refused(path: Path, fault: OSError, error: type[ExpandlabError]) -> ExpandlabError:
    name = str(path) if str(path).isprintable() else repr(str(path))
    return error(f"{name}: cannot be written ({fault.strerror or fault}); choose another place")
