"""A search for loadouts as one frame graph: cull -> spawn -> expand -> score -> select, and merge on several devices.

Partial loadouts of the leading slots are the src of a work expansion; N is how many whole ones each can still become,
which the sets decide, so N differs widely. Any strategy expands them, any method that ends on the device selects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.errors import UnsupportedError
from expandlab.expansion.endings import store
from expandlab.expansion.strategies import strategies
from expandlab.expansion.strategy import Passes, params_words
from expandlab.expansion.strategy import Sizes as ExpansionSizes
from expandlab.graph import Access, FrameGraph, Kernel
from expandlab.graph.fold import fold_threads
from expandlab.graph.include import include
from expandlab.searching import twins
from expandlab.searching.pool import MOST_DEVICES, TASK, Pool
from expandlab.searching.scorer import score_source
from expandlab.topk.keys import FORMATS
from expandlab.topk.method import Selection
from expandlab.topk.method import Sizes as SelectionSizes
from expandlab.topk.method import params_words as selection_words
from expandlab.topk.methods import top_k_methods
from expandlab.topk.prepared import NO_BOUND

WORKGROUP = 256
HEAD = 16
_SHADERS = "search/loadouts"


@dataclass(frozen=True, eq=False)
class LoadoutGraph:
    """The graph of one frame, and what its imported buffers hold whatever the frame.

    outputs: the buffer to read. It has HEAD words for each device (total, failure word, required, 0, kept items of
    each slot), then for each of the k best its score's bits and its items.
    """

    graph: FrameGraph
    pool: Pool
    inputs: dict[str, np.ndarray]
    k: int
    devices: int
    max_src: int
    max_dst: int
    output: str

    def frame(self, ranges: list[tuple[int, int]]) -> dict[str, np.ndarray]:
        """The inputs of a frame over these partial loadouts, (first, end) for each device."""
        return {**self.inputs, "pool": self.pool.words(ranges)}


def loadout_graph(
    pool: Pool,
    k: int,
    *,
    devices: int = 1,
    strategy: str = "prefix_search",
    method: str = "radix_select",
    max_src: int = 2**14,
    max_dst: int = 2**18,
    subgroup_size: int | None = None,
    software: bool = False,
) -> LoadoutGraph:
    """The frame graph that finds the k best loadouts of up to `max_src` partial ones and `max_dst` whole ones a device.

    devices: how many gpu0, gpu1 ... share the partial loadouts; gpu0 culls and merges.
    Raises ValueError, UnsupportedError for a strategy or method that cannot be part of a graph.
    """
    if not 1 <= devices <= MOST_DEVICES:
        raise ValueError(f"devices={devices!r}: give 1 to {MOST_DEVICES}")
    chosen = _choice("strategy", strategy, strategies())
    selecting = _choice("method", method, top_k_methods())
    if chosen.modelled or selecting.finish is not None:
        what, name = ("strategy", strategy) if chosen.modelled else ("method", method)
        raise UnsupportedError(f"{what}={name!r}: its work is not all on the device, so it is no part of a graph")
    making = _Making(pool, k, devices, max_src, max_dst)
    making.cull()
    for number in range(devices):
        making.spawn(number)
        making.expand(number, chosen, ExpansionSizes(max_src, max_dst, WORKGROUP, subgroup_size))
        making.score(number)
        sizes = SelectionSizes(max_dst, min(k, max_dst), FORMATS["float32"], True, software)
        making.select(number, selecting, sizes)
    output = making.winners(0) if devices == 1 else making.merge()
    making.graph.output(output)
    return LoadoutGraph(making.graph, pool, making.inputs, making.k, devices, max_src, max_dst, output)


def _choice(what: str, name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise ValueError(f"{what}={name!r}: use one of {', '.join(known)}")
    return known[name]


class _Making:
    """The graph while its passes are added."""

    def __init__(self, pool: Pool, k: int, devices: int, max_src: int, max_dst: int):
        self.pool, self.devices = pool, devices
        self.k = max(1, min(k, max_dst))
        self.max_src, self.max_dst = max_src, max_dst
        self.graph = FrameGraph({f"gpu{number}": ["compute"] for number in range(devices)})
        self.inputs: dict[str, np.ndarray] = {}
        slots = len(pool.sizes)
        self.constants = {"WG": WORKGROUP, "SLOTS": slots, "LEADING": pool.leading, "SETS": pool.set_count,
                          "ITEMS": sum(pool.sizes)}  # fmt: skip
        self.row = 1 + slots
        self.graph.buffer("pool", 4 * len(pool.words([(0, 0)])), imported=True)
        self.graph.buffer("lists", 4 * (slots + 2 * slots * pool.set_count + sum(pool.sizes)))

    def at(self, name: str, number: int) -> str:
        """What something of a device is called: by its name alone where there is one device."""
        return name if self.devices == 1 else f"{name}_{number}"

    def add(
        self, name: str, file: str, entry: str, number: int, groups: Any, twin: Any, writes: dict[str, str],
        rename: dict[str, str], source: wgsl.Source | None = None, **constants: int,
    ) -> None:  # fmt: skip
        """Add a pass whose buffers are read off its shader. writes: {variable: mode} where it is not read_write."""
        source = source or wgsl.load(f"{_SHADERS}/{file}.wgsl", constants=self.constants | constants)
        bindings = {b.name: rename.get(b.name, b.name) for b in source.bindings}
        accesses = [Access(bindings[b.name], writes.get(b.name, "read_write") if b.writes else "read")
                    for b in source.bindings]  # fmt: skip
        if isinstance(groups, str):
            accesses.append(Access(groups, "read", usage="indirect"))
        kernel = Kernel(source, entry, bindings, groups, twin=twin)
        self.graph.add_pass(self.at(name, number) if number >= 0 else name, accesses, kernel=kernel,
                            device=f"gpu{max(0, number)}")  # fmt: skip

    def cull(self) -> None:
        """Cull the items, on the first device."""
        groups = (len(self.pool.sizes), 1, 1)
        self.add("cull", "cull", "cull", -1, groups, twins.cull(self.pool), {"lists": "write"}, {})

    def spawn(self, number: int) -> None:
        """Count what each partial loadout spawns."""
        self.graph.buffer(self.at("counts", number), 4 * self.max_src)
        self.add(
            "spawn", "spawn", "spawn", number, fold_threads(self.max_src, WORKGROUP), twins.spawn(self.pool, number),
            {"counts": "write"}, {"counts": self.at("counts", number)}, MAX_SRC=self.max_src, DEVICE=number,
        )  # fmt: skip

    def expand(self, number: int, strategy: Any, sizes: ExpansionSizes) -> None:
        """Expand them, by a strategy of `xl.strategies()`."""
        built = Passes(strategy, sizes, store(sizes.max_dst), prepared=True)
        strategy.passes(built)
        built.publish()
        self._include(built.graph, "expand", number, {"counts": self.at("counts", number)})
        name = self._named("expand", number)
        # All src are there, those beyond the partial loadouts with N = 0.
        given = {"params": params_words(sizes.max_src, sizes.max_dst, sizes), **built.imported}
        self.inputs |= {name(resource): words for resource, words in given.items()}

    def score(self, number: int) -> None:
        """Score every whole loadout."""
        source, arrays = score_source(
            self.pool.score, self.pool.buffers, len(self.pool.sizes), f"{_SHADERS}/score.wgsl",
            self.constants | {"DEVICE": number},
        )  # fmt: skip
        for name, array in arrays.items():
            if f"score.{name}" not in self.graph.resources:
                self.graph.buffer(f"score.{name}", array.nbytes, imported=True)
            self.inputs[f"score.{name}"] = array
        self.graph.buffer(self.at("scores", number), 16 * max(1, -(-self.max_dst // 4)))
        name = self._named("expand", number)
        rename = {item: name(item) for item in ("state", "out_src", "out_local")}
        rename |= {"scores": self.at("scores", number), **{item: f"score.{item}" for item in arrays}}
        self.add("score", "score", "score_loadouts", number, name("next"), twins.score(self.pool, number),
                 {"scores": "write"}, rename, source)  # fmt: skip

    def select(self, number: int, method: Any, sizes: SelectionSizes) -> None:
        """Hand over how many scores there are, select by a method of `xl.top_k_methods()`, and note the winners."""
        expand, select = self._named("expand", number), self._named("select", number)
        self.graph.buffer(select("params"), 32)
        self.graph.buffer(self.winners(number), 4 * (HEAD + self.k * self.row))
        words = selection_words(0, sizes, NO_BOUND)
        self.add(
            "hand_over", "hand_over", "hand_over", number, (1, 1, 1), twins.hand_over(self.pool, words),
            {"params": "write", "winners": "write"},
            {"state": expand("state"), "params": select("params"), "winners": self.winners(number)},
            K=sizes.k, LIST_ROOM=sizes.list_room, KEPT_ROOM=sizes.kept_room, MAX_N=sizes.max_n,
        )  # fmt: skip
        built = Selection(method, sizes)
        method.passes(built)
        shared = {"params": select("params"), "values": self.at("scores", number)}
        self._include(built.graph, "select", number, shared)
        self.inputs |= {select(resource): words for resource, words in built.imported.items()}
        rename = {item: expand(item) for item in ("out_src", "out_local")}
        rename |= {item: select(item) for item in ("out_indices", "out_values")}
        self.add(
            "winners", "winners", "note_winners", number, fold_threads(self.k, WORKGROUP),
            twins.winners(self.pool, number, self.k, HEAD), {}, rename | {"winners": self.winners(number)},
            K=self.k, HEAD=HEAD, DEVICE=number,
        )  # fmt: skip

    def winners(self, number: int) -> str:
        """The buffer of a device's best."""
        return self.at("best_of", number) if self.devices > 1 else "best"

    def merge(self) -> str:
        """Merge the best of all devices on the first one."""
        self.graph.buffer("best", 4 * (self.devices * HEAD + self.k * self.row))
        cases = "".join(
            f"        case {number}u: {{ return winners_{number}[word]; }}\n" for number in range(self.devices - 1)
        )
        lines = [
            f"@group(0) @binding({number}) var<storage, read> winners_{number}: array<u32>;"
            for number in range(self.devices)
        ]
        lines += [
            f"@group(0) @binding({self.devices}) var<storage, read_write> best: array<u32>;",
            "fn word_of(device: u32, word: u32) -> u32 {",
            f"    switch (device) {{\n{cases}        default: {{ return winners_{self.devices - 1}[word]; }}",
            "    }\n}",
        ]
        constants = self.constants | {"K": self.k, "HEAD": HEAD, "DEVICES": self.devices, "FORMAT": 0, "PER_WORD": 1,
                                      "LARGEST": 1}  # fmt: skip
        source = wgsl.load(f"{_SHADERS}/merge.wgsl", constants=constants,
                           slots={"devices": wgsl.from_text("\n".join(lines), "<devices>")})  # fmt: skip
        self.add(
            "merge", "merge", "merge_winners", -1, fold_threads(self.devices * self.k, WORKGROUP),
            twins.merge(self.pool, self.devices, self.k, HEAD), {"best": "write"},
            {f"winners_{number}": self.winners(number) for number in range(self.devices)}, source,
        )  # fmt: skip
        return "best"

    def _named(self, part: str, number: int) -> Any:
        return lambda name: self.at(f"{part}.{name}", number)

    def _include(self, other: FrameGraph, part: str, number: int, shared: dict[str, str]) -> None:
        include(self.graph, other, name=self._named(part, number), shared=shared, device=f"gpu{number}")


def partial_bound(pool: Pool) -> int:
    """How many partial loadouts there can be."""
    return math.prod(pool.sizes[: pool.leading])


__all__ = ["HEAD", "TASK", "LoadoutGraph", "loadout_graph", "partial_bound"]
