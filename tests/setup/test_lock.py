"""environment.yml, pyproject.toml and the two locks say the same, and nothing of the machine that wrote them."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-oldest.lock")
PLACE = {
    "python_version": "3.11",
    "python_full_version": "3.11.0",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
}
FILES = (*LOCKS, "environment.yml", "pyproject.toml")


def lock_lines(name: str) -> list[str]:
    """The requirements of a lock, each as it stands there, without its comments."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.lstrip().startswith("#")]


def pins(name: str) -> dict[str, Version]:
    """Package -> the one version that the lock pins it to on Python 3.11 under Linux."""
    found = {}
    for line in lock_lines(name):
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate(PLACE):
            continue
        (specifier,) = requirement.specifier
        assert specifier.operator == "==", line
        package = canonicalize_name(requirement.name)
        assert package not in found, f"{name} pins {package} twice"
        found[package] = Version(specifier.version)
    return found


def direct_requirements() -> list[Requirement]:
    """Every dependency that pyproject.toml names, the extras' and the build's among them."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = document["project"]
    lines = [*project["dependencies"], *document["build-system"]["requires"]]
    for extra in project["optional-dependencies"].values():
        lines += extra
    return [Requirement(line) for line in lines]


def conda_pip_section() -> list[str]:
    """The lines that environment.yml leaves to pip."""
    document = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    (section,) = [entry["pip"] for entry in document["dependencies"] if isinstance(entry, dict)]
    return section


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("requirement", direct_requirements(), ids=str)
def test_every_direct_dependency_is_pinned_within_its_bounds(requirement, lock):
    pinned = pins(lock).get(canonicalize_name(requirement.name))
    assert pinned is not None, f"{requirement.name} is not in {lock}; run make lock"
    assert pinned in requirement.specifier, f"{lock} pins {requirement.name} to {pinned}; run make lock"


@pytest.mark.parametrize("requirement", direct_requirements(), ids=str)
def test_the_oldest_lock_stands_at_the_lower_bound(requirement):
    bounds = [Version(s.version) for s in requirement.specifier if s.operator in (">=", "~=", "==")]
    if not bounds:  # an extra of a package that another line bounds
        pytest.skip("no lower bound")
    assert pins("requirements-oldest.lock")[canonicalize_name(requirement.name)] == max(bounds)


def test_the_newest_lock_is_nowhere_older_than_the_oldest():
    newest, oldest = pins("requirements.lock"), pins("requirements-oldest.lock")
    direct = {canonicalize_name(requirement.name) for requirement in direct_requirements()}
    assert [package for package in sorted(direct) if newest[package] < oldest[package]] == []


def test_environment_yml_holds_the_lock_and_this_project():
    assert conda_pip_section() == [*lock_lines("requirements.lock"), "-e ."]


def test_environment_yml_asks_conda_for_python_and_pip_alone():
    document = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    from_conda = [entry for entry in document["dependencies"] if isinstance(entry, str)]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [re.split("[=<>]", entry)[0] for entry in from_conda] == ["python", "pip"]
    assert (
        Version(from_conda[0].removeprefix("python=")) in Requirement(f"python{project['requires-python']}").specifier
    )


def test_no_lock_needs_a_numpy_that_python_3_11_lacks():
    for lock in LOCKS:
        assert Version("2.0") <= pins(lock)["numpy"] < Version("2.5"), lock


@pytest.mark.parametrize("name", FILES)
def test_no_registry_and_no_path_of_a_machine_is_written_down(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for pattern in (
        r"://",
        r"(?m)^\s*-?-(index|extra-index|find-links|trusted|i\b|f\b)",
        r"--hash",
        r"@ file",
        r"(?m)(^|[\s=\"'])/(home|root|opt|work|tmp|usr)\b",
    ):
        assert not re.search(pattern, text), f"{name} holds {pattern}"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_says_how_it_is_made(lock):
    head = (ROOT / lock).read_text(encoding="utf-8").splitlines()[:3]
    assert any("make lock" in line for line in head)
