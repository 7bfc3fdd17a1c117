"""Where a link of the repository leads on the site."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

# Files that a browser shows or saves as they are; every other one becomes a page.
AS_THEY_ARE = {".svg", ".gz", ".png", ".json", ".csv"}


class DeadLinkError(Exception):
    """Links that lead nowhere: (page, target) pairs, and what to do about them."""

    def __init__(self, dead: list[tuple[str, str]]):
        lines = [f"{page}: {target}" for page, target in dead]
        super().__init__("these links lead to no file of the repository; repair them:\n  " + "\n  ".join(lines))
        self.dead = dead


def site_path(path: Path, root: Path) -> str:
    """The place on the site of a file or folder of the repository."""
    inside = path.relative_to(root)
    if path.is_dir():
        return (inside / "index.html").as_posix()
    if inside.name == "README.md":
        return (inside.parent / "index.html").as_posix()
    if path.suffix in (".md", ".ipynb"):
        return inside.with_suffix(".html").as_posix()
    if path.suffix in AS_THEY_ARE:
        return inside.as_posix()
    return inside.as_posix() + ".html"


class Links:
    """Turns targets of links into places on the site, and notes which files they need.

    wanted: files and folders that need a page. copied: those that are copied. known: those that have a page already.
    dead: (page, target) of links that lead nowhere.
    """

    def __init__(self, root: Path):
        self.root = root
        self.wanted: set[Path] = set()
        self.copied: set[Path] = set()
        self.known: set[Path] = set()
        self.dead: list[tuple[str, str]] = []

    def target(self, link: str, page: Path) -> str:
        """What stands on the site for `link`, found in the file `page`."""
        parts = urlsplit(link)
        if parts.scheme or parts.netloc or not parts.path:
            return link
        path = Path(os.path.normpath(page.parent / unquote(parts.path)))
        if not path.exists() or not path.is_relative_to(self.root):
            self.dead.append((page.relative_to(self.root).as_posix(), link))
            return link
        if path.suffix in AS_THEY_ARE:
            self.copied.add(path)
        else:
            self.wanted.add(path)
        here = Path(site_path(page, self.root)).parent
        relative = os.path.relpath(site_path(path, self.root), here)
        return quote(Path(relative).as_posix()) + (f"#{parts.fragment}" if parts.fragment else "")
