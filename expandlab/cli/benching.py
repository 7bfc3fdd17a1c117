"""What `expandlab bench` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from expandlab.export import FORMATS

if TYPE_CHECKING:
    from expandlab.measuring import Measurements

CHECKED = {"yes": True, "no": False, "both": "both"}


def check_output(path: Path | None) -> None:
    """Raise ValueError for a kind of file that is not written, before any work is done."""
    if path is not None and path.suffix.lower().lstrip(".") not in FORMATS:
        raise ValueError(f"--output {path}: use one of .{', .'.join(FORMATS)}")


def checked_of(text: str) -> bool | str:
    """What --checked means."""
    if text not in CHECKED:
        raise ValueError(f"--checked {text}: use one of {', '.join(CHECKED)}")
    return CHECKED[text]


def one(
    recipe: Mapping[str, Any], names: Sequence[str], *, device: str | None, limits: str, **options: Any
) -> Measurements:  # fmt: skip
    """Measure one input."""
    import expandlab as xl

    return xl.measure(names or "all", recipe, device=xl.device(device, limits=limits), **options)


def write(path: Path, done: Measurements) -> None:
    """The measurements as JSON, or a picture or table of them."""
    if path.suffix.lower() == ".json":
        done.save(path)
    else:
        from expandlab import export

        export.write(path, None, timings=done)
