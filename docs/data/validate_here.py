"""The cost model of a device at hand: fitted as `xl.advise` does, then scored on inputs that it has not seen.

    python docs/data/validate_here.py [DEVICE] [SEED]

DEVICE: part of the adapter's name, by default llvmpipe. SEED: of the counts, by default 0. A minute on a software
adapter. Prints the scores, and for each of the 20 inputs the first choice, how sure it was, and its time over the best.
"""

from __future__ import annotations

import os
import sys

import expandlab as xl
from expandlab.advice import learning
from expandlab.advice.model import Case, CostModel, cases_of, score

KINDS = (("poisson", {}), ("meshlets", {}), ("ramp", {}), ("sawtooth", {}), ("lognormal", {"shape": {"sigma": 1.2}}))
ROUNDS = 15


def load() -> str:
    """The load of the machine, which a software adapter shares with everything else."""
    return f"{os.getloadavg()[0]:.2f}"


def told(model: CostModel, case: Case) -> str:
    """A line about one input."""
    predicted, sure = model.rank(case.ms, case.statistics, case.clock)
    first, best = next(iter(predicted)), min(predicted, key=case.ms.__getitem__)
    behind = case.ms[first] / case.ms[best]
    size = f"P1 {case.statistics.src:6d}, P2 {case.statistics.items:6d}"
    return f"{size}: {first}, {sure:.0%} sure, {behind:.2f} x {best}"


def main() -> None:
    device = xl.device(sys.argv[1] if len(sys.argv) > 1 else "llvmpipe")
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(device.info.label, "load", load(), flush=True)
    model = learning.learn(device)
    print("fitted, load", load(), flush=True)
    taken = []
    for kind, more in KINDS:
        for mean in (5, 48):
            for items in (12_000, 50_000):
                recipe = {"kind": kind, "items": round(items / mean), "mean": mean, "seed": seed + items + mean, **more}
                taken += learning.measured(recipe, device, ROUNDS)
    cases = cases_of(taken, model.lanes, learning.SIZE)
    print(f"load {load()};", {key: value for key, value in score(model, cases).to_dict().items() if key != "errors"})
    print(*(told(model, case) for case in cases), sep="\n")


if __name__ == "__main__":
    main()
