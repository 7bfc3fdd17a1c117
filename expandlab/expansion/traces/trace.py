"""A trace: what a shader's words hold, step by step, as the shader itself would write them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab.results import Result
from expandlab.wgsl import Line

# (row, index) -> (row, index): where a value came from.
Link = tuple[tuple[str, int], tuple[str, int]]


@dataclass(frozen=True, eq=False)
class Words(Result):
    """A row of words at one moment.

    name: the shader's variable. texts: what each word holds, empty where nothing is written yet. owner: whose each one
    is, as the number of a src; -1 = nobody's. read, written: indices that this moment touches. marks: name of a
    register -> the index that it holds. lit: (first, end) of the words that still matter, or None for all.
    """

    name: str
    texts: tuple[str, ...]
    owner: np.ndarray
    read: tuple[int, ...] = ()
    written: tuple[int, ...] = ()
    marks: Mapping[str, int] | None = None
    lit: tuple[int, int] | None = None


@dataclass(frozen=True, eq=False)
class Moment(Result):
    """One step. `said` explains it with the values in hand; `active` of `lanes` threads take part, `repeats` times."""

    pass_name: str
    label: str
    line: Line
    said: str
    active: int
    lanes: int
    rows: tuple[Words, ...]
    links: tuple[Link, ...] = ()
    repeats: int = 1


@dataclass(frozen=True, eq=False)
class Trace(Result):
    """All moments of one algorithm on some counts, and what came out of it."""

    view: str
    title: str
    moments: tuple[Moment, ...]
    answer: str


class Tracer:
    """Keeps the words while a trace is made, and takes down a moment when it is told."""

    def __init__(self, view: str, title: str):
        self.view, self.title = view, title
        self.moments: list[Moment] = []
        self._texts: dict[str, list[str]] = {}
        self._owner: dict[str, np.ndarray] = {}

    def row(self, name: str, size: int, values: Iterable[Any] | None = None, owner: np.ndarray | None = None) -> None:
        """Add a row of words, below those that are there."""
        self._texts[name] = [""] * size if values is None else [str(value) for value in values]
        self._owner[name] = np.full(size, -1) if owner is None else np.asarray(owner)

    def put(self, name: str, index: int, value: Any, owner: int | None = None) -> None:
        """Write a word."""
        self._texts[name][index] = str(value)
        if owner is not None:
            self._owner[name] = self._owner[name].copy()
            self._owner[name][index] = owner

    def value(self, name: str, index: int) -> int:
        """Read a word that holds a number."""
        return int(self._texts[name][index])

    def moment(
        self,
        pass_name: str,
        label: str,
        line: Line,
        said: str,
        active: int,
        lanes: int,
        *,
        read: Mapping[str, Sequence[int]] | None = None,
        written: Mapping[str, Sequence[int]] | None = None,
        links: Iterable[Link] = (),
        marks: tuple[str, Mapping[str, int]] | None = None,
        lit: tuple[str, int, int] | None = None,
        repeats: int = 1,
    ) -> None:
        """Take a moment down. marks: (row, register -> index). lit: (row, first, end)."""
        rows = tuple(
            Words(
                name, tuple(texts), self._owner[name], tuple((read or {}).get(name, ())),
                tuple((written or {}).get(name, ())), dict(marks[1]) if marks and marks[0] == name else None,
                lit[1:] if lit and lit[0] == name else None,
            )
            for name, texts in self._texts.items()
        )  # fmt: skip
        self.moments.append(Moment(pass_name, label, line, said, active, lanes, rows, tuple(links), repeats))

    def done(self, answer: str) -> Trace:
        """The trace."""
        return Trace(self.view, self.title, tuple(self.moments), answer)


def listed(values: Iterable[Any], most: int = 12) -> str:
    """`3 4 6`, and dots where there are more than `most`."""
    texts = [str(value) for value in values]
    return " ".join(texts[:most]) + (" ..." if len(texts) > most else "")
