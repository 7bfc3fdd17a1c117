"""A file of the repository as the body of a page: Markdown, a notebook, a folder, or a source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

import latex2mathml.converter
import nbformat
from bs4 import BeautifulSoup, Tag
from links import Links, site_path
from nbconvert import HTMLExporter
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

LIGHT, DARK = HtmlFormatter(style="default"), HtmlFormatter(style="github-dark")
PYGMENTS_CSS = (
    LIGHT.get_style_defs(".highlight")
    + "\n@media (prefers-color-scheme: dark) {\n"
    + DARK.get_style_defs(".highlight")
    + "\n}\n"
)
LIVE = "When the notebook runs, a panel stands here, to move and to step through: <code>make lab</code>."
FORMULA = re.compile(r"\s*\$\$(.+)\$\$\s*", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """One page: the file it comes from, its place on the site, its title, a line above it, and its HTML."""

    source: Path
    target: str
    title: str
    note: str
    body: str

    @property
    def label(self) -> str:
        """What the list of pages calls it: a notebook with its number."""
        return f"{self.source.name[:2]} {self.title}" if self.source.suffix == ".ipynb" else self.title


def render(path: Path, root: Path, links: Links) -> Page:
    """The page of a file or folder below `root`; its links are noted in `links`."""
    inside = path.relative_to(root).as_posix()
    if path.is_dir():
        return Page(path, site_path(path, root), inside, "", _folder(path, root, links))
    if path.suffix not in (".md", ".ipynb"):
        return Page(path, site_path(path, root), inside, "", _source(path, inside))
    if path.suffix == ".md":
        cells = [nbformat.v4.new_markdown_cell(path.read_text(encoding="utf-8"), id="page")]
        notebook = nbformat.v4.new_notebook(cells=cells)
        note = ""
    else:
        notebook = nbformat.read(path, as_version=4)
        note = f"Notebook <code>{escape(inside)}</code>, as it is before it runs."
    soup = _html(notebook)
    for cell, shown in zip(notebook.cells, soup.select("div.cell"), strict=True):
        _tidy(cell, shown, soup)
    _formulas(soup)
    _headings(soup)
    for tag in soup.find_all(["a", "img"]):
        attribute = "href" if tag.name == "a" else "src"
        if tag.get(attribute):
            tag[attribute] = links.target(tag[attribute], path)
    title = soup.find("h1").get_text()
    return Page(path, site_path(path, root), title, note, str(soup))


@cache
def _exporter() -> HTMLExporter:
    # Outputs are left out rather than trusted to be absent. One exporter for all pages: it compiles its templates once.
    return HTMLExporter(
        template_name="basic", exclude_output=True, exclude_input_prompt=True, exclude_output_prompt=True
    )


def _html(notebook: nbformat.NotebookNode) -> BeautifulSoup:
    body, _ = _exporter().from_notebook_node(notebook)
    return BeautifulSoup(body, "html.parser")


def _tidy(cell: nbformat.NotebookNode, shown: Tag, soup: BeautifulSoup) -> None:
    """Give the cell its own name to link to, and say where a panel would be."""
    shown["id"] = cell.id
    shown["class"] = ["cell", cell.cell_type]
    if cell.cell_type == "code" and "xl.panels." in cell.source:
        note = BeautifulSoup(f'<p class="live">{LIVE}</p>', "html.parser")
        shown.append(note)


def _formulas(soup: BeautifulSoup) -> None:
    for paragraph in soup.find_all("p"):
        found = FORMULA.fullmatch(paragraph.get_text())
        if found:
            # latex2mathml keeps the backslash of an underscore in \text{}.
            tex = found[1].replace(r"\_", "_")
            paragraph.clear()
            paragraph.append(BeautifulSoup(latex2mathml.converter.convert(tex, display="block"), "html.parser"))


def _headings(soup: BeautifulSoup) -> None:
    """Name the headings as GitHub does, so that one link with a fragment serves both."""
    taken: dict[str, int] = {cell["id"]: 1 for cell in soup.select("div.cell")}
    for heading in soup.find_all(re.compile(r"h[1-6]")):
        for anchor in heading.select("a.anchor-link"):
            anchor.decompose()
        name = re.sub(r"[^\w\- ]", "", heading.get_text().strip().lower()).replace(" ", "-")
        again = taken.get(name, 0)
        taken[name] = again + 1
        heading["id"] = f"{name}-{again}" if again else name


def _source(path: Path, inside: str) -> str:
    text = path.read_text(encoding="utf-8")
    try:
        lexer = get_lexer_for_filename(path.name)
    except ClassNotFound:
        lexer = TextLexer()
    formatter = HtmlFormatter(linenos="inline", lineanchors="L", cssclass="highlight source")
    return f"<h1><code>{escape(inside)}</code></h1>{highlight(text, lexer, formatter)}"


def _folder(path: Path, root: Path, links: Links) -> str:
    files = sorted(entry for entry in path.iterdir() if entry.is_file() and not entry.name.startswith("."))
    rows = "".join(f'<li><a href="{links.target(entry.name, path / "index")}">{entry.name}</a></li>' for entry in files)
    return f"<h1><code>{escape(path.relative_to(root).as_posix())}/</code></h1><ul>{rows}</ul>"
