"""What the timings notebook browses: measurements on one H200, with what the package's cost model of it says.

    python docs/data/browse_h200.py

Packs the part `browse` of measured_h200.json.gz (made by measuring_h200.py) into expandlab/measuring/data/h200.json.gz.
The model was fitted to other inputs (fit_h200.py), so no prediction has seen its own. The part `at_once` is left out:
it was measured below the full clock, which moved.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import expandlab as xl
from expandlab.advice import learning
from expandlab.advice.model import CostModel
from expandlab.measuring.packed import pack, write_packed
from expandlab.measuring.workloads import from_recipe

HERE = Path(__file__).parent
PACKED = HERE.parents[1] / "expandlab" / "measuring" / "data" / "h200.json.gz"


def predicted(item: xl.Measurements, model: CostModel) -> xl.Measurements:
    """With the predicted ms of every strategy among what is said of the input."""
    names = ("kind", "mean", "max_n", "seed", "shape")
    values, _ = from_recipe({name: item.input[name] for name in names} | {"items": item.src_count})
    s = model.statistics(values)
    found = {one.name: model.predict(one.name, s).ms for one in item.of_role("contender") if one.name in model.fits}
    return dataclasses.replace(item, input={**item.input, "predicted_ms": found})


def main() -> None:
    data = json.loads(gzip.decompress((HERE / "measured_h200.json.gz").read_bytes()))
    browse = [xl.Measurements.from_dict(item) for item in data["parts"]["browse"]]
    model = CostModel.load(learning.DEFAULTS / "nvidia_h200.json")
    done = pack(
        [predicted(item, model) for item in browse],
        command="python docs/data/measuring_h200.py, then python docs/data/browse_h200.py",
        raw="docs/data/measured_h200.json.gz, part browse",
        predictions="by the cost model that comes with the package, fitted to other inputs",
        samples="7 rounds, fewer of the slow",
    )
    print(write_packed(PACKED, done).stat().st_size, "bytes")


if __name__ == "__main__":
    main()
