"""The wheel and the sdist hold all that they need; the wheel works where the repository is not."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN = """
import numpy as np, expandlab as xl, sys
from expandlab import panels, wgsl
from expandlab.measuring.packed import shipped
assert xl.__file__.startswith(sys.argv[1]), xl.__file__
assert str(wgsl.load("lib/subgroup_size.wgsl").origin[0])
for name, strategy in xl.strategies().items():
    if not strategy.modelled:
        assert xl.expand([3, 0, 2], name, device="reference").total == 5
for name in xl.top_k_methods():
    assert xl.top_k(np.array([1, 3, 2], np.float32), 1, method=name, device="reference").indices.tolist() == [1]
panel = panels.expansion(items=8)
assert panel.settle() and panel.error == ""
assert shipped() and xl.advise([1, 2, 3], device="reference")
"""


def files_of(*folders):
    """The files of these folders, without what running leaves there."""
    made = {"__pycache__", "exports", ".ipynb_checkpoints"}
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    return {path.relative_to(ROOT).as_posix() for path in paths if path.is_file() and not made & set(path.parts)}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(wheel, sdist), built from the working tree."""
    out = tmp_path_factory.mktemp("dist")
    done = subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(out)], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def test_the_wheel_holds_the_package_and_the_shaders_and_nothing_else(built):
    names = {name for name in zipfile.ZipFile(built[0]).namelist() if ".dist-info/" not in name}
    wanted = files_of("expandlab") | {f"expandlab/_{name}" for name in files_of("shaders")}
    assert names == wanted


def test_the_sdist_holds_what_the_wheel_is_built_from_and_the_tests(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = files_of("expandlab", "shaders", "tests") | {"pyproject.toml", "LICENSE", "README.md", "Makefile"}
    assert wanted <= names


def test_the_wheel_works_away_from_the_repository(built, tmp_path):
    zipfile.ZipFile(built[0]).extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "EXPANDLAB_DEVICE": "reference"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "site")], cwd=tmp_path, env=environment, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
