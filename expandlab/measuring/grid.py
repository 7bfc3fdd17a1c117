"""Grids: which inputs and settings a sweep measures, one cell for each combination."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from expandlab import counts as _counts
from expandlab.errors import ExpandlabError
from expandlab.measuring.scores import ORDERS
from expandlab.results import Result

# The axes: each may be one value or a list, and a grid is their product in this order, the last fastest.
AXES = ("workgroup_size", "at_once", "seed", "kind", "shape", "mean", "max_n", "k", "p1", "p2", "n")
# One value each, the same for every cell.
OPTIONS = ("strategies", "checked", "repeats", "peers", "verify", "warm_up_s", "batch_ms", "budget_s")
_OF_KIND = ("kind", "mean", "max_n", "shape")


class GridError(ExpandlabError, ValueError):
    """A grid that makes no sense; the message names the axis."""


@dataclass(frozen=True)
class Cell(Result):
    """One input and the settings that it is measured with.

    Fields as of `measure` and `counts.make`; with a k, of scores: kind is one of `ORDERS`, items is their number.
    """

    kind: str
    items: int
    mean: float = 8.0
    max_n: int | None = None
    seed: int = 0
    shape: Mapping[str, float] = field(default_factory=dict)
    strategies: tuple[str, ...] = ("all",)
    checked: bool | str = True
    workgroup_size: int = 256
    at_once: int = 1
    repeats: int = 20
    peers: tuple[str, ...] = ()
    verify: str = "auto"
    warm_up_s: float = 0.3
    batch_ms: float = 1.0
    budget_s: float | None = None
    k: int | None = None

    def recipe(self) -> dict[str, Any]:
        """The counts or scores, as `measure` takes them."""
        if self.k is not None:
            return {"scores": self.kind, "items": self.items, "seed": self.seed}
        names = ("kind", "items", "mean", "max_n", "seed", "shape")
        return {name: getattr(self, name) for name in names}

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `measure`."""
        names = ("checked", "workgroup_size", "at_once", "repeats", "peers", "verify", "warm_up_s", "batch_ms",
                 "budget_s", "k")  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def key(self, device: str | None) -> str:
        """The name of the cell in a store: the same for the same settings on the same device."""
        # A field that most cells do not have is not in their names.
        plain = {name: value for name, value in self.to_dict().items() if name != "k" or value is not None}
        text = json.dumps({"cell": plain, "device": device}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def __str__(self) -> str:
        if self.k is not None:
            return f"{self.kind}, {self.k:,} of {self.items:,}"
        shape = "".join(f", {name} {value:g}" for name, value in sorted(self.shape.items()))
        more = f", {self.at_once} at once" if self.at_once > 1 else ""
        return f"{self.kind}{shape}, mean {self.mean:g}, {self.items:,} src{more}"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Cell:
        """What `to_dict` gave."""
        lists = {name: tuple(data[name]) for name in ("strategies", "peers")}
        return cls(**{**data, **lists})


def cells(grid: Any) -> list[Cell]:
    """The cells of a grid, in order.

    grid: a name of `GRIDS`, the path of a JSON file, or a mapping with `kind` and one of `p1`, `p2` and, for top-k
    together with `k`, `n`; and any of AXES and OPTIONS. An axis is one value or a list. A kind may be `{"kind": "zipf",
    "max_n": 4096, "mean": 8, "shape": {...}}`, which then stands for those axes too. With `p2` the number of src is
    p2 / mean.

    A list of grids, or of cells, is all of them. Raises GridError naming the axis.
    """
    if isinstance(grid, Cell):
        return [grid]
    if isinstance(grid, (list, tuple)):
        found = [cell for part in grid for cell in cells(part)]
    elif isinstance(grid, (str, Path)):
        return cells(named(grid))
    elif isinstance(grid, Mapping):
        found = _product(grid)
    else:
        raise GridError(f"grid={grid!r}: give a mapping of axes, the path of a JSON file, or one of {', '.join(GRIDS)}")
    unique = list({cell.key(None): cell for cell in found}.values())
    if not unique:
        raise GridError("grid: has no cells; every axis needs a value")
    return unique


def named(name: str | Path) -> Any:
    """A grid by its name or from a JSON file."""
    if isinstance(name, str) and name in GRIDS:
        return GRIDS[name]
    path = Path(name)
    if path.suffix.lower() != ".json":
        raise GridError(f"grid={str(name)!r}: give the path of a .json file, or one of {', '.join(GRIDS)}")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GridError(f"grid={str(name)!r}: cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError) as error:
        raise GridError(f"grid={str(name)!r}: is not JSON ({error})") from None


def _product(grid: Mapping[str, Any]) -> list[Cell]:
    unknown = sorted(set(grid) - {*AXES, *OPTIONS})
    if unknown:
        raise GridError(f"grid: {unknown[0]!r} is no axis; use {', '.join(AXES + OPTIONS)}")
    if "kind" not in grid or sum(name in grid for name in ("p1", "p2", "n")) != 1:
        raise GridError("grid: give 'kind', and one of 'p1' (number of src), 'p2' (number of items) or 'n' (of scores)")
    if ("k" in grid) != ("n" in grid):
        raise GridError("grid: 'k' and 'n' (number of scores) go together; give both for top-k, none for expansions")
    axes = {name: _values(name, grid[name]) for name in AXES if name in grid}
    given = {name: grid[name] for name in OPTIONS if name in grid}
    for name in ("strategies", "peers"):
        if name in given:
            given[name] = (given[name],) if isinstance(given[name], str) else tuple(given[name])
    return [_cell(dict(zip(axes, chosen, strict=True)), given) for chosen in itertools.product(*axes.values())]


def _values(name: str, value: Any) -> list[Any]:
    """A single value is an axis of one."""
    found = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    if not found:
        raise GridError(f"grid: {name!r} has no value")
    return found


def _cell(chosen: dict[str, Any], given: Mapping[str, Any]) -> Cell:
    if isinstance(chosen["kind"], Mapping):
        own = dict(chosen["kind"])
        if "kind" not in own or set(own) - set(_OF_KIND):
            raise GridError(f"grid: kind={own!r}: use 'kind' and any of {', '.join(_OF_KIND[1:])}")
        chosen = chosen | own
    kind, mean = chosen["kind"], chosen.get("mean", 8.0)
    known_kinds = ORDERS if "k" in chosen else (*_counts.kinds(), "standard_library")
    if kind not in known_kinds:
        raise GridError(f"grid: kind={kind!r}; use one of {', '.join(known_kinds)}")
    for name in ("mean", "p1", "p2", "k", "n"):
        value = chosen.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 2**32:
            raise GridError(f"grid: {name}={value!r}; use numbers above 0")
    items = chosen.get("p1", chosen.get("n")) or max(1, round(chosen["p2"] / mean))
    known = {f.name for f in dataclasses.fields(Cell)}
    plain = {name: value for name, value in (chosen | dict(given)).items() if name in known and value is not None}
    return Cell(**{**plain, "items": int(items), "mean": float(mean), "shape": dict(chosen.get("shape") or {})})


_SIX = ["uniform", {"kind": "zipf", "max_n": 4096}, "bimodal", "sparse", "one_giant", "meshlets"]

GRIDS: dict[str, Any] = {
    # What the goals are stated for: P1 = P2 / 64, with and without the shaders' run-time checks.
    "goals": {
        "kind": _SIX,
        "mean": 64,
        "p2": [2**k for k in range(16, 28)],
        "checked": "both",
        "verify": "device",
        "budget_s": 0.15,
    },
    # Which strategy wins where: mean N against skew.
    "skew": {
        "kind": [{"kind": "lognormal", "shape": {"sigma": s}} for s in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)],
        "mean": [1, 2, 4, 8, 16, 32, 64, 128, 256],
        "p2": 2**20,
        "repeats": 10,
        "budget_s": 0.2,
    },
    # Many expansions in one frame.
    "at_once": {
        "kind": "geometric",
        "mean": 8,
        "p1": 1024,
        "at_once": [1, 2, 4, 8, 16, 32, 64],
        "repeats": 10,
        "budget_s": 0.5,
    },
    "workgroups": {
        "kind": ["uniform", {"kind": "zipf", "max_n": 4096}],
        "mean": 16,
        "p2": 2**20,
        "workgroup_size": [32, 64, 128, 256],
        "repeats": 10,
        "budget_s": 0.2,
    },
    # What the goals of top-k are stated for: easy and hostile orders of scores, beside one read of them.
    "topk": {
        "kind": ["random", "ascending", "equal", "shared"],
        "k": [16, 1024],
        "n": [2**20, 2**23, 2**25, 2**27],
        # Without those whose time is the host's, or that of one lock.
        "strategies": [
            "delegate",
            "radix_select",
            "sample_select",
            "threshold_append",
            "workgroup_select",
            "bitonic",
            "sort_radix",
        ],
        "verify": "device",
        "budget_s": 0.15,
    },
    # A few seconds, to try things out.
    "quick": {
        "kind": ["uniform", "zipf"],
        "mean": [4, 32],
        "p2": [2**12, 2**14],
        "repeats": 3,
        "warm_up_s": 0.02,
        "batch_ms": 0.0,
        "budget_s": 0.05,
    },
}
