"""Views of a plan that are tables: connections beside hazards, and schedules beside each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, ClassVar

from expandlab.figures import colours as c
from expandlab.figures.canvas import plural
from expandlab.figures.graphs import words
from expandlab.graph import Plan
from expandlab.graph.schedule import MOST_PASSES, SCHEDULES
from expandlab.settings import GraphSettings

_LINE, _TOP, _MOST = 20, 26, 40


class Listing(ABC):
    """A table of one plan. HEAD: its columns, the first being the form; rows; note and sentence: what it says.

    COLUMNS: (the column's place in a row, where it begins as a part of the width, its heading).
    """

    HEAD: ClassVar[tuple[str, ...]] = ()
    COLUMNS: ClassVar[tuple[tuple[int, float, str], ...]] = ()
    note = ""

    def __init__(self, settings: GraphSettings, plan: Plan):
        self.form = words.MODE_NAMES[plan.mode]
        self.rows = self._find(settings, plan)

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What the alternative text says."""

    @property
    def height(self) -> float:
        """Pixels of the drawing."""
        return _TOP + min(len(self.rows), _MOST) * _LINE + (20 if not 0 < len(self.rows) <= _MOST else 6)

    def draw(self, canvas: Any, left: float, y: float, width: float) -> None:
        """Draw the first rows; the data table has them all."""
        starts = [part for _, part, _ in self.COLUMNS]
        ends = [*starts[1:], 1.0]
        columns = [
            (column, left + start * width, (end - start) * width - 10, head)
            for (column, start, head), end in zip(self.COLUMNS, ends, strict=True)
        ]
        for _, at, room, head in columns:
            canvas.text(at, y + 14, head, 11, weight="bold", width=room, smallest=9)
        for number, row in enumerate(self.rows[:_MOST]):
            top = y + _TOP + number * _LINE
            canvas.lines([((left, top - 2), (left + width, top - 2))], c.RULE, 0.8)
            for column, at, room, head in columns:
                self._cell(canvas, row, column, head, at, top + 13, room)
            canvas.target(
                f"{self.form}:row:{number}", "row", self._says(row), box=(left, top - 2, width, _LINE)
            )  # fmt: skip
        bottom = y + _TOP + min(len(self.rows), _MOST) * _LINE + 13
        if not self.rows:
            canvas.text(left, bottom, self._empty(), 11, colour=c.MUTED, width=width)
        elif len(self.rows) > _MOST:
            canvas.text(left, bottom, f"and {len(self.rows) - _MOST} more: the data table has them", 11, colour=c.MUTED)

    @abstractmethod
    def _find(self, settings: GraphSettings, plan: Plan) -> list[tuple[Any, ...]]:
        """The rows."""

    def _cell(
        self, canvas: Any, row: tuple[Any, ...], column: int, head: str, x: float, y: float, width: float
    ) -> None:
        canvas.text(x, y, str(row[column]), 11, width=width, smallest=8)

    def _says(self, row: tuple[Any, ...]) -> list[str]:
        return [f"{head}: {value}" for head, value in zip(self.HEAD, row, strict=True) if value != ""]

    def _empty(self) -> str:
        return ""


class Connections(Listing):
    """Each connection with its hazards, and each hazard without a connection."""

    HEAD = ("form", "from", "to", "resource", "connected", "ordered", "hazards", "meaning")
    COLUMNS = ((1, 0.0, "from"), (2, 0.17, "to"), (3, 0.34, "resource"), (4, 0.5, "connected"), (6, 0.6, "hazards"),
               (7, 0.7, "meaning"))  # fmt: skip
    note = "a connection says which resource is meant; the accesses say who waits"

    def _find(self, settings: GraphSettings, plan: Plan) -> list[tuple[Any, ...]]:
        found = []
        for item in plan.connections:
            ordered = "" if not item.connected else "yes" if item.dependency else "no"
            kinds = ", ".join(item.kinds) or "none"
            if not item.connected:
                meaning = "not necessary: a hazard that no connection shows"
            elif item.kinds:
                meaning = "a connection with a hazard"
            else:
                meaning = "not sufficient: a connection without a hazard"
            connected = "yes" if item.connected else "no"
            found.append((self.form, item.source, item.target, item.resource, connected, ordered, kinds, meaning))
        return found

    @property
    def sentence(self) -> str:
        """How many of each sort."""
        idle = sum(row[4] == "yes" and row[6] == "none" for row in self.rows)
        hidden = sum(row[4] == "no" for row in self.rows)
        told = f"{plural(sum(row[4] == 'yes' for row in self.rows), 'connection')}, {idle} without a hazard"
        return f"{told}; {plural(hidden, 'hazard')} without a connection" if self.rows else self._empty()

    def _empty(self) -> str:
        return "this graph was not given as slots and connections, so there is nothing to set beside the hazards"


class Schedules(Listing):
    """Every schedule with its simulated makespan and how far it is from the best found."""

    HEAD = ("form", "schedule", "makespan (us)", "over the best (%)", "barriers", "waits", "copies", "order")
    COLUMNS = ((1, 0.0, "schedule"), (2, 0.1, "simulated makespan"), (3, 0.46, "over best"), (4, 0.56, "barriers"),
               (5, 0.64, "waits"), (6, 0.71, "copies"), (7, 0.78, "order"))  # fmt: skip
    _BARS = 0.22

    def _find(self, settings: GraphSettings, plan: Plan) -> list[tuple[Any, ...]]:
        small = len(plan.order) <= MOST_PASSES
        self.note = "simulated; optimal tries every order and device" + (
            "" if small else f", and is for at most {MOST_PASSES} passes: the best is the shortest of the others"
        )
        made = []
        for name in SCHEDULES:
            if name == "optimal" and not small:
                continue
            other = plan if name == plan.schedule else _compiled(plan, name)
            made.append((name, other, other.simulate(settings.machine).makespan_us))
        best = min((time for _, _, time in made), default=0.0)
        return [
            (
                self.form, name, round(time, 3), round(100 * (time / best - 1), 2) if best else 0.0,
                len(other.barriers), len(other.waits), len(other.copies), ", ".join(other.order),
            )
            for name, other, time in made
        ]  # fmt: skip

    @property
    def sentence(self) -> str:
        """The makespan of each."""
        return "; ".join(f"{row[1]} {row[2]:g} us" for row in self.rows)

    def _cell(
        self, canvas: Any, row: tuple[Any, ...], column: int, head: str, x: float, y: float, width: float
    ) -> None:
        if head != "simulated makespan":
            told = f"{row[column]:.1f} %" if head == "over best" else str(row[column])
            canvas.text(x, y, told, 11, width=width, smallest=8)
            return
        longest = max(other[2] for other in self.rows) or 1.0
        room = width - 74
        canvas.rects(x, y - 10, max(1.0, room * row[2] / longest), 12, c.SHADE, edge=c.INK, line=0.8, gid="makespan")
        canvas.text(x + room * row[2] / longest + 6, y, f"{row[2]:,.1f} µs", 11)


@lru_cache(maxsize=32)
def _compiled(plan: Plan, schedule: str) -> Plan:
    return plan.graph.compile(plan.mode, schedule=schedule, tags=plan.tags)
