"""Stand-in kernels: real work of a chosen length for the passes of a graph that only says what they access.

A thread for each word that a pass writes mixes what the pass reads, goes through a loop, and writes. So what comes out
depends on every word that went in, a copy that is missing shows, and a pass lasts as long as its loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from expandlab.errors import GraphError
from expandlab.graph.declare import Access, Pass, Resource
from expandlab.graph.fold import fold_threads
from expandlab.graph.frame_graph import FrameGraph
from expandlab.graph.kernel import Kernel

_SIZE = 64
# llvmpipe ends a loop after 65 535 rounds; two loops, one in the other, have room for 2^32.
_INNER = 4096
_MOST_ROUNDS = 2**28
_STEP, _ADD, _SPREAD = 1664525, 1013904223, 2654435761


def with_kernels(graph: FrameGraph, rounds: Mapping[str, int]) -> FrameGraph:
    """The graph with a stand-in kernel for every pass; accesses, places and costs stay.

    rounds: {pass: how often its threads go through the loop}, 0 where it is left out.
    Raises GraphError for a pass that cannot be stood in for: images, other usages than storage, parts of words.
    """
    made = FrameGraph(graph.devices)
    made.resources = dict(graph.resources)
    made.outputs = list(graph.outputs)
    for number, (name, item) in enumerate(graph.passes.items()):
        kernel = _kernel(graph, item, number, rounds.get(name, 0))
        made.passes[name] = replace(item, kernel=kernel)
    return made


def inputs_of(graph: FrameGraph) -> dict[str, np.ndarray]:
    """Contents for the imported buffers: the same for the same graph."""
    found = {}
    for number, (name, item) in enumerate(graph.resources.items()):
        if item.imported:
            words = np.arange(item.size // 4, dtype=np.uint32)
            found[name] = (words * np.uint32(_SPREAD)) ^ np.uint32(number + 1)
    return found


def _kernel(graph: FrameGraph, item: Pass, number: int, rounds: int) -> Kernel:
    if not 0 <= rounds <= _MOST_ROUNDS:
        raise GraphError(f"rounds of pass {item.name!r}: {rounds!r}; give 0 to {_MOST_ROUNDS:,}")
    spans = [_span(graph, item, access) for access in item.accesses]
    names = list(dict.fromkeys(access.resource for access in item.accesses))
    written = {access.resource for access in item.accesses if access.writes}
    text = [
        f"@group(0) @binding({at}) var<storage, {'read_write' if name in written else 'read'}> words_{at}: array<u32>;"
        for at, name in enumerate(names)
    ]
    threads = max((high - low for access, (low, high) in zip(item.accesses, spans, strict=True) if access.writes),
                  default=1)  # fmt: skip
    reads = [
        (names.index(access.resource), span)
        for access, span in zip(item.accesses, spans, strict=True)
        if access.mode == "read" and access.resource not in written and span[0] < span[1]
    ]
    writes = [
        (names.index(access.resource), span, _how(access))
        for access, span in zip(item.accesses, spans, strict=True)
        if access.writes and span[0] < span[1]
    ]
    text.append(f"""
@compute @workgroup_size({_SIZE})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {{
    let i = id.y * groups.x * {_SIZE}u + id.x;
    var acc = i + {number + 1}u;""")
    text += [
        f"    acc = acc * 31u + words_{at}[{low}u + i % {high - low}u];" for at, (low, high) in reads
    ]  # fmt: skip
    text += [
        f"    for (var outer = 0u; outer < {-(-rounds // _INNER)}u; outer++) {{",
        f"        let left = min({_INNER}u, {rounds}u - outer * {_INNER}u);",
        f"        for (var inner = 0u; inner < left; inner++) {{ acc = acc * {_STEP}u + {_ADD}u; }}",
        "    }",
    ]
    for at, (low, high), how in writes:
        word = f"words_{at}[{low}u + i]"
        new = {"write": f"acc + i * {_SPREAD}u", "read_write": f"{word} * 3u + acc", "add": f"{word} + acc"}[how]
        text.append(f"    if (i < {high - low}u) {{ {word} = {new}; }}")
    text.append("}")
    groups = fold_threads(threads, _SIZE)
    return Kernel("\n".join(text), "main", names, groups, twin=_twin(number, rounds, threads, reads, writes))


def _how(access: Access) -> str:
    """Writes that are declared independent add, which may come in any order."""
    return "add" if access.independent is not None else access.mode


def _span(graph: FrameGraph, item: Pass, access: Access) -> tuple[int, int]:
    resource = graph.resources[access.resource]
    if not isinstance(resource, Resource) or access.usage != "storage":
        raise GraphError(
            f"pass {item.name!r} uses {access.resource!r} as {access.usage}: only storage buffers run here"
        )
    low, high = access.range or (0, resource.size)
    if low % 4 or high % 4:
        raise GraphError(f"pass {item.name!r}: range {low} .. {high} of {access.resource!r} is no whole words of four")
    return low // 4, high // 4


def _twin(number: int, rounds: int, threads: int, reads: list[Any], writes: list[Any]) -> Any:
    def twin(b: Any) -> None:
        # Those of the last workgroup that have nothing to write do nothing that shows.
        i = np.arange(threads, dtype=np.uint32)
        with np.errstate(over="ignore"):
            acc = i + np.uint32(number + 1)
            for at, (low, high) in reads:
                acc = acc * np.uint32(31) + getattr(b, f"words_{at}")[low + i % np.uint32(high - low)]
            step, add = _power(rounds)
            acc = acc * np.uint32(step) + np.uint32(add)
            for at, (low, high), how in writes:
                words, mine = getattr(b, f"words_{at}"), acc[: high - low]
                if how == "write":
                    words[low:high] = mine + i[: high - low] * np.uint32(_SPREAD)
                else:
                    words[low:high] = words[low:high] * np.uint32(3 if how == "read_write" else 1) + mine

    return twin


def _power(rounds: int) -> tuple[int, int]:
    """(a, c) so that `rounds` steps of the loop are x -> a * x + c, by repeated squaring."""
    a, c, step, add = 1, 0, _STEP, _ADD
    while rounds:
        if rounds & 1:
            a, c = a * step % 2**32, (c * step + add) % 2**32
        step, add = step * step % 2**32, (add * step + add) % 2**32
        rounds >>= 1
    return a, c
