"""The cost model of an H200 that comes with the package, from stored measurements, and how right it is.

    python docs/data/fit_h200.py

Costs are fitted to the part `learn` of measured_h200.json.gz (made by measuring_h200.py) and to goals_h200.json.gz
(made by goals_h200.py), all of which was measured at the full clock. What a fill takes there, which tells how far below
it a sample was taken, comes from the fills of all parts but `held_out`.
Writes expandlab/advice/defaults/nvidia_h200.json and prints the scores as JSON.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import expandlab as xl
from expandlab.advice import learning
from expandlab.advice.model import CostModel, cases_of, fitted, score
from expandlab.measuring.packed import unpack

HERE = Path(__file__).parent
RAW = HERE / "measured_h200.json.gz"
MODEL = HERE.parents[1] / "expandlab" / "advice" / "defaults" / "nvidia_h200.json"
LANES, SIZE = 32, learning.SIZE
GOALS = HERE / "goals_h200.json.gz"
HELD_OUT = "held_out"
# Most of their time goes into launches. In `goals`, at one clock and one mean N, a launch cannot be told from what is
# fixed, so only `learn`, where all that varies, has a say in them.
LAUNCHING = ("dispatch_each", "draw_indirect_count", "po2_buckets", "po2_buckets_stored")
# `goals` was measured when a thread of pass 1 left a src to its workgroup from 33 shares on, and not from 257.
CHANGED = ("serial_merge",)


def within(model: CostModel, cases: list, name: str, share: float) -> dict[str, int]:
    """How many cases of a strategy are predicted within a share, at the clock of each."""
    off = [
        abs(model.predict(name, case.statistics, case.clock).ms / case.ms[name] - 1)
        for case in cases
        if name in case.ms
    ]
    return {"cases": len(off), f"within_{share:.0%}": sum(value <= share for value in off)}


def main() -> None:
    data = json.loads(gzip.decompress(RAW.read_bytes()))
    parts = {name: [xl.Measurements.from_dict(item) for item in some] for name, some in data["parts"].items()}
    fills = [item for name, some in parts.items() if name != HELD_OUT for item in some]
    cases = {name: cases_of(parts[name], LANES, SIZE, fills=fills) for name in ("learn", HELD_OUT, "browse", "api")}
    goals = unpack(json.loads(gzip.decompress(GOALS.read_bytes())), GOALS.name)
    steady = [
        case._replace(ms={name: ms for name, ms in case.ms.items() if name not in (*LAUNCHING, *CHANGED)})
        for case in cases_of(goals, LANES, SIZE, fills=fills)
    ]
    about = data["about"]
    model = fitted(
        [*cases["learn"], *steady], device=about["device"], driver=about["driver"], software=False,
        timer=parts["learn"][0].timer, lanes=LANES, workgroup_size=SIZE,
        shader_sha256=learning.shaders(LANES), commit=about["commit"],
        command=f"python docs/data/{Path(__file__).name}",
    )  # fmt: skip
    scores = {}
    for name, some in cases.items():
        if name != "api":
            scores[name] = score(model, some).to_dict()
            scores[f"{name}, at the full clock"] = score(model, [case for case in some if case.clock == 1.0]).to_dict()
    for name in ("dispatch_each", "draw_indirect_count"):
        scores[name] = within(model, cases["api"], name, 0.3)
    MODEL.parent.mkdir(exist_ok=True)
    model.save(MODEL)
    print(json.dumps(scores, indent=1))


if __name__ == "__main__":
    main()
