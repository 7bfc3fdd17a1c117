"""A push that takes several runs: their results are merged on the device, so that one result comes back for all."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.expansion.report import PassReport
from expandlab.graph import Access, FrameGraph, Kernel
from expandlab.topk.keys import keys_of, pairs_of
from expandlab.topk.method import WORKGROUP, Sizes, params_words
from expandlab.topk.prepared import Found, Prepared, report
from expandlab.topk.report import SelectionReport

_MOST_GROUPS = 4096


def fold_bytes(k: int) -> int:
    """Bytes of a row of up to k results and their number."""
    return 4 + 8 * k


def fold_graph(sizes: Sizes, k: int) -> FrameGraph:
    """The graph that merges one run's result, of up to `sizes.k`, into `held`, of up to k, giving `merged`."""
    form = sizes.form
    constants = {"WG": WORKGROUP, "FORMAT": form.code, "PER_WORD": form.per_word, "LARGEST": int(sizes.largest)}
    source = wgsl.load("topk/stream/fold.wgsl", constants=constants)
    graph = FrameGraph()
    graph.buffer("fold", 16, imported=True)
    graph.buffer("status", 16, imported=True)
    graph.buffer("out_indices", 4 * sizes.k, imported=True)
    graph.buffer("out_values", 4 * form.words(sizes.k), imported=True)
    graph.buffer("held", fold_bytes(k), imported=True)
    graph.buffer("merged", fold_bytes(k))
    names = [binding.name for binding in source.bindings]
    accesses = [Access("fold", "read", usage="uniform"), *(Access(name, "read") for name in names[1:-1])]
    groups = min(_MOST_GROUPS, -(-k // WORKGROUP))
    kernel = Kernel(source, "fold_run", names, (groups, 1, 1), False, _twin(sizes))
    graph.add_pass("fold", [*accesses, Access("merged", "write")], kernel=kernel)
    graph.output("merged")
    return graph


def run_folded(
    prepared: Prepared,
    k: int,
    count: int,
    load: Callable[[int, int], None],
    bound_from: Callable[[int], tuple[int, int]],
) -> Found:
    """Select the k best of `count` scores in several runs on a GPU; 2k + 1 words come back.

    load: called as `load(first, n)`, puts scores into the program's own buffer. bound_from: the bound of a run from a
    score on.
    """
    device, sizes, program = prepared.device, prepared.sizes, prepared.program
    start = time.perf_counter()
    shared = {name: program.buffer(name) for name in ("status", "out_indices", "out_values")}
    runs = range(0, count, sizes.max_n)
    with fold_graph(sizes, k).compile().program(device, external=shared) as folding:
        for first in runs:
            n = min(sizes.max_n, count - first)
            load(first, n)
            program.upload({"params": params_words(n, sizes, bound_from(first))})
            folding.upload({"fold": np.array([first, k], np.uint32)})
            with device.lock, device.errors("running a part of a push"):
                encoder = device.gpu.create_command_encoder()
                program.record(encoder)
                folding.record(encoder)
                merged, held = folding.buffer("merged"), folding.buffer("held")
                encoder.copy_buffer_to_buffer(merged, 0, held, 0, merged.size)
                device.gpu.queue.submit([encoder.finish()])
        with device.lock, device.errors("reading the result of a push"):
            words = device.read(folding.buffer("held"))
    wall_ms = (time.perf_counter() - start) * 1e3
    found = int(words[0])
    rows = words[1 : 1 + 2 * found].reshape(-1, 2)
    bits = np.ascontiguousarray(rows[:, 1]).astype(f"u{sizes.form.dtype.itemsize}")
    told = _report(prepared, [min(sizes.max_n, count - first) for first in runs], k, wall_ms, len(words))
    return Found(rows[:, 0].copy(), bits.view(sizes.form.dtype), told)


def _report(prepared: Prepared, sizes: list[int], k: int, wall_ms: float, back: int) -> SelectionReport:
    """The report of all runs of a push; nothing of it is timed."""
    passes = []
    for name, item in prepared.program.plan.passes.items():
        groups = item.kernel.workgroups
        threads = groups[0] * WORKGROUP
        useful = sum(min(prepared.built.useful[name](n), threads) for n in sizes)
        passes.append(PassReport(name, groups, len(sizes) * threads, len(sizes) * threads - useful, None))
    groups = min(_MOST_GROUPS, -(-k // WORKGROUP))
    threads = len(sizes) * groups * WORKGROUP
    passes.append(PassReport("fold", (groups, 1, 1), threads, max(0, threads - len(sizes) * k), None))
    return report(
        prepared.method.name, prepared.device, passes, prepared.built.scratch_bytes, wall_ms, back, runs=len(sizes)
    )  # fmt: skip


def _twin(sizes: Sizes) -> Callable[[Any], None]:
    def twin(b: Any) -> None:
        first, k = (int(word) for word in b.fold[:2])
        count = int(b.status[0])
        dtype = sizes.form.dtype
        values = b.out_values.view(dtype)[:count]
        held = b.held[1 : 1 + 2 * int(b.held[0])].reshape(-1, 2)
        earlier = np.ascontiguousarray(held[:, 1]).astype(f"u{dtype.itemsize}").view(dtype)
        every = np.concatenate([earlier, values])
        indices = np.concatenate([held[:, 0], b.out_indices[:count] + np.uint32(first)])
        order = np.argsort(pairs_of(keys_of(every, sizes.largest), indices))[:k]
        bits = np.ascontiguousarray(every[order]).view(f"u{dtype.itemsize}").astype(np.uint32)
        b.merged[0] = len(order)
        b.merged[1 : 1 + 2 * len(order)] = np.stack([indices[order], bits], axis=1).ravel()

    return twin
