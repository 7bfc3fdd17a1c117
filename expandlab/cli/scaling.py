"""`expandlab scale`: what several devices gain over one, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expandlab.gpu import Device
    from expandlab.measuring.scaling import Scaling


def opened(names: Sequence[str], limits: str) -> list[Device]:
    """A device of its own for each name, also where two are equal."""
    from expandlab.gpu import open_device

    return [open_device(name, limits=limits) for name in names]


def show(found: Scaling) -> None:
    """Print the gains and the timelines."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    for number, label in enumerate(found.devices):
        console.print(Text(f"device {number}: {label}"))
    if found.software:
        console.print(Text("software adapters share the CPU: these figures say nothing about GPUs"))
    table = Table("what", "one device", "all devices", "speed-up", "same result")
    for gain in found.gains:
        table.add_row(
            f"{gain.what} ({gain.work:,} {gain.unit})", f"{gain.one_per_second:,.0f}/s",
            f"{gain.all_per_second:,.0f}/s", f"{gain.speed_up:.2f}", "yes" if gain.equal else "NO",
        )  # fmt: skip
    console.print(table)
    table = Table("plan", "measured", "simulated", "difference")
    for name, plan in found.plans.items():
        table.add_row(
            name, f"{plan.makespan_us:,.0f} us", f"{plan.simulated.makespan_us:,.0f} us", f"{plan.difference:+.1%}"
        )  # fmt: skip
    console.print(table)
