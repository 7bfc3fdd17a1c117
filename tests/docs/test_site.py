"""The static site: what `make docs` writes can be read without a network, and every local link leads somewhere."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "docs" / "site" / "build.py"
# Attributes that make a browser fetch something by itself.
FETCHED = [("img", "src"), ("link", "href"), ("script", "src"), ("iframe", "src"), ("source", "srcset")]


def build(folder, script=BUILD):
    return subprocess.run([sys.executable, str(script), str(folder)], capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, and its pages as (path, parsed HTML)."""
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    pages = {path: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in sorted(folder.rglob("*.html"))}
    return folder, pages


def reading(site):
    """The pages that are not sources or folders."""
    folder, pages = site
    return {
        path.relative_to(folder).as_posix(): soup
        for path, soup in pages.items()
        if not soup.select("h1 > code:only-child")
    }


def test_every_notebook_and_every_page_of_docs_is_on_it(site):
    found = set(reading(site))
    files = [*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/strategies/*.md")]
    expected = {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in files}
    expected = {name.replace("README.html", "index.html") for name in expected} | {"index.html"}
    assert len(expected) > 20 and expected <= found


def test_the_index_of_docs_links_to_every_page_of_docs(site):
    linked = {tag["href"] for tag in reading(site)["docs/index.html"].select("main a")}
    pages = {
        path.relative_to(ROOT / "docs")
        for folder in ("", "strategies")
        for path in (ROOT / "docs" / folder).glob("*.md")
    }
    expected = {path.with_suffix(".html").as_posix().replace("README.html", "index.html") for path in pages}
    assert expected - {"index.html"} <= linked


def test_every_local_link_picture_and_fragment_is_there(site):
    folder, pages = site
    names = {path: {tag["id"] for tag in soup.find_all(id=True)} for path, soup in pages.items()}
    checked, wrong = 0, []
    for path, soup in pages.items():
        for tag in soup.find_all(["a", "img", "link"]):
            target = tag.get("src") or tag.get("href")
            parts = urlsplit(target or "")
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            inside = aim.is_file() and aim.is_relative_to(folder.resolve())
            if not inside or (parts.fragment and parts.fragment not in names.get(aim, ())):
                wrong.append((path.relative_to(folder).as_posix(), target))
    assert checked > 1000 and wrong == []


def test_nothing_is_fetched_from_elsewhere_and_nothing_runs(site):
    for path, soup in site[1].items():
        assert soup.find_all("script") == [], path
        for name, attribute in FETCHED:
            for tag in soup.find_all(name):
                assert not urlsplit(tag.get(attribute, "")).netloc, (path, tag)
    style = (site[0] / "style.css").read_text("utf-8")
    assert "url(" not in style and "@import" not in style


def test_each_reference_picture_is_shown_with_its_alternative_text(site):
    shown = {}
    for name, soup in reading(site).items():
        if name.startswith("notebooks/"):
            shown |= {Path(image["src"]).name: image["alt"] for image in soup.find_all("img")}
    assert set(shown) == {path.name for path in ROOT.glob("notebooks/images/*.svg")}
    assert all(len(text) > 40 for text in shown.values())


def test_formulas_are_mathml(site):
    formulas = 0
    for name, soup in reading(site).items():
        formulas += len(soup.find_all("math"))
        prose = copy.copy(soup)
        for tag in prose.find_all(["code", "pre", "math"]):
            tag.decompose()
        assert "$$" not in prose.get_text() and "\\text" not in prose.get_text(), name
    written = "".join(path.read_text("utf-8") for path in ROOT.glob("notebooks/*.ipynb"))
    assert formulas == written.count("$$") // 2 > 3


def test_the_cells_of_a_notebook_keep_their_names_and_their_text(site):
    notebook = json.loads((ROOT / "notebooks" / "04_buckets.ipynb").read_text("utf-8"))
    soup = reading(site)["notebooks/04_buckets.html"]
    for cell in notebook["cells"]:
        shown = soup.find(id=cell["id"])
        assert cell["cell_type"] in shown["class"]
        if cell["cell_type"] == "code":
            assert shown.find("pre").get_text().strip() == "".join(cell["source"]).strip()
            assert bool(shown.select(".live")) == ("xl.panels." in "".join(cell["source"]))


def test_a_link_that_leads_nowhere_ends_the_build(tmp_path):
    root = tmp_path / "project"
    (root / "docs" / "site").mkdir(parents=True)
    (root / "notebooks").mkdir()
    for path in BUILD.parent.iterdir():
        if path.is_file():
            (root / "docs" / "site" / path.name).write_bytes(path.read_bytes())
    (root / "README.md").write_text("# One\n\n[two](docs/two.md) [gone](docs/gone.md)\n", "utf-8")
    (root / "docs" / "two.md").write_text("# Two\n\n![lost](lost.png)\n", "utf-8")
    done = build(tmp_path / "out", root / "docs" / "site" / "build.py")
    assert done.returncode == 1 and not (tmp_path / "out").exists()
    assert "README.md: docs/gone.md" in done.stderr and "docs/two.md: lost.png" in done.stderr
    assert "two.md\n" not in done.stderr


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    done = build(tmp_path)
    assert done.returncode == 1 and "not a site" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
