"""The worked example of docs/adding-a-strategy.md, done to a copy of the project as the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "adding-a-strategy.md"
NAME = "two_level_search"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with the example's files and its one line in the list."""
    copy = tmp_path_factory.mktemp("project")
    for folder in ("expandlab", "shaders", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    example = ROOT / "docs" / "examples" / NAME
    (copy / "shaders" / "expansion" / NAME).mkdir()
    shutil.copy(example / "two_level.wgsl", copy / "shaders" / "expansion" / NAME)
    shutil.copy(example / f"{NAME}.py", copy / "expandlab" / "expansion" / "strategies")
    line, after = re.search(r"the line `(.+?)` in the list, after `(.+?)`", PAGE.read_text()).groups()
    names = copy / "expandlab" / "expansion" / "strategies" / "__init__.py"
    text = names.read_text()
    assert text.count(after) == 1
    names.write_text(text.replace(after, f"{after}\n    {line}"))
    return copy


def run(project, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(project), "HYPOTHESIS_STORAGE_DIRECTORY": str(project / "examples")}
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


def commands():
    return re.search(r"```\n(.+?)```", PAGE.read_text(), re.S).group(1).strip().splitlines()


def test_the_page_runs_the_new_strategy(project):
    ran = run(project, *commands()[0].split(), "--device", "reference", "--json")
    assert ran.returncode == 0, ran.stderr
    assert f'"strategy": "{NAME}"' in ran.stdout


@pytest.mark.gpu
def test_the_tests_find_it_through_the_list(project, lavapipe):
    command = commands()[1].removeprefix("python -m ").split()
    assert command[:2] == ["pytest", "tests/expansion"]
    files = [f"tests/expansion/{name}.py" for name in ("test_cases", "test_maps", "test_failure_words")]
    ran = run(
        project, "pytest", *files, "-k", f"{NAME} and not swiftshader and not dawn", "-q", "-p", "no:cacheprovider"
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-1000:]
    passed = int(re.search(r"(\d+) passed", ran.stdout).group(1))
    assert passed > 60
