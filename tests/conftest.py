"""What every test may use: Hypothesis's profiles, and one rule for what a machine may lack.

A test that needs a driver or a browser is skipped where there is none, with the line that installs it. Where
``EXPANDLAB_REQUIRE`` names it (``gpu``, ``browser``, or both with a comma) the same test fails instead, so that a
machine that is meant to have it cannot pass without noticing.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import NoReturn, TypeVar

import pytest
from hypothesis import settings

Found = TypeVar("Found")
# The folders of the parts that `make test` runs side by side; `others` has the rest.
PARTS = {"browser": ("browser",), "kernels": ("expansion", "topk")}
# Taken out, so that a pytest which a test starts runs what it is told to.
PART = os.environ.pop("EXPANDLAB_TEST_PART", None)

# A shell without job control starts what it puts in the background with interrupts ignored, and children inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _part(path: Path) -> str:
    folder = path.relative_to(Path(__file__).parent).parts[0]
    return next((name for name, folders in PARTS.items() if folder in folders), "others")


def pytest_collection_modifyitems(config, items):
    """Keep the part that EXPANDLAB_TEST_PART names (`browser`, `kernels` or `others`), all where it names none."""
    if PART:
        kept = {item for item in items if _part(Path(item.path)) == PART}
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


# No deadline: the first example on a device compiles its shaders.
settings.register_profile("default", max_examples=25, deadline=None)
settings.register_profile("soak", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("EXPANDLAB_HYPOTHESIS") or "default")


def required(what: str) -> bool:
    """Does ``EXPANDLAB_REQUIRE`` name ``what``?"""
    names = os.environ.get("EXPANDLAB_REQUIRE", "").replace(",", " ").split()
    return what in names


def missing(what: str, hint: str) -> NoReturn:
    """Skip the test for want of ``what`` (``gpu`` or ``browser``), or fail it where that is required."""
    message = f"no {what} found; to install one: {hint}"
    if required(what):
        pytest.fail(f"{message} (EXPANDLAB_REQUIRE asks for it)", pytrace=False)
    pytest.skip(message)


def require(what: str, found: Found | None, line_to_run: str) -> Found:
    """``found`` as it is, or, where it is ``None``, what :func:`missing` does."""
    return missing(what, line_to_run) if found is None else found


CHROMIUM_NAMES = ("chromium", "google-chrome", "google-chrome-stable", "chromium-browser")
CHROMIUM_APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)


def _playwrights_own() -> str:
    """Where Playwright puts the Chromium that it installs itself, whether or not it has."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _starts(executable: str) -> bool:
    """A name on PATH may be a stub that only asks for a package: the version shows that a browser is there."""
    try:
        answer = subprocess.run([executable, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and "chrom" in answer.stdout.lower()


def find_chromium() -> Path | None:
    """The first that starts: the one that ``EXPANDLAB_CHROMIUM`` names, or else the system's, or Playwright's own."""
    named = os.environ.get("EXPANDLAB_CHROMIUM")
    candidates = [named] if named else [shutil.which(name) for name in CHROMIUM_NAMES] + list(CHROMIUM_APPS)
    for candidate in candidates:
        if candidate and _starts(candidate):
            return Path(candidate)
    if not named and _starts(own := _playwrights_own()):
        return Path(own)
    return None


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """Path of a Chromium or Chrome that starts; without one the test is skipped, or fails where one is required."""
    debian = Path("/etc/debian_version").exists() and "ID=ubuntu" not in Path("/etc/os-release").read_text()
    line = "sudo apt-get install chromium" if debian else "python -m playwright install --with-deps chromium"
    return require("browser", find_chromium(), line)


from drivers import any_device, every_device, gpu, lavapipe  # noqa: E402,F401 - fixtures for every test
