"""The goals of docs/measuring.md against a run of the grid `goals` on one H200: its raw data, packed, and its table.

    expandlab bench --grid goals --device nvidia --limits adapter --peers torch --peers jax --peers cupy -o goals.json
    python docs/data/goals_h200.py goals.jsonl     packs the run's store (it lies beside goals.json)
    python docs/data/goals_h200.py                 prints the table from goals_h200.json.gz

Writes goals_h200.json.gz, with every sample, and expandlab/measuring/data/h200_large.json.gz for the timings notebook:
checked shaders alone. The package's cost model was fitted to them too (fit_h200.py), so there are no predictions.
"""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import expandlab as xl
from expandlab.measuring.measurements import Contender
from expandlab.measuring.packed import pack, unpack, write_packed

HERE = Path(__file__).parent
RAW = HERE / "goals_h200.json.gz"
PACKED = HERE.parents[1] / "expandlab" / "measuring" / "data" / "h200_large.json.gz"
COMMAND = (
    "expandlab bench --grid goals --device nvidia --limits adapter --peers torch --peers jax --peers cupy -o goals.json"
)


def keep(measured: list[xl.Measurements]) -> None:
    """Write both files."""
    print(write_packed(RAW, pack(measured, command=COMMAND)).stat().st_size, "bytes of raw data")
    shown = [
        replace(item, contenders=tuple(one for one in item.contenders if one.checked is not False)) for item in measured
    ]
    about = {
        "command": COMMAND,
        "raw": "docs/data/goals_h200.json.gz",
        "samples": "20 rounds, fewer of the slow",
    }
    print(write_packed(PACKED, pack(shown, **about)).stat().st_size, "bytes to browse")


def _fastest(item: xl.Measurements, checked: bool) -> Contender:
    mine = [one for one in item.of_role("contender") if bool(one.checked) == checked]
    return min(mine, key=lambda one: one.gpu.median)


def table(measured: list[xl.Measurements]) -> None:
    """The table of docs/figures.md: a row for each P2, and whether each cell meets its goals."""
    rows = defaultdict(list)
    for item in measured:
        rows[round(math.log2(item.total))].append(item)
    missed = []
    kinds = list(dict.fromkeys(item.input["kind"] for item in measured))
    print("| P2 | limit |", " | ".join(kinds), "| torch | JAX | CuPy |")
    print("| --- " * (len(kinds) + 5) + "|")
    for power, items in sorted(rows.items()):
        limits, cells, others = [], [], {"torch": [], "jax": [], "cupy": []}
        for item in items:
            limit = item.limit.gpu.median * 1e3
            quick, checked = (_fastest(item, how).gpu.median * 1e3 for how in (False, True))
            limits.append(limit)
            cells.append(f"{quick:.1f} / {checked:.1f}")
            for name, ratios in others.items():
                theirs = [one.gpu.median * 1e3 for one in item.of_role("peer") if one.name.startswith(name)]
                ratios.append(min(theirs) / quick)
            large = power >= 25
            goals = {
                "unchecked": quick <= (1.15 * limit + 25 if large else limit + 35),
                "checked": checked <= (1.5 * limit + 25 if large else limit + 35),
                "torch": others["torch"][-1] >= (8 if large else 2),
            }
            missed += [f"2^{power} {item.input['kind']}: {name}" for name, met in goals.items() if not met]
        spread = [f"{min(ratios):.1f} to {max(ratios):.1f}" for ratios in others.values()]
        print(f"| 2^{power} | {min(limits):.1f} to {max(limits):.1f} |", " | ".join([*cells, *spread]), "|")
    moved = sum(item.clock_moved for item in measured)
    print(f"{len(measured)} cells, the clock moved in {moved}; goals missed: {', '.join(missed) or 'none'}")
    best = {_fastest(item, how).name.removesuffix(" unchecked") for item in measured for how in (False, True)}
    print("fastest somewhere:", ", ".join(sorted(best)))


def main() -> None:
    if len(sys.argv) > 1:
        keep([cell.measurements for cell in xl.Sweep.load(sys.argv[1]).cells if cell.measurements])
    table(unpack(json.loads(gzip.decompress(RAW.read_bytes())), RAW.name))


if __name__ == "__main__":
    main()
