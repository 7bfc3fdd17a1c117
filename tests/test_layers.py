"""The borders between the parts of the package, and how much importing it loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "expandlab"
MODULES = sorted(PACKAGE.rglob("*.py"))
# Root of an import -> the places below expandlab/ that may have it.
ALLOWED = {
    "wgpu": ("gpu/", "graph/execute.py"),
    "ipywidgets": ("panels/",),
    "anywidget": ("panels/",),
    "matplotlib": ("figures/",),
}
# A part may import only from parts that stand before it.
ORDER = (
    "errors", "files", "results", "versions", "counts", "wgsl", "gpu", "graph", "expansion", "topk", "measuring",
    "advice", "settings", "origin", "figures", "export",
)  # fmt: skip


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module == "expandlab":
                yield from (f"expandlab.{name.name}" for name in node.names)
            else:
                yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_heavy_libraries_are_imported_only_where_they_belong(path):
    inside = path.relative_to(PACKAGE).as_posix()
    for name in imports(path):
        places = ALLOWED.get(name.partition(".")[0])
        assert places is None or inside.startswith(places), f"{inside} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_below_knows_what_stands_on_top(path):
    part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if part not in ORDER:
        return
    for name in imports(path):
        target = name.split(".")[1] if name.startswith("expandlab.") else None
        if target in ("panels", "cli"):
            pytest.fail(f"{part} imports {target}")
        # figures and export serve each other: a picture carries provenance, an export is a picture.
        if target in ORDER and {part, target} != {"figures", "export"} and not _rich_view(path, target):
            assert ORDER.index(target) <= ORDER.index(part), f"{part} imports {target}"


def _rich_view(path, target):
    """A result's rich view in a notebook may draw itself."""
    return target == "figures" and path.name == "thread_map.py"


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys, expandlab; "
        "heavy = ('numpy', 'wgpu', 'pandas', 'matplotlib', 'ipywidgets', 'anywidget', 'pyarrow'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_resolves_and_is_documented():
    import expandlab as xl

    for name in xl.__all__:
        assert getattr(xl, name).__doc__, name
        assert name in dir(xl)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = xl.nothing_of_the_kind
