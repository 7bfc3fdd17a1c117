"""Files that are replaced at once or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from expandlab.errors import ExpandlabError, ExportError


@contextmanager
def replacing(path: Path, error: type[ExpandlabError] = ExportError) -> Iterator[Path]:
    """A new file beside `path` to write to; it takes the place of `path` when the block ends, and goes if that fails.

    Readers see the old file or the whole new one. The folder is made where it is missing. What the system says against
    it is raised as `error`, with the path.
    """
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Fails here, and not in what the caller writes with, where there is no place for it.
        temporary.touch(exist_ok=False)
        try:
            yield temporary
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as fault:
        raise error(f"{path}: cannot be written ({fault.strerror or fault}); choose another place") from fault
