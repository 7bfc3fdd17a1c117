"""`make docs`: the notebooks, the pages of docs/ and the README as a static site, without running anything.

    python docs/site/build.py [FOLDER]      (default: build/site)

The site mirrors the repository, so every relative link keeps its meaning: README.md is index.html, X.md and X.ipynb
are X.html, a source file that something links to is a page of its own with its lines highlighted, and pictures and data
are copied. Nothing on it comes from a network: formulas are MathML, there are no scripts. A link that leads nowhere
ends the build.
"""

from __future__ import annotations

import shutil
import sys
from html import escape
from pathlib import Path
from string import Template

from links import DeadLinkError, Links, site_path
from render import PYGMENTS_CSS, Page, render

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# The order in which the pages are listed; a page that is not named here comes last, by name.
DESIGN = (
    "README",
    "architecture",
    "devices",
    "several-devices",
    "browser-device",
    "frame-graph",
    "top-k",
    "measuring",
    "exports",
    "faults",
    "figures",
    "adding-a-strategy",
)
FAMILIES = ("README", "flat-and-append", "scan-and-search", "buckets", "balance", "api-paths")


def ordered(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """The Markdown files of a folder, those of `names` first."""
    place = {name: at for at, name in enumerate(names)}
    return sorted(folder.glob("*.md"), key=lambda path: (place.get(path.stem, len(names)), path.stem))


def groups(root: Path) -> dict[str, list[Path]]:
    """Heading in the navigation -> the files below it, all inside `root`."""
    return {
        "expandlab": [root / "README.md"],
        "Notebooks": sorted((root / "notebooks").glob("*.ipynb")),
        "Strategies": ordered(root / "docs" / "strategies", FAMILIES),
        "Design": ordered(root / "docs", DESIGN),
    }


def navigation(pages: dict[str, list[Page]], here: str) -> str:
    """The list of all pages, with links from the page at `here`."""
    up = "../" * here.count("/")
    lines = []
    for heading, listed in pages.items():
        lines.append(f"<p>{escape(heading)}</p><ul>")
        for page in listed:
            current = ' aria-current="page"' if page.target == here else ""
            lines.append(f'<li><a href="{up}{page.target}"{current}>{escape(page.label)}</a></li>')
        lines.append("</ul>")
    return "\n".join(lines)


def beside(pages: list[Page], here: str) -> str:
    """Links to the page before and the page after, of those in the order of reading."""
    targets = [page.target for page in pages]
    if here not in targets:
        return ""
    up, at = "../" * here.count("/"), targets.index(here)
    found = [("Before", at - 1, "prev"), ("Next", at + 1, "next")]
    return "".join(
        f'<a rel="{rel}" href="{up}{pages[place].target}">{word}: {escape(pages[place].label)}</a>'
        for word, place, rel in found
        if 0 <= place < len(pages)
    )


def build(out: Path, root: Path = ROOT) -> list[str]:
    """Write the site into `out`, which is replaced if it is a site. Returns the paths written, relative to it.

    Raises DeadLinkError with every link that leads nowhere, before anything is written.
    """
    marker = out / ".expandlab-site"
    if out.exists() and any(out.iterdir()) and not marker.exists():
        raise FileExistsError(f"{out} is not a site that this made; name another folder, or an empty one")
    links = Links(root)
    pages = {heading: [render(path, root, links) for path in files] for heading, files in groups(root).items()}
    reading = [page for listed in pages.values() for page in listed]
    links.known |= {page.source for page in reading}
    sources, done = [], set()
    while waiting := sorted(links.wanted - links.known - done):
        done |= set(waiting)
        sources += [render(path, root, links) for path in waiting]
    if links.dead:
        raise DeadLinkError(links.dead)

    if out.exists():
        shutil.rmtree(out)
    out.mkdir(parents=True)
    marker.touch()
    template = Template((HERE / "page.html").read_text(encoding="utf-8"))
    written = []
    for page in reading + sources:
        text = template.substitute(
            title=escape(page.title),
            up="../" * page.target.count("/"),
            navigation=navigation(pages, page.target),
            note=page.note,
            body=page.body,
            beside=beside(reading, page.target),
        )
        written.append(page.target)
        (out / page.target).parent.mkdir(parents=True, exist_ok=True)
        (out / page.target).write_text(text, encoding="utf-8")
    style = (HERE / "style.css").read_text(encoding="utf-8") + PYGMENTS_CSS
    (out / "style.css").write_text(style, encoding="utf-8")
    for path in sorted(links.copied):
        target = site_path(path, root)
        written.append(target)
        (out / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / target)
    return [*written, "style.css"]


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    try:
        files = build(folder)
    except (DeadLinkError, FileExistsError) as error:
        sys.exit(str(error))
    print(f"{len(files)} files; open {folder / 'index.html'}")
