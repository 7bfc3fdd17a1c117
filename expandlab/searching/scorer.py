"""The score pass on one device: its graph, its program, and one range of picks at a time, exactly."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.errors import UnsupportedError
from expandlab.gpu import Device
from expandlab.graph import FrameGraph, Kernel
from expandlab.graph.fold import fold_threads
from expandlab.searching.leaders import Leaders
from expandlab.searching.space import digits_of
from expandlab.topk.keys import keys_of
from expandlab.user_wgsl import BodyBuffer, arguments, check_function, checked_buffer, declarations, mapping_of
from expandlab.wgsl_limits.tokens import Declaration
from expandlab.wgsl_limits.values import Values
from expandlab.wgsl_names import clashes, renamed

WORKGROUP = 256
# Picks of a thread: enough that the division for its first one does not matter.
CHAIN = 32
# A pass that no bound narrows may find all its picks, so this is the first pass's size, too.
_LEAST_ROOM = 4096
# Long enough that launching and reading back do not matter, short enough to be cancelled and to keep a screen alive.
_PASS_S = (0.05, 0.2)
_LARGEST_PASS = 2**30


def score_source(
    score: Any,
    buffers: Mapping[str, Any] | None,
    slots: int,
    file: str = "search/score.wgsl",
    more: Mapping[str, int] | None = None,
) -> tuple[wgsl.Source, dict[str, np.ndarray]]:
    """The pass's shader around the caller's `fn score`, and the caller's arrays by the names that they have in it.

    file: the shader. more: constants of its own.

    Raises TypeError or ValueError naming the argument, ShaderError where the text defines no `score`.
    """
    signature = f"fn score(pick: array<u32, {slots}>) -> f32"
    if not isinstance(score, str):
        raise TypeError(f"score={score!r}: give WGSL text that defines {signature}")
    check_function(score, "score", "score", signature, partial(_fault, slots))
    given = {name: checked_buffer(name, value) for name, value in mapping_of(buffers).items()}
    for name, item in given.items():
        if item.atomic:
            raise ValueError(f"buffers[{name!r}]: a score only reads; leave xl.atomic out")
    given = {name: BodyBuffer(item.array, writes=False) for name, item in given.items()}
    names = clashes(score, given, ("lib", "topk", "search"), "score")
    constants = {"WG": WORKGROUP, "SLOTS": slots, "CHAIN": CHAIN, "FORMAT": 0, "PER_WORD": 1, "LARGEST": 1} | dict(
        more or {}
    )
    text = {"buffers": declarations(given, names), "score": renamed(score, names, "score", "score")}
    source = wgsl.load(file, constants=constants, slots=text)
    return source, {names.get(name, name): np.ravel(item.array) for name, item in given.items()}


def _fault(slots: int, values: Values, item: Declaration) -> tuple[int, str] | None:
    """Where the declaration is not that of a `score` for so many slots; what cannot be worked out may be."""
    text, words = values.text, values.words
    given = arguments(text, item)
    if len(given) != 1:
        return item.begin - 1, f"has {len(given)} arguments"
    place = given[0][0] + 2
    found, _ = values.type_at(place)
    element = words[place + 2] if words[place : place + 2] == ["array", "<"] else ""
    if words[place - 1] != ":" or (found.element is None and found.size):
        return place, "is given no array"
    if found.element is not None and found.count is None and found.size == 0:
        return place, "is given an array without a size"
    if found.count not in (None, slots):
        return place, f"is given {found.count} elements"
    if element and values.scalars.get(element, "u32") != "u32":
        return place, f"is given elements of {element}"
    behind = text.behind(item.begin)
    if words[behind] != "->" or values.scalars.get(words[behind + 1]) != "f32" or words[behind + 2] != "{":
        return behind, "has another result"
    return None


class Scorer:
    """Searches ranges of picks on one device and adds what it finds to the leaders."""

    def __init__(self, space: tuple[int, ...], score: str, k: int, buffers: Mapping[str, Any] | None, device: Device):
        if device.is_reference:
            raise UnsupportedError(
                "device='reference': a score is WGSL, which NumPy cannot run; use a GPU or a software Vulkan adapter "
                "(`expandlab doctor` says how to get one)"
            )
        self.device = device
        self.space = space
        self.room = max(_LEAST_ROOM, 4 * k)
        self.passes = 0
        self.picks = 0
        self.gpu_ms: float | None = 0.0
        self.words_back = 0
        source, arrays = score_source(score, buffers, len(space))
        self.graph = self._graph(source, arrays)
        self._program = self.graph.compile().program(device)
        self._program.upload({f"score.{name}": array for name, array in arrays.items()})
        # Grows as passes turn out to be quick.
        self._size = self.room

    def close(self) -> None:
        """Give the device's memory back."""
        self._program.close()

    @property
    def size(self) -> int:
        """Picks that the next pass should have."""
        return self._size

    def search(self, begin: int, end: int, leaders: Leaders) -> None:
        """Add the best of picks `begin` .. `end` - 1 to the leaders, exactly."""
        start = time.perf_counter()
        waiting = [(begin, end)]
        while waiting:
            first, last = waiting.pop()
            bits, places, total = self._run(first, last, leaders.bound(first))
            leaders.add(bits, places, first)
            if total > len(bits):
                # Some found no room. What did has raised the bound, so most of them matter no more; and a half of the
                # range has fewer. A range as small as the room cannot fail.
                middle = first + (last - first) // 2
                waiting += [(middle, last), (first, middle)]
        self.picks += end - begin
        self._adapt(time.perf_counter() - start, end - begin)

    def _adapt(self, seconds: float, picks: int) -> None:
        low, high = _PASS_S
        if seconds < low and picks >= self._size:
            self._size = min(self._size * (8 if seconds < low / 8 else 2), _LARGEST_PASS)
        elif seconds > high:
            self._size = max(self._size // 2, self.room)

    def _run(self, first: int, last: int, bound: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, int]:
        picks = last - first
        task = np.array([picks, *bound, self.room, *self.space, *digits_of(first, self.space)], np.uint32)
        launch = np.array(fold_threads(-(-picks // CHAIN), WORKGROUP), np.uint32)
        ran = self._program.run({"task": task, "launch": launch})
        total = int(ran.arrays["tally"][0])
        pairs = ran.arrays["found"].reshape(-1, 2)[: min(total, self.room)]
        self.passes += 1
        self.words_back = max(self.words_back, sum(array.size for array in ran.arrays.values()))
        times = [item.gpu_ms for item in ran.passes]
        self.gpu_ms = None if self.gpu_ms is None or None in times else self.gpu_ms + sum(times)
        # Which of several equal ones found room is chance, but not which of them come first.
        order = np.lexsort((pairs[:, 1], keys_of(np.ascontiguousarray(pairs[:, 0]).view(np.float32), True)))
        return pairs[order, 0], pairs[order, 1], total

    def _graph(self, source: wgsl.Source, arrays: Mapping[str, np.ndarray]) -> FrameGraph:
        graph = FrameGraph()
        graph.buffer("task", 4 * (4 + 2 * len(self.space)), imported=True)
        graph.buffer("launch", 12, imported=True)
        graph.buffer("found", 8 * self.room)
        graph.buffer("tally", 16)
        for name, array in arrays.items():
            graph.buffer(f"score.{name}", array.nbytes, imported=True)
        reset = wgsl.load("expansion/reset.wgsl", constants={"WG": WORKGROUP})
        graph.add_pass("reset", [("tally", "write")], kernel=Kernel(reset, "reset", {"words": "tally"}, (1, 1, 1)))
        accesses: list[Any] = [("task", "read"), ("found", "write"), ("tally", "read_write"),
                               {"resource": "launch", "mode": "read", "usage": "indirect"}]  # fmt: skip
        accesses += [(f"score.{name}", "read") for name in arrays]
        bindings = {"task": "task", "found": "found", "tally": "tally"} | {name: f"score.{name}" for name in arrays}
        graph.add_pass("score", accesses, kernel=Kernel(source, "score_picks", bindings, "launch"))
        graph.output("found")
        graph.output("tally")
        return graph
