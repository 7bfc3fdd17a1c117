"""Measurements on one GPU for the advice model, the timings notebook and the figures page.

Needs: the project's tree as working directory (or PYTHONPATH), wgpu, numpy; torch only as a peer where it is there.
Writes into $OUT: cost_model.json, measured.json.gz (every part's measurements), summary.json.
SIZE=tiny tries everything at tiny sizes; LIMIT_S bounds the whole (default 510 s). DEVICE: part of the adapter's name.
"""

from __future__ import annotations

import contextlib
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
from expandlab.advice.account import account  # noqa: E402
from expandlab.advice.model import cases_of, fitted, score  # noqa: E402
from expandlab.advice.statistics import Statistics  # noqa: E402
from expandlab.expansion import strategies  # noqa: E402
from expandlab.expansion.arguments import runs  # noqa: E402
from expandlab.measuring import measure  # noqa: E402
from expandlab.measuring.measurements import FORMAT, VERSION  # noqa: E402
from expandlab.measuring.workloads import from_recipe  # noqa: E402
from expandlab.results import to_plain  # noqa: E402
from expandlab.versions import commit, versions  # noqa: E402

TINY = os.environ.get("SIZE") == "tiny"
LIMIT_S = float(os.environ.get("LIMIT_S", "60" if TINY else "510"))
OUT = Path(os.environ["OUT"])
OUT.mkdir(parents=True, exist_ok=True)
DEV = xl.device(os.environ.get("DEVICE", "llvmpipe" if TINY else "nvidia"), limits="adapter")
LANES = learning._lanes(DEV)
SHRINK = 10 if TINY else 0  # powers of two taken off all sizes
parts: dict[str, list] = {}
summary: dict[str, object] = {
    "device": DEV.info.label,
    "driver": DEV.info.driver,
    "commit": commit(),
    "versions": versions(),
    "subgroup_size": DEV.subgroup_size,
    "parts": {},
    "errors": [],
}
ROOM = 0.0


def torch_here() -> tuple[str, ...]:
    try:
        import torch
    except Exception:
        return ()
    return ("torch",) if torch.cuda.is_available() or DEV.info.is_software else ()


def plain(m):
    """What `Measurements.from_dict` reads, with five digits."""

    def short(v):
        if isinstance(v, float):
            return float(f"{v:.5g}")
        if isinstance(v, dict):
            return {k: short(w) for k, w in v.items()}
        if isinstance(v, (list, tuple)):
            return [short(w) for w in v]
        return v

    return short(to_plain(m)) | {"format": FORMAT, "version": VERSION}


def save():
    data = json.dumps(
        {"parts": parts, "about": {k: summary[k] for k in ("device", "driver", "commit", "versions")}},
        separators=(",", ":"),
        default=str,
    ).encode()
    tmp = OUT / ".tmp"
    tmp.write_bytes(gzip.compress(data, 6, mtime=0))
    tmp.replace(OUT / "measured.json.gz")
    summary["seconds"] = time.monotonic() - START
    (OUT / "summary.json").write_text(json.dumps(summary, indent=1, default=str))


def ok(name, values, s, cas=4096, each=1024):
    if DEV.info.is_software and name == "draw_indirect_count":
        return False
    if not runs(name, values, DEV):
        return False
    if name == "dispatch_each":
        return s.src <= each
    if name == "atomic64_cas":
        return s.busy_src <= cas
    heaviest = max((t.events for t in account(name).terms(s) if t.name != "probes"), default=0.0)
    return heaviest <= 24 * (s.src + s.items)


def one(part, recipe, *, names=None, warm=0.03, **more):
    values, _ = from_recipe(recipe)
    s = Statistics(values, LANES, 256)
    chosen = names or [n for n in strategies() if ok(n, values, s)]
    opts = {
        "repeats": 7,
        "batch_ms": 0.3,
        "budget_s": 0.06,
        "leave_out": True,
        "warm_up_s": warm,
        "verify": "device" if s.items > 2**16 else "auto",
    } | more
    m = measure(chosen, recipe, device=opts.pop("device", DEV), **opts)
    parts.setdefault(part, []).append(plain(m))
    return m


def run_part(name, seconds, jobs):
    """Jobs in order until the part's time, or the whole's, is over."""
    begin, done, n = time.monotonic(), [], 0
    jobs = list(jobs)
    for job in jobs:
        now = time.monotonic()
        if now - begin > seconds or now - START > LIMIT_S:
            break
        try:
            done.append(job())
        except Exception:
            summary["errors"].append(f"{name}: {traceback.format_exc()[-800:]}")
        n += 1
        if n % 40 == 0:
            save()
    took = time.monotonic() - begin
    summary["parts"][name] = {"jobs": len(jobs), "begun": n, "done": len(done), "seconds": took}
    print(f"{time.monotonic() - START:6.1f} s  {name}: {len(done)} of {len(jobs)} in {took:.1f} s", flush=True)
    save()
    return done


def two(k):
    return 2 ** max(6, k - SHRINK)


def recipe(kind, p2, mean, seed, **more):
    return {"kind": kind, "items": max(1, round(p2 / mean)), "mean": mean, "seed": seed, **more}


# (a) what the model is fitted to: the 22 inputs of `learn`, measured well, and the same kinds at other sizes
def part_a():
    largest = 2**14 if TINY else max(learning._largest(DEV)[0], 2**23)
    summary["largest"] = largest
    taken = []

    def job(number, row, top, offset):
        kind, more, mean, share = row
        rec = recipe(kind, max(64, top // share), mean, 101 + number + offset, **more)
        taken.append(one("learn", rec, repeats=9, budget_s=0.1, warm=0.3 if number == 0 else 0.03))

    jobs = [lambda n=n, r=r: job(n, r, largest, 0) for n, r in enumerate(learning.INPUTS)]
    run_part("learn", 70, jobs)
    model = fitted(
        cases_of(taken, LANES, 256),
        device=DEV.info.label,
        driver=DEV.info.driver,
        software=DEV.info.is_software,
        timer=taken[0].timer,
        lanes=LANES,
        workgroup_size=256,
        shader_sha256=learning.shaders(DEV.subgroup_size),
        commit=commit(),
    )
    model.save(OUT / "cost_model.json")
    # More of the same kinds for a better fit offline, at four times and a quarter of the size.
    if not TINY:
        more = [
            lambda n=n, r=r, f=f: job(n, r, largest * f // 2, 1000 * f)
            for f in (8, 1)
            for n, r in enumerate(learning.INPUTS)
        ]
        run_part("learn", 60, more)
    return model


# (b) held out: kinds, seeds and sizes that are not fitted
def part_b(model):
    kinds = [
        ("poisson", {}),
        ("meshlets", {}),
        ("ramp", {}),
        ("sawtooth", {}),
        ("lognormal", {"shape": {"sigma": 0.7}}),
        ("lognormal", {"shape": {"sigma": 2.5}}),
    ]
    grid = [(k, m, p, x) for p in (15, 19, 22, 24) for x in (5, 20, 90) for k, m in kinds]
    rng = np.random.default_rng(5)
    rng.shuffle(grid)
    jobs = [
        lambda k=k, m=m, p=p, x=x: one("held_out", recipe(k, two(p) * 3 // 4, x, 9000 + p, **m)) for k, m, p, x in grid
    ]
    if TINY:
        jobs = jobs[:6]
    done = run_part("held_out", 110, jobs)
    if model is not None and done:
        summary["score"] = to_plain(score(model, cases_of(done, LANES, 256)))
        print("score", summary["score"], flush=True)


# (c) one dispatch, or one draw, for each src
def part_c(model):
    names = ["dispatch_each"] + ([] if DEV.info.is_software else ["draw_indirect_count"])
    sizes = (16, 64) if TINY else (32, 128, 512, 2048, 9000)
    ways = [
        ("constant", 8, {}),
        ("constant", 256, {}),
        ("constant", 2048, {}),
        ("uniform", 24, {}),
        ("zipf", 16, {"max_n": 4096}),
        ("sparse", 40, {}),
        ("lognormal", 100, {"shape": {"sigma": 1.5}}),
    ]

    def job(p1, kind, mean, more):
        rec = {"kind": kind, "items": p1, "mean": mean, "seed": 77 + p1, **more}
        return one("api", rec, names=names, budget_s=0.5, repeats=7)

    done = run_part("api", 60, [lambda a=a, k=k, x=x, m=m: job(a, k, x, m) for a in sizes for k, x, m in ways])
    big = [] if TINY or DEV.info.is_software else [65536, 2**20]
    done += run_part(
        "api draws",
        25,
        [
            lambda a=a, k=k, x=x, m=m: one(
                "api", {"kind": k, "items": a, "mean": x, "seed": 78, **m}, names=["draw_indirect_count"], budget_s=0.3
            )
            for a in big
            for k, x, m in (("uniform", 16, {}), ("zipf", 16, {"max_n": 4096}), ("sparse", 16, {}))
        ],
    )
    if model is not None:
        rows = [
            (c.statistics.src, c.statistics.items, n, ms, model.predict(n, c.statistics).ms)
            for c in cases_of(done, LANES, 256)
            for n, ms in c.ms.items()
            if n in model.fits
        ]
        summary["api"] = [list(r) for r in rows]
        for name in names:
            off = [abs(p / m - 1) for _, _, n, m, p in rows if n == name]
            if off:
                print(name, "predicted within 30 %:", sum(o <= 0.3 for o in off), "of", len(off), flush=True)


# (e) the same small sweep twice, on a device that is opened anew
def part_e():

    grid = [
        recipe(k, two(p), x, 3, **m)
        for k, m in (("uniform", {}), ("zipf", {"max_n": 4096}), ("sparse", {}))
        for x in (8, 64)
        for p in (18, 21, 24)
    ]
    for number in (1, 2):
        dev = xl.device(DEV.info.index, limits="adapter")
        run_part(
            f"twice {number}",
            38,
            [
                lambda r=r, first=not n, d=dev, number=number: one(
                    f"twice {number}", r, device=d, repeats=15, batch_ms=1.0, budget_s=0.1, warm=0.3 if first else 0.05
                )
                for n, r in enumerate(grid)
            ],
        )
    first, second = (
        {(m["input"]["counts_sha256"]): xl.Measurements.from_dict(m) for m in parts.get(f"twice {n}", [])}
        for n in (1, 2)
    )
    ratios = []
    for sha, a in first.items():
        b = second.get(sha)
        for c in a.of_role("contender") if b else ():
            with contextlib.suppress(Exception):
                ratios.append((b.x_limit(c.name).median / a.x_limit(c.name).median, c.name, a.total))
    off = np.array([abs(r[0] - 1) for r in ratios]) if ratios else np.zeros(0)
    if len(off):
        summary["twice"] = {
            "pairs": len(off),
            "within_5_percent": float((off <= 0.05).mean()),
            "median_off": float(np.median(off)),
            "p90_off": float(np.percentile(off, 90)),
            "median_ratio": float(np.median([r[0] for r in ratios])),
            "worst": sorted(([float(o), r[1], r[2]] for o, r in zip(off, ratios, strict=False)), reverse=True)[:12],
        }
        print("twice", {k: v for k, v in summary["twice"].items() if k != "worst"}, flush=True)


# (d) to browse: kinds x mean x skew x size; K at once; the loop against one add
def part_d():
    peers = torch_here()
    ks = (1, 4) if TINY else (1, 2, 4, 8, 16, 32)

    def at_once(p1, k, kind, x, more):
        names = [
            n
            for n in strategies()
            if n not in ("linear_search", "atomic64_cas", "dispatch_each", "draw_indirect_count")
        ]
        rec = {"kind": kind, "items": p1, "mean": x, "seed": 0, **more}
        values, _ = from_recipe(rec)
        return one(
            "at_once", rec, names=[n for n in names if runs(n, values, DEV)], at_once=k, budget_s=0.1, verify="device"
        )

    p1s = (64,) if TINY else (1024, 16384)
    run_part(
        "at_once",
        45,
        [lambda p=p, k=k: at_once(p, k, "geometric", 8, {}) for p in p1s for k in ks]
        + ([] if TINY else [lambda k=k: at_once(4096, k, "zipf", 32, {"max_n": 4096}) for k in ks]),
    )

    loops = (16, 64, 256) if TINY else (32, 128, 512, 2048, 8192, 16384, 65536)
    run_part(
        "atomics",
        30,
        [
            lambda p=p: one(
                "atomics",
                {"kind": "constant", "items": p, "mean": 8, "seed": 0},
                budget_s=0.3,
                names=[
                    n
                    for n in ("atomic64_cas", "atomic64_add", "atomic64_aggregated")
                    if runs(n, np.full(p, 8, np.uint32), DEV)
                ],
            )
            for p in loops
        ],
    )

    skews = [("lognormal", {"shape": {"sigma": s}}) for s in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)]
    kinds = [
        ("constant", {}),
        ("uniform", {}),
        ("geometric", {}),
        ("zipf", {"max_n": 4096}),
        ("bimodal", {}),
        ("sparse", {}),
        ("one_giant", {}),
        ("meshlets", {}),
    ]
    order = [
        (p, x, k, m)
        for p, x in [(p, x) for p in (20, 24, 16) for x in (8, 64)]
        + [(p, x) for p in (22, 18) for x in (8, 64)]
        + [(p, x) for p in (20, 24, 16, 22, 18) for x in (2, 24, 256)]
        for k, m in skews + kinds
    ]
    if TINY:
        order = order[::25]
    jobs = [lambda p=p, x=x, k=k, m=m: one("browse", recipe(k, two(p), x, 0, **m), peers=peers) for p, x, k, m in order]
    run_part("browse", LIMIT_S - (time.monotonic() - START), jobs)


def guarded(what, *args):
    try:
        return what(*args)
    except Exception:
        summary["errors"].append(f"{what.__name__}: {traceback.format_exc()[-1500:]}")
        traceback.print_exc()
        save()
        return None


print(DEV.info.label, DEV.info.driver, "subgroups of", DEV.subgroup_size, flush=True)
MODEL = guarded(part_a)
guarded(part_b, MODEL)
guarded(part_c, MODEL)
guarded(part_e)
guarded(part_d)
save()
print("errors:", len(summary["errors"]), summary["errors"][:3], flush=True)
print({p.name: p.stat().st_size for p in OUT.iterdir()}, flush=True)
