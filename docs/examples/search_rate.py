"""How many loadouts a second a device scores, and what keeping the best k costs on top.

    python docs/examples/search_rate.py --device nvidia --slot 60 --k 1024

Six slots of `--slot` items, each with two stats; a score is the product of two sums, as damage is of attack and
critical hits. Searches for the best 1 and the best k take turns; the first of each is the warm-up. One for the best 1
writes next to nothing, so what it takes is the scoring.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np

import expandlab as xl

SLOTS = 6
SCORE = """
fn score(pick: array<u32, 6>) -> f32 {
    var attack = 100.0;
    var crit = 1.0;
    for (var slot = 0u; slot < 6u; slot++) {
        let item = slot * SIZE + pick[slot];
        attack += attacks[item];
        crit += crits[item];
    }
    return attack * crit;
}
"""


def rates(device: str | None, slot: int, k: int, rounds: int) -> dict[str, object]:
    """Times of both searches in every round, in ms, and the loadouts a second of the fastest."""
    dev = xl.device(device)
    rng = np.random.default_rng(0)
    buffers = {name: rng.random(SLOTS * slot, dtype=np.float32) for name in ("attacks", "crits")}
    gpu_ms: dict[int, list[float]] = {1: [], k: []}
    wall_ms: dict[int, list[float]] = {1: [], k: []}
    for round_ in range(rounds + 1):
        for wanted in gpu_ms:
            found = xl.search([slot] * SLOTS, SCORE.replace("SIZE", f"{slot}u"), wanted, buffers=buffers, devices=dev)
            if round_:
                gpu_ms[wanted].append(found.report.gpu_ms or found.report.wall_ms)
                wall_ms[wanted].append(found.report.wall_ms)
    loadouts = slot**SLOTS
    one, many = (float(np.median(gpu_ms[wanted])) for wanted in (1, k))
    return {
        "device": dev.info.label, "loadouts": loadouts, "k": k, "gpu_ms_best_1": gpu_ms[1], "gpu_ms_best_k": gpu_ms[k],
        "wall_ms_best_k": wall_ms[k], "loadouts_per_second": loadouts / np.median(wall_ms[k]) * 1e3,
        "selection_costs": many / one - 1.0,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="part of an adapter's name; the default device if left out")
    parser.add_argument("--slot", type=int, default=16, help="items of each of the six slots")
    parser.add_argument("--k", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    json.dump(rates(chosen.device, chosen.slot, chosen.k, chosen.rounds), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
