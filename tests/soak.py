"""A soak by hand: random cases for an hour, each compared with NumPy or the checker of plans; and memory.

    python tests/soak.py --minutes 60 --seed 1 --device lavapipe --device swiftshader

One process, one thread. Expansions (any counts, strategy, body, lowered limits), top-k, streams and frame graphs. Every
case follows from the seed and its number, so that `--only NUMBER` runs a failed one again. Devices are lowered copies
of the same ones all the time and shaders come from a bounded set, so what grows after the first round is a leak.
Ends early, and says so, on Ctrl-C or SIGTERM.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from itertools import chain, count
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from definition import assert_expands, pairs
from graph.checker import faults, problems
from graph.random_graphs import random_graph, random_pipeline
from topk_definition import assert_top_k, order_of

import expandlab as xl

RUNS = [name for name, strategy in xl.strategies().items() if not strategy.modelled]
METHODS = list(xl.top_k_methods())
EDGES = [size + step for power in range(0, 13) for size in (2**power,) for step in (-1, 0, 1)]
# A case that takes longer than this prints where it stands; the soak goes on.
SLOW_S = 120
MOST_BYTES = 8 << 30

COUNT = """fn work(src: u32, local: u32, dst: u32) {
    atomicAdd(&calls[src], 1u);
    atomicXor(&mixed[(src + local) % 64u], src * 2654435761u + local);
}"""
PLACE = "fn work(src: u32, local: u32, dst: u32) { owner[dst] = src; place[dst] = local; }"


def lowered(device, **limits):
    """The same device under lower limits, with pipelines of its own."""
    copy = xl.adopt(device.gpu)
    copy.limits.update(limits)
    return copy


def variants(name):
    device = xl.device(name)
    return [
        device,
        lowered(device, max_storage_buffer_binding_size=65536),
        lowered(device, max_storage_buffer_binding_size=4096),
    ]


def some_counts(rng):
    """Counts of any kind, with sizes at the edges of workgroups, and a few that no device can take."""
    make = rng.random()
    seed = rng.randrange(2**32)
    size = rng.choice(EDGES) if rng.random() < 0.5 else rng.randrange(3000)
    if make < 0.6:
        return xl.counts.make(rng.choice(xl.counts.kinds()), size, mean=rng.choice((0.5, 1, 4, 17)), seed=seed)
    draw = np.random.default_rng(seed)
    if make < 0.8:
        return draw.integers(0, rng.choice((2, 3, 33, 129)), min(size, 500)).astype(np.uint32)
    if make < 0.95:
        counts = np.zeros(rng.randint(1, 400), np.uint32)
        counts[rng.randrange(len(counts))] = max(0, rng.choice(EDGES))
        return counts
    counts = draw.integers(0, 2, rng.randint(1, 300)).astype(np.uint32)
    counts[rng.randrange(len(counts))] = rng.choice((2**31 - 1, 2**31, 2**32 - 1, 65535, 65536, 65537))
    return counts


def expand_case(rng, devices):
    counts = some_counts(rng)
    total = int(counts.sum(dtype=np.uint64))
    # A capacity of billions would only fill the host's memory.
    capacity = rng.choice((None, None, min(total, 1 << 20), max(0, min(total - 1, 1 << 20)), 1 << 18))
    strategy, size = rng.choice([*RUNS, "auto"]), rng.choice((32, 256))
    what = rng.choice(("mapping", "mapping", "count", "place")) if total < 2**22 else "mapping"
    device = rng.choice(devices)
    body, buffers = None, None
    if what == "count":
        body, size = COUNT, 64
        buffers = {"calls": xl.atomic(np.zeros(max(1, len(counts)), np.uint32))}
        buffers["mixed"] = xl.atomic(np.zeros(64, np.uint32))
    elif what == "place":
        body, size = PLACE, 64
        buffers = {"owner": np.zeros(max(1, total), np.uint32), "place": np.zeros(max(1, total), np.uint32)}
    given = counts.copy()
    binding = device.limits["max_storage_buffer_binding_size"]
    accepted = binding // 4 if capacity is None else capacity
    try:
        done = xl.expand(
            counts, strategy, body=body, buffers=buffers, device=device, capacity=capacity, workgroup_size=size
        )  # fmt: skip
    except OverflowError:
        assert total >= 2**32
        return "refused: overflow"
    except xl.DeviceLimitError as error:
        assert error.required == total and error.required_bytes > error.available_bytes
        assert binding <= 65536, "only where the limits are low"
        return "refused: device limit"
    except xl.CapacityError as error:
        assert error.required == total > accepted == error.capacity
        return "refused: capacity"
    except xl.UnsupportedError:
        assert strategy != "auto"
        return "refused: unsupported"
    except ValueError as error:
        # A body's own buffer has to fit a binding.
        assert buffers and any(4 * max(1, n) > binding for n in (len(counts), total)) and "buffers" in str(error)
        return "refused: body's buffer"
    assert total <= accepted and total < 2**32
    assert np.array_equal(counts, given) and done.total == total
    if what == "mapping":
        assert_expands(counts, done.src, done.local)
    elif what == "count":
        assert np.array_equal(done.buffers["calls"][: len(counts)], counts)
        src, local = pairs(counts).T
        mixed = np.zeros(64, np.uint32)
        words = (src.astype(np.uint64) * 2654435761 + local.astype(np.uint64)).astype(np.uint32)
        np.bitwise_xor.at(mixed, (src + local) % 64, words)
        assert np.array_equal(done.buffers["mixed"], mixed)
    else:
        assert_expands(counts, done.buffers["owner"][:total], done.buffers["place"][:total])
    return f"expand {what}" + (", in chunks" if done.report.chunks > 1 else "")


def some_values(rng, n):
    draw = np.random.default_rng(rng.randrange(2**32))
    dtype = rng.choice(("float32", "float32", "float16", "int32", "uint32"))
    if dtype.startswith("float"):
        values = draw.choice((0.0, -0.0, 1.5, -2.0, np.nan, np.inf, -np.inf), n) if rng.random() < 0.3 else None
        values = draw.standard_normal(n) if values is None else values
        return values.astype(dtype)
    low, high = (0, 2**32) if dtype == "uint32" else (-(2**31), 2**31)
    return draw.integers(low, rng.choice((low + 9, high)), n).astype(dtype)


def top_k_case(rng, devices):
    n = rng.choice(EDGES) if rng.random() < 0.5 else rng.randrange(6000)
    values = some_values(rng, n)
    k, largest = rng.randint(0, rng.choice((n, min(n, 20)))), rng.random() < 0.5
    name, device = rng.choice([*METHODS, "auto"]), rng.choice(devices)
    try:
        done = xl.top_k(values, k, largest=largest, method=name, device=device)
    except xl.UnsupportedError:
        assert name != "auto"
        return "refused: unsupported"
    except xl.DeviceLimitError as error:
        # A row of one workgroup needs 8 KiB.
        assert device.limits["max_storage_buffer_binding_size"] == 4096 < error.required_bytes
        return "refused: device limit"
    assert_top_k(values, k, largest, done)
    return "top-k"


def stream_case(rng, devices):
    k, largest = rng.choice((0, 1, 7, 64, 300)), rng.random() < 0.5
    first, pushed = some_values(rng, rng.randrange(2500)), []
    with xl.TopKStream(k, largest=largest, device=rng.choice(devices)) as stream:
        for _ in range(rng.randint(1, 5)):
            values = some_values(rng, rng.randrange(2500)) if pushed else first
            if values.dtype != first.dtype:
                values = rng.choice((first, first[::-1].copy()))
            base = rng.choice((0, 1, 1000, 2**32 - 2, 2**63, 2**64 - 4000))
            stream.push(values, base)
            pushed.append((values, base))
        done = stream.result()
    values = np.concatenate([values for values, _ in pushed])
    indices = np.concatenate([np.uint64(base) + np.arange(len(v), dtype=np.uint64) for v, base in pushed])
    best = order_of(values, largest, indices)[:k]
    assert done.indices.tolist() == indices[best].tolist()
    assert np.array_equal(done.values, values[best], equal_nan=values.dtype.kind == "f")
    return "stream"


def graph_case(rng, devices):
    seed = rng.randrange(2**40)
    make = random_graph if rng.random() < 0.75 else random_pipeline
    graph = make(seed, stages=rng.random() < 0.7)
    mode, tags = rng.choice(("dag", "dag", "chain")), rng.random() < 0.8
    placed = {name: (item.devices or ("d0",))[0] for name, item in graph.passes.items()}
    free = any(len(item.devices) > 1 for item in graph.passes.values())
    deserved = faults(graph, placed, mode, tags)
    try:
        plan = graph.compile(mode, schedule=rng.choice(("depth", "list", "heft", "optimal")), tags=tags)
    except xl.GraphError as error:
        assert free or type(error).__name__ in deserved
        return "graph: explained"
    assert free or not deserved
    assert problems(graph, plan) == []
    return "graph: planned"


CASES = (expand_case, expand_case, expand_case, top_k_case, stream_case, graph_case)


def one(seed, number, devices):
    rng = random.Random(f"{seed}/{number}")
    return rng.choice(CASES)(rng, rng.choice(devices))


def resident_mib():
    """Resident memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Stopped(Exception):
    """Ctrl-C or SIGTERM."""


def stop(*_):
    raise Stopped


def main():
    ask = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    ask.add_argument("--minutes", type=float, default=60)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--device", action="append", help="may be given several times; lavapipe and swiftshader if not")
    ask.add_argument("--only", type=int, help="run this case alone")
    wanted = ask.parse_args()
    names = wanted.device or ["lavapipe", "swiftshader"]
    devices = [variants(name) for name in names]
    if wanted.only is not None:
        print(one(wanted.seed, wanted.only, devices))
        return 0
    signal.signal(signal.SIGTERM, stop)
    # What grows without bound shall end this process, not the machine.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    labels = "; ".join(group[0].info.label for group in devices)
    print(f"soak of {wanted.minutes:g} minutes, seed {wanted.seed}, on {labels}", flush=True)
    outcomes, failures, number, start = Counter(), [], 0, time.monotonic()
    marks = chain((1,), count(5, 5))
    mark = 0
    try:
        while (minutes := (time.monotonic() - start) / 60) < wanted.minutes:
            if minutes >= mark:
                mark = next(marks)
                gc.collect()
                print(f"{minutes:5.1f} min: {number:8,} cases, {len(failures)} failed, resident "
                      f"{resident_mib():7.0f} MiB", flush=True)  # fmt: skip
            faulthandler.dump_traceback_later(SLOW_S)
            try:
                outcomes[one(wanted.seed, number, devices)] += 1
            except Stopped:
                raise
            except Exception:
                failures.append(number)
                print(f"case {number} FAILED\n{traceback.format_exc()}", flush=True)
            number += 1
        ended = "ended"
    except (KeyboardInterrupt, Stopped):
        ended = "stopped by hand"
    faulthandler.cancel_dump_traceback_later()
    gc.collect()
    minutes = (time.monotonic() - start) / 60
    print(f"{ended} after {minutes:.1f} minutes: {number:,} cases, {len(failures)} failed {failures[:20]}, "
          f"resident {resident_mib():.0f} MiB")  # fmt: skip
    for outcome, times in sorted(outcomes.items()):
        print(f"  {times:8,}  {outcome}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
