"""What a method is: an account of itself and its passes; and the graph while a method adds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab import wgsl
from expandlab.graph import Access, FrameGraph, Kernel
from expandlab.topk.keys import NO_ITEM, Format, keys_of, pairs_of, scores_of
from expandlab.topk.steps import Step

WORKGROUP = 256
# Passes that read all scores stride them with at most so many workgroups: each merges a histogram of its own, so more
# of them cost more than they hide.
READERS = 512
# Scores of a workgroup's tile are four quads for each thread.
TILE_QUADS = 4 * WORKGROUP
# Words of `work` in shaders/topk/work.wgsl.
COUNT_FOUND, COUNT_KEPT, COUNT_LISTED, COUNT_PICKED, BOUND, STATES, HISTOGRAMS, BINS = 0, 1, 2, 3, 4, 16, 128, 2048
# Longer lists than this are sorted, not ranked: ranking compares all pairs.
RANKED = 8192
# A list has at least this much room beyond k, so that the last digit of an index need not be chosen.
SLACK = 1024
_LARGEST_ELEMENT = 48


@dataclass(frozen=True)
class Sizes:
    """What a prepared selection is sized for: at most `max_n` scores of a format, the best `k` of them."""

    max_n: int
    k: int
    form: Format
    largest: bool
    # Whether the device is a CPU: a workgroup that has nothing to do then costs as much as one that reads.
    software: bool = False

    @property
    def list_room(self) -> int:
        """Items that a list holds for the last step.

        Four for each result where they can be ranked: as many as pass the bound of `delegate` where the best k
        are neighbours, since its pieces are made of fours. A CPU sorts sooner than it compares all pairs.
        """
        if self.software:
            return min(self.max_n, max(2 * SLACK, self.k + SLACK))
        return min(self.max_n, max(self.k + SLACK, min(RANKED, 4 * self.k + SLACK)))

    @property
    def kept_room(self) -> int:
        """Items that the buffer holds which later passes read instead of the scores.

        A little more than an eighth of all: the pieces that `delegate` looks at again.
        """
        return max(self.list_room, self.max_n // 7)

    @property
    def quads(self) -> int:
        """Sixteen-byte parts of the scores."""
        return max(1, -(-self.max_n // (4 * self.form.per_word)))

    @property
    def readers(self) -> int:
        """Workgroups of a pass that reads all scores."""
        tiles = -(-self.quads // TILE_QUADS)
        if self.software:
            # Few, but none with so many tiles that llvmpipe would end its loops, after 65 535 rounds.
            return min(READERS, max(min(tiles, 32), -(-tiles // 64)))
        return min(READERS, tiles)


@dataclass(frozen=True)
class Method:
    """One way to select the k best.

    title, summary: for people. solution: how the source document calls it, or None. needs: features that the device
    must have. max_src: cap on the number of scores, max_k: cap on k, or None (`max_dst` is the same cap under the
    strategies' name). modelled: always False; every method runs.
    """

    name: str
    title: str
    solution: str | None
    summary: str
    needs: tuple[str, ...] = ()
    max_src: int | None = None
    max_k: int | None = None
    modelled: bool = False
    # Adds the passes to a graph.
    passes: Callable[[Selection], None] | None = field(default=None, repr=False, compare=False)
    # For a method whose last step is the host's: (arrays of the run, n, sizes, bound, log) -> indices, best first.
    finish: Callable[..., np.ndarray] | None = field(default=None, repr=False, compare=False)

    @property
    def max_dst(self) -> int | None:
        """The cap on the number of results, as a strategy calls it."""
        return self.max_k

    def to_dict(self) -> dict[str, Any]:
        """The public fields as plain Python."""
        names = ("name", "title", "solution", "summary", "needs", "max_src", "max_dst", "max_k", "modelled")
        return {name: getattr(self, name) for name in names} | {"needs": list(self.needs)}


class Selection:
    """The graph of one selection while a method adds its passes.

    Bindings are read off the shaders: a variable is the resource of the same name, and a pass reads or writes it as
    the shader declares.
    """

    def __init__(self, method: Method, sizes: Sizes, *, checked: bool = False):
        self.graph = FrameGraph()
        self.sizes = sizes
        # n -> threads of the pass that have something to do.
        self.useful: dict[str, Callable[[int], int]] = {}
        # What the twins wrote down in the last run.
        self.steps: list[Step] = []
        # Inputs that follow from the sizes alone.
        self.imported: dict[str, np.ndarray] = {}
        self._checked = checked
        self._folder = f"topk/{method.name}"
        self.graph.buffer("params", 32, imported=True)
        # Whole quads: the shaders read sixteen bytes at a time.
        self.graph.buffer("values", 16 * sizes.quads, imported=True)

    def words(self, name: str, count: int) -> None:
        """Declare a transient buffer of `count` u32, at least one element of any type that a shader may give it."""
        self.graph.buffer(name, max(_LARGEST_ELEMENT, 4 * count))

    def result(self) -> None:
        """Declare the result's buffers: the outputs of every method but those that the host finishes."""
        self.graph.buffer("status", 16)
        self.graph.buffer("out_indices", 4 * self.sizes.k)
        self.graph.buffer("out_values", 4 * self.sizes.form.words(self.sizes.k))
        for name in ("status", "out_indices", "out_values"):
            self.graph.output(name)
        if self.sizes.form.per_word > 1:
            # Two results share a word, so it is put together bit by bit.
            self._zero("reset_values", "out_values")

    @property
    def fresh(self) -> tuple[str, ...]:
        """What the last pass overwrites of the result. Scores that share a word are put into words that are zero."""
        names = ("status", "out_indices", "out_values")
        return names[:2] if self.sizes.form.per_word > 1 else names

    def reset(self, extra: int = 0, histograms: int = 0) -> None:
        """Add the pass that zeroes `work`: counters, states, histograms and `extra` words of the method's own."""
        self.words("work", HISTOGRAMS + histograms * BINS + extra)
        self._zero("reset", "work")

    def _zero(self, name: str, resource: str) -> None:
        words = self.graph.resources[resource].size // 4
        self.add(
            name, file="topk/reset.wgsl", entry="reset", groups=min(READERS, -(-words // (8 * WORKGROUP))),
            useful=lambda n: words, twin=_reset, overwrites=(resource,), rename={"work": resource},
        )  # fmt: skip

    def add(
        self,
        name: str,
        *,
        groups: int,
        useful: Callable[[int], int],
        twin: Callable[[Any], None],
        file: str | None = None,
        entry: str | None = None,
        overwrites: tuple[str, ...] = (),
        rename: Mapping[str, str] | None = None,
        constants: Mapping[str, int] | None = None,
        slots: Mapping[str, str] | None = None,
        step: Sequence[int] | None = None,
    ) -> None:
        """Add a pass.

        name: the pass, and its entry point and file in the method's folder unless `entry` and `file` say otherwise.
        groups: how many workgroups of 256 threads. useful: n -> how many threads have something to do, for the report.
        twin: the pass in NumPy; besides the shader's variables it sees `sizes`, `constants` and `log`.
        overwrites: resources whose earlier contents do not matter. rename: {variable: resource} where they differ.
        constants: WGSL constants besides those of every pass. slots: files that fill the shader's slots.
        step: the words of `Step` in shaders/topk/step.wgsl, for a shader that includes it.
        """
        source, given = self._source(file or f"{self._folder}/{name}.wgsl", constants or {}, slots)
        if step is not None:
            rename = {**(rename or {}), "step": f"step.{name}"}
            self.imported[f"step.{name}"] = np.array(step, np.uint32)
            self.graph.buffer(f"step.{name}", 32, imported=True)
        bindings = {b.name: self._resource(b.name, rename or {}) for b in source.bindings}
        accesses = {}
        for binding in source.bindings:
            resource = bindings[binding.name]
            if binding.writes:
                accesses[resource] = Access(resource, "write" if resource in overwrites else "read_write")
            elif resource not in accesses:
                usage = "uniform" if binding.address == "uniform" else "storage"
                accesses[resource] = Access(resource, "read", usage=usage)
        kernel = Kernel(
            source, entry or name, bindings, (groups, 1, 1), self._checked, self._recording(name, twin, given)
        )  # fmt: skip
        self.graph.add_pass(name, list(accesses.values()), kernel=kernel)
        self.useful[name] = useful

    def _source(
        self, file: str, constants: Mapping[str, int], slots: Mapping[str, str] | None
    ) -> tuple[wgsl.Source, dict[str, int]]:
        """The shader, and its constants: the format's only where it matters, so that others are compiled once."""
        form = self.sizes.form
        keys = {"FORMAT": form.code, "PER_WORD": form.per_word, "LARGEST": int(self.sizes.largest)}
        given = {"WG": WORKGROUP, **constants, **keys}
        source = wgsl.load(file, constants=given, slots=slots)
        if any(line.file == "lib/keys.wgsl" for line in source.origin):
            return source, given
        given = {"WG": WORKGROUP, **constants}
        return wgsl.load(file, constants=given, slots=slots), given

    def _resource(self, variable: str, rename: Mapping[str, str]) -> str:
        # The same scores, sixteen bytes at a time.
        return rename.get(variable, "values" if variable == "values4" else variable)

    def _recording(self, name: str, twin: Callable[[Any], None], given: dict[str, int]) -> Callable[[Any], None]:
        def recording(b: Any) -> None:
            b.sizes = self.sizes
            b.constants = given
            b.log = self.log_of(name)
            twin(b)

        return recording

    def log_of(self, name: str) -> Callable[..., None]:
        """What the twin of pass `name`, or the host in its place, writes down with: `log(what, **data)`."""
        return lambda what, **data: self.steps.append(Step(name, what, data))

    @property
    def scratch_bytes(self) -> int:
        """Bytes of the buffers between the passes, the result's own aside."""
        return sum(
            resource.size
            for resource in self.graph.resources.values()
            if not resource.imported and resource.name not in self.graph.outputs
        )


def params_words(n: int, sizes: Sizes, bound: tuple[int, int]) -> np.ndarray:
    """The words of `Params` in shaders/topk/params.wgsl. bound: the pair before which items count."""
    return np.array([n, *bound, sizes.k, sizes.list_room, sizes.kept_room, sizes.max_n, 0], np.uint32)


def _reset(b: Any) -> None:
    b.work[:] = 0


def every_pair(b: Any) -> np.ndarray:
    """For twins: the pairs of all scores, in order of their indices, whether they count or not."""
    n = int(b.params[0])
    return pairs_of(keys_of(scores_of(b.values, b.sizes.form, n), b.sizes.largest), np.arange(n, dtype=np.uint32))


def items_of(b: Any) -> np.ndarray:
    """For twins: the pairs of the scores that count, in order of their indices."""
    pairs = every_pair(b)
    return pairs[pairs < bound_of(b)]


def every_item(b: Any, count: int) -> np.ndarray:
    """For twins: one pair for every score, NO_ITEM for those that do not count, filled up with it to `count`."""
    pairs = every_pair(b)
    pairs[pairs >= bound_of(b)] = NO_ITEM
    return np.concatenate([pairs, np.full(count - len(pairs), NO_ITEM)])


def bound_of(b: Any) -> np.uint64:
    """For twins: the pair before which items count."""
    return pairs_of(b.params[1:2], b.params[2:3])[0]


def read_pairs(words: np.ndarray, count: int) -> np.ndarray:
    """For twins: the first `count` pairs of a buffer of (key, index)."""
    table = words[: 2 * count].reshape(-1, 2)
    return pairs_of(table[:, 0], table[:, 1])


def write_pairs(words: np.ndarray, pairs: np.ndarray, first: int = 0) -> None:
    """For twins: store pairs from place `first` on, as far as there is room."""
    pairs = pairs[: max(0, len(words) // 2 - first)]
    words[2 * first : 2 * (first + len(pairs)) : 2] = (pairs >> np.uint64(32)).astype(np.uint32)
    words[2 * first + 1 : 2 * (first + len(pairs)) : 2] = (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def put_results(b: Any, pairs: np.ndarray) -> None:
    """For twins: the items `pairs`, best first, as the result."""
    index = (pairs & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    scores = scores_of(b.values, b.sizes.form, int(b.params[0]))[index]
    b.out_indices[: len(index)] = index
    raw = b.out_values.view(scores.dtype)
    raw[: len(scores)] = scores
