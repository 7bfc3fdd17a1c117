"""Fresh inputs for the cost model that comes with the package: kinds, sizes and seeds not seen before.

    PYTHONPATH=TREE OUT=FOLDER python validate_h200.py

Needs numpy and wgpu. Writes $OUT/validate.json (after every case), prints the scores, and ends within
LIMIT_S (190 s).
SIZE=tiny tries everything at tiny sizes on a software adapter; DEVICE: part of the adapter's name.
"""

import dataclasses
import gzip
import json
import os
import sys
import time
import traceback
from pathlib import Path

START = time.monotonic()
sys.path.insert(0, os.getcwd())

import numpy as np  # noqa: E402

import expandlab as xl  # noqa: E402
from expandlab.advice import learning  # noqa: E402
from expandlab.advice.account import terms  # noqa: E402
from expandlab.advice.clock import full_fill  # noqa: E402
from expandlab.advice.model import Case, CostModel, score  # noqa: E402
from expandlab.advice.term import Launches  # noqa: E402
from expandlab.expansion import strategies  # noqa: E402
from expandlab.expansion.arguments import runs  # noqa: E402
from expandlab.measuring import measure  # noqa: E402
from expandlab.versions import commit, versions  # noqa: E402

TINY = os.environ.get("SIZE") == "tiny"
LIMIT_S = float(os.environ.get("LIMIT_S", "190"))
# No case begins after these: of the choices, and of all.
CHOICES_S, LAST_S = 0.6 * LIMIT_S, LIMIT_S - 25
OUT = Path(os.environ["OUT"])
OUT.mkdir(parents=True, exist_ok=True)
DEV = xl.device(os.environ.get("DEVICE", "llvmpipe" if TINY else "nvidia"), limits="adapter")
WARM = 0.02 if TINY else 0.3
# Another seed draws other counts, means and numbers of src. 0: as they stand below.
SEED = int(os.environ.get("SEED", "0"))
DRAW = np.random.default_rng(SEED)
MODEL = CostModel.load(learning.DEFAULTS / "nvidia_h200.json")
TREE = Path(xl.__file__).parents[1]
rows, errors, fills, cases = [], [], [], []


def whole(values):
    return np.maximum(np.rint(values), 0).astype(np.uint32)


def counts(kind, src, mean, seed):
    """Counts that no kind of the package makes, but for the last two."""
    rng = np.random.default_rng(seed)
    if kind == "pareto":  # a heavier tail than zipf's, no cap but the sum
        return whole(np.minimum(rng.pareto(1.3, src) * 0.3 * mean, 4000 * mean))
    if kind == "falling":  # lognormal, sorted: neighbours are alike
        return whole(np.sort(rng.lognormal(0, 1.2, src))[::-1] / np.exp(0.72) * mean)
    if kind == "runs of empty":  # whole stretches without items, of up to 400 src
        keep = np.repeat(rng.random(src // 50 + 2) < 0.5, rng.integers(1, min(400, 2 + src // 16), src // 50 + 2))
        keep = np.resize(keep, src)
        return whole(np.where(keep, rng.gamma(2.0, mean, src), 0))
    if kind == "alternating":  # one and many in turn, so that every subgroup diverges
        return whole(np.where(np.arange(src) % 2 == 0, 1, 2 * mean - 1))
    if kind == "steps":  # four even stretches of rising N
        return whole(np.repeat(mean * np.array([0.1, 0.4, 1.0, 2.5]), -(-src // 4))[:src])
    if kind == "few giants":  # 1 % of the src have 70 % of the items
        giant = rng.random(src) < 0.01
        return whole(np.where(giant, 70 * mean, rng.poisson(0.3 * mean, src)))
    if kind == "even":
        return np.full(src, round(mean), np.uint32)
    return xl.counts.make("poisson" if kind == "poisson" else "geometric", src, mean=mean, seed=seed)


def taken(part, kind, src, mean, seed, names=None, **more):
    if SEED:
        src, mean = max(2, round(src * DRAW.uniform(0.55, 1.6))), float(round(mean * DRAW.uniform(0.55, 1.6), 2))
    seed += 100_000 * SEED
    values = counts(kind, src, mean, seed)
    s = MODEL.statistics(values)
    if names is None:
        names = [n for n in strategies() if n in MODEL.fits and runs(n, values, DEV) and learning._reasonable(n, s)]
        if DEV.info.is_software:
            names = [n for n in names if n != "draw_indirect_count"]
    options = {"repeats": 7, "batch_ms": 0.3, "budget_s": 0.06, "leave_out": True, "warm_up_s": WARM,
               "verify": "device" if s.items > 2**16 else "auto"} | more  # fmt: skip
    found = measure(names, values, device=DEV, **options)
    rows.append({"part": part, "kind": kind, "src": src, "mean": mean, "seed": seed, "items": s.items,
                 "busy_src": s.busy_src, "widest": s.widest, "output_bytes": found.output_bytes,
                 "left_out": found.left_out, "clock_moved": getattr(found, "clock_moved", None),
                 "fill_ms": next(o.gpu.median for o in found.of_role("limit") if o.name == "fill")})  # fmt: skip
    rows[-1]["strategies"] = {o.name: {"ms": o.gpu.median} for o in found.of_role("contender")}
    cases.append((rows[-1], s, found))
    fills.append(found)
    write({})  # what is there if this is killed; the scores come at the end


def otherwise(name, s, clock):
    """What `predict` would say if dispatches overlapped and draws did not."""
    found = MODEL.fits[name]
    costs = dict(zip(found.names, found.ms, strict=True))
    turned = [dataclasses.replace(term, overlap=not term.overlap) if isinstance(term, Launches) else term
              for term in terms(name, s)]  # fmt: skip
    return sum(costs.get(term.name, 0.0) * term.at(clock, found.per_launch) for term in turned)


def settled():
    """Every row with predictions, and the scores: the full clock is told by all fills there are."""
    full = full_fill(BEFORE + fills)
    fresh = {"choice": [], "api": []}
    for row, s, found in cases:
        clock = full.slowdown(found)
        row["clock"] = clock
        ms = {o.name: o.gpu.median for o in found.of_role("contender") if o.checked and o.gpu.median > 0}
        row["strategies"] = {}
        for o in found.of_role("contender"):
            if o.name in ms and o.name in MODEL.fits:
                at, flat_out = MODEL.predict(o.name, s, clock), MODEL.predict(o.name, s)
                row["strategies"][o.name] = {
                    "ms": o.gpu.median, "q1": o.gpu.q1, "q3": o.gpu.q3, "samples": len(o.gpu_ms),
                    "predicted_ms": flat_out.ms, "predicted_at_clock_ms": at.ms, "deviation": flat_out.deviation,
                    "ratio": at.ms / o.gpu.median, "otherwise_ms": otherwise(o.name, s, clock),
                    "parts": flat_out.parts,
                }  # fmt: skip
        fresh[row["part"]].append(Case(s, ms, clock))
        if row["part"] == "choice":
            said, sure = MODEL.rank(ms, s)
            first, best = next(iter(said)), min(ms, key=ms.get)
            row |= {"first": first, "best": best, "off": ms[first] / ms[best] - 1, "sure": sure}
    scores = {
        "choices": score(MODEL, fresh["choice"]).to_dict(),
        "choices at the full clock": score(MODEL, [c for c in fresh["choice"] if c.clock == 1.0]).to_dict(),
    }
    for name in ("dispatch_each", "draw_indirect_count"):
        for label, of in (("at the clock of each", "predicted_at_clock_ms"), ("for the full clock", "predicted_ms"),
                          ("if dispatches overlapped and draws did not", "otherwise_ms")):  # fmt: skip
            got = [r["strategies"][name] for r in rows if r["part"] == "api" and name in r.get("strategies", {})]
            off = [abs(o[of] / o["ms"] - 1) for o in got]
            scores[f"{name}, {label}"] = {"cases": len(off), "within_30%": int(sum(o <= 0.3 for o in off)),
                                          "worst": float(max(off, default=0.0)),
                                          "median": float(np.median(off)) if off else 0.0}  # fmt: skip
    return scores


def write(scores):
    about = {"device": DEV.info.label, "driver": DEV.info.driver, "commit": commit(), "versions": versions(),
             "model": {"device": MODEL.device, "driver": MODEL.driver, "commit": MODEL.commit},
             "shipped_is_taken": (MODEL.device, MODEL.driver) == (DEV.info.label, DEV.info.driver)
             and MODEL.shader_sha256 == learning.shaders(DEV.subgroup_size),
             "seconds": time.monotonic() - START, "errors": errors}  # fmt: skip
    text = json.dumps(
        {"about": about, "scores": scores, "rows": rows},
        indent=1,
        default=lambda v: v.item() if isinstance(v, np.generic) else str(v),
    )
    (OUT / ".validate").write_text(text)
    (OUT / ".validate").replace(OUT / "validate.json")
    return scores


def attempt(last, what, *args, **more):
    if time.monotonic() - START > last:
        return
    try:
        taken(what, *args, **more)
    except Exception:
        errors.append(f"{what} {args}: {traceback.format_exc()[-700:]}")


# What a fill takes at the full clock, as the model's raw data say.
BEFORE = []
raw = TREE / "docs" / "data" / "measured_h200.json.gz"
if raw.is_file() and not DEV.info.is_software:
    parts = json.loads(gzip.decompress(raw.read_bytes()))["parts"]
    BEFORE = [xl.Measurements.from_dict(item) for name in ("learn", "browse") for item in parts[name]]

print(DEV.info.label, DEV.info.driver, "commit", commit(), flush=True)
DOWN = 2**9 if TINY else 1
KINDS = ("pareto", "falling", "runs of empty", "alternating", "steps", "few giants")
SIZES = ((50_000, (7, 150)), (700_000, (3, 40)), (11_000_000, (13,)), (5_500_000, (400,)))
CHOICES = [(k, p2, m) for p2, means in SIZES for m in means for k in KINDS]  # fmt: skip
order = np.random.default_rng(31).permutation(len(CHOICES))
for number in order[:32] if not TINY else order[:3]:
    kind, p2, mean = CHOICES[number]
    attempt(CHOICES_S, "choice", kind, max(8, round(p2 / DOWN / mean)), mean, 9000 + int(number))
print(f"{len(cases)} choices in {time.monotonic() - START:.0f} s", flush=True)

BOTH = ("dispatch_each", "draw_indirect_count")
API = [
    ("even", 48, 17), ("pareto", 200, 60), ("few giants", 700, 90), ("even", 1500, 1000), ("alternating", 3000, 12),
    ("runs of empty", 6000, 30), ("falling", 400, 5000), ("poisson", 5000, 300), ("steps", 90, 20_000),
    ("even", 12, 700_000), ("even", 6, 3_000_000), ("falling", 30, 400_000), ("even", 3, 12_000_000),
    ("pareto", 16, 1_000_000), ("even", 100, 250_000), ("few giants", 2500, 200),
]  # fmt: skip
DRAWS = [("pareto", 30_000, 9), ("alternating", 250_000, 20), ("runs of empty", 500_000, 6), ("even", 900_000, 3)]
names = [n for n in BOTH if n in MODEL.fits and not (DEV.info.is_software and n == "draw_indirect_count")]
for at, (kind, src, mean) in enumerate(API[:4] + API[9:10] if TINY else API):
    small = (min(src, 40), min(mean, 300)) if TINY else (src, mean)
    attempt(LAST_S, "api", kind, *small, 7000 + at, names=names, budget_s=0.4)
for at, (kind, src, mean) in enumerate([] if TINY else DRAWS):
    attempt(LAST_S, "api", kind, src, mean, 7500 + at, names=["draw_indirect_count"], budget_s=0.3)

scores = write(settled())
for row in rows:
    head = f"{row['part']:6s} {row['kind']:13s} src {row['src']:7d} items {row['items']:9d} clock {row['clock']:.2f}"
    if row["part"] == "choice":
        print(f"{head} said {row['first']} ({row['sure']:.0%}) best {row['best']} off {row['off']:.1%}")
    else:
        for name, o in row["strategies"].items():
            print(f"{head} {name:20s} {o['ms']:9.4f} ms predicted {o['predicted_at_clock_ms']:9.4f}"
                  f" ratio {o['ratio']:.2f} otherwise {o['otherwise_ms'] / o['ms']:.2f}")  # fmt: skip
for name, value in scores.items():
    print(name, {k: v for k, v in value.items() if k != "errors"})
print("errors:", len(errors), errors[:2], f"{time.monotonic() - START:.0f} s", flush=True)
