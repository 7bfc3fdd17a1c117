"""One JupyterLab and one Chromium for all tests of this folder: both take longer to start than most tests to run."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


def pytest_collection_modifyitems(items):
    here = Path(__file__).parent
    for item in items:
        if here in Path(item.path).parents:
            item.add_marker("browser")


@pytest.fixture(scope="session")
def lab(tmp_path_factory, chromium_path):
    """JupyterLab on a copy of the notebooks, so that what a test exports or saves is not in the tree."""
    from browser.jupyter import Lab

    folder = tmp_path_factory.mktemp("lab")
    root = folder / "root"
    shutil.copytree(NOTEBOOKS, root / "notebooks", ignore=shutil.ignore_patterns("exports", ".ipynb_checkpoints"))
    running = Lab(folder, root)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser(chromium_path):
    """Chromium without a window."""
    from browser.jupyter import chromium
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = chromium(playwright, chromium_path)
        yield running
        running.close()


@pytest.fixture(scope="session")
def profile(browser):
    """One profile for all tabs, so that JupyterLab's scripts are fetched and compiled once."""
    from browser.jupyter import VIEWPORT

    permissions = ["clipboard-read", "clipboard-write"]
    with browser.new_context(viewport=VIEWPORT, accept_downloads=True, permissions=permissions) as context:
        yield context


@pytest.fixture(scope="session")
def open_notebook(lab, profile):
    """`with open_notebook(NAME) as page:`, a notebook of the copy in a tab of its own.

    Its tab and its kernel end with the block: open tabs go on painting, which slows every test after them.
    """
    from browser.jupyter import NotebookPage

    @contextmanager
    def opener(name):
        page = NotebookPage(lab, profile.new_page(), f"notebooks/{name}")
        try:
            yield page
        finally:
            page.close()

    return opener
