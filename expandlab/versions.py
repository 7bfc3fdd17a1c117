"""Which code made a result: the versions of the packages and the commit of the source tree."""

from __future__ import annotations

import importlib.metadata
import os
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def _versions_once() -> tuple[tuple[str, str | None], ...]:
    from expandlab import __version__

    found: list[tuple[str, str | None]] = [("expandlab", __version__)]
    for name in ("numpy", "matplotlib", "wgpu"):
        try:
            found.append((name, importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            found.append((name, None))
    return tuple(found)


def versions() -> dict[str, str | None]:
    """Version of expandlab and of the packages whose version a result depends on; None where one is missing."""
    return dict(_versions_once())


@lru_cache(maxsize=4)
def commit(folder: Path | None = None) -> str | None:
    """The commit that the source tree stands at, read from its `.git`; None where it is no checkout.

    A copy of a tree without its `.git` says with EXPANDLAB_COMMIT where it was taken from.
    """
    git = (folder or Path(__file__).resolve().parent.parent) / ".git"
    try:
        if git.is_file():  # a worktree: the file names its git directory
            git = (git.parent / git.read_text().partition("gitdir:")[2].strip()).resolve()
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref:"):
            return head or None
        ref = head.partition(":")[2].strip()
        common = git
        if (git / "commondir").is_file():
            common = (git / (git / "commondir").read_text().strip()).resolve()
        for place in (git, common):
            if (place / ref).is_file():
                return (place / ref).read_text().strip() or None
        for line in (common / "packed-refs").read_text().splitlines():
            if line.endswith(f" {ref}"):
                return line.partition(" ")[0]
    except (OSError, UnicodeDecodeError):
        pass
    return os.environ.get("EXPANDLAB_COMMIT") or None
