"""What `expandlab bench` and `expandlab sweep` do."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from expandlab.export import FORMATS
from expandlab.files import check_writable, replacing

if TYPE_CHECKING:
    from expandlab.measuring import Measurements, Progress, Sweep

CHECKED = {"yes": True, "no": False, "both": "both"}


def check_output(path: Path | None) -> None:
    """Raise ValueError for a kind of file that is not written, ExportError for a place where none can be, before any
    work is done.
    """
    if path is not None and path.suffix.lower().lstrip(".") not in FORMATS:
        raise ValueError(f"--output {path}: use one of .{', .'.join(FORMATS)}")
    if path is not None:
        check_writable(path)


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


def store_beside(path: Path) -> Path:
    """Where a grid that is written to `path` keeps its cells, so that it can be taken up again."""
    return path.with_suffix(".jsonl")


def grid(
    name: str, store: Path, output: Path | None, *, devices: Sequence[str] | None, cluster: str | None, limits: str,
    minutes: float | None, retry_failed: bool = False, figure: str | None = None, **overrides: Any,
) -> Sweep:  # fmt: skip
    """Measure a grid; `overrides` are options of its cells, None = as the grid says."""
    import expandlab as xl
    from expandlab.measuring.grid import cells

    drawn = _drawn(output, figure)
    changes = {name: value for name, value in overrides.items() if value}
    chosen = [replace(cell, **changes) for cell in cells(name)]
    done = xl.sweep(
        chosen, devices=devices or None, cluster=cluster, store=store, limits=limits, retry_failed=retry_failed,
        time_limit_s=None if minutes is None else 60 * minutes, on_progress=_Teller(),
    )  # fmt: skip
    if drawn is not None:
        from expandlab import export

        export.save_sweep(output, drawn, done.measurements)
    elif output is not None and output.suffix.lower() == ".csv":
        with replacing(output) as temporary:
            done.frame().to_csv(temporary, index=False)
    elif output is not None:
        done.save(output)
    return done


def _drawn(output: Path | None, figure: str | None) -> str | None:
    """Which picture, or its data, is to be written; None for all that was measured."""
    picture = output is not None and output.suffix.lower() not in (".json", ".csv")
    if figure is None and not picture:
        return None
    from expandlab.figures.sweeps import known

    return known(figure or "x_limit")


class _Teller:
    """Prints progress to the error output: in place on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        self._tty = sys.stderr.isatty()
        self._next = 0.0

    def __call__(self, news: Progress) -> None:
        now = time.monotonic()
        last = news.done == news.total
        if now < self._next and not last:
            return
        self._next = now + (0.2 if self._tty else 10.0)
        left = f", {news.seconds_left:.0f} s left" if news.seconds_left else ""
        text = f"{news.done} of {news.total}{left}: {news.text}"
        end = "\n" if last or not self._tty else ""
        print(("\r\x1b[K" if self._tty else "") + text[:160], end=end, file=sys.stderr, flush=True)
