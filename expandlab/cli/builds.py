"""`expandlab search`: the best builds of a file of relics."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from expandlab import relics
from expandlab.files import check_writable, replacing
from expandlab.relics.goal import DAMAGE_WEIGHTS, Goal

if TYPE_CHECKING:
    from expandlab.relics.builds import Builds


def find(
    file: Path, k: int, weights: list[str] | None, minimums: list[str] | None, devices: list[str] | None
) -> Builds:
    """The builds, with a progress bar on a terminal."""
    goal = Goal(_numbers("--weight", weights) or DAMAGE_WEIGHTS, _numbers("--minimum", minimums))
    found = relics.load(file)
    with _Bar() as bar:
        return relics.best_builds(found, goal, k, devices=devices or None, on_progress=bar.update)


def check_output(output: Path | None) -> None:
    """Refuse a file that could not be written before anything is searched."""
    if output is not None and output.suffix not in (".csv", ".json"):
        raise typer.BadParameter(f"--output {output}: end it in .csv or .json")
    if output is not None and not output.parent.is_dir():
        raise typer.BadParameter(f"--output {output}: there is no folder {output.parent}; make it first")
    if output is not None:
        check_writable(output)


def write(output: Path | None, found: Builds) -> None:
    """Write the builds to a file."""
    if output is None:
        return
    with replacing(output) as temporary:
        if output.suffix == ".csv":
            found.frame().to_csv(temporary, index=False)
        else:
            temporary.write_text(json.dumps(plain(found), indent=1) + "\n", encoding="utf-8")


def plain(found: Builds) -> dict[str, Any]:
    """The builds as plain Python."""
    return {
        "builds": found.frame().where(lambda table: table.notna(), None).to_dict("records"),
        "picks": found.picks.tolist(),
        "goal": found.goal.to_dict(),
        "report": found.found.report.to_dict(),
    }


def show(found: Builds) -> None:
    """Print the builds: what they add up to, and below it their relics, so that both fit a narrow terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    frame, console = found.frame(), Console()
    rows = [{"build": number} | row for number, row in enumerate(frame.to_dict("records"), 1)]
    title = f"{len(rows)} best of {found.found.report.total:,} loadouts"
    stats = [stat for stat in found.goal.stats if stat in frame]
    for columns, heading in ((["build", "score", *stats], title), (["build", *relics.SLOTS], None)):
        table = Table(title=heading)
        for name in columns:
            table.add_column(name, justify="left" if name in relics.SLOTS else "right", overflow="fold")
        for row in rows:
            # As text, because the names of a file may look like markup.
            table.add_row(*(Text(_cell(row.get(name))) for name in columns))
        console.print(table)
    if not rows:
        typer.echo("no loadout meets all minimums; lower one")
    report = found.found.report
    typer.echo(f"{report.picks_per_second:,.0f} loadouts a second on {', '.join(report.devices)}")


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _numbers(option: str, given: Sequence[str] | None) -> dict[str, float]:
    found = {}
    for text in given or ():
        name, sign, value = text.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise typer.BadParameter(f"{option} {text!r}: write STAT=NUMBER, such as 'CRIT Rate=2'")
    return found


class _Bar:
    """A progress bar on a terminal, nothing elsewhere."""

    def __enter__(self) -> _Bar:
        self._bar = None
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("loadouts")
        return self

    def update(self, progress: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._task, total=progress.total, completed=progress.done)

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.stop()
