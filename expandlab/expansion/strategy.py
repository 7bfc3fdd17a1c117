"""What a strategy is: an account of itself, its passes, and the model of its threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab import wgsl
from expandlab.graph import Access, Draws, FrameGraph, Kernel, Repeat
from expandlab.graph.fold import fold_threads

if TYPE_CHECKING:
    from expandlab.expansion.thread_map import Memory, ThreadMap

# Words of `State` in shaders/lib/state.wgsl.
TOTAL, FAILURE, REQUIRED, MAX_N = range(4)
STATE_WORDS = 4
# A binding must hold one element of its array; the largest that our shaders declare has twelve words.
_LARGEST_ELEMENT = 48
FAILED_CAPACITY, FAILED_OVERFLOW, FAILED_THREADS, FAILED_LOOP, FAILED_SRC = 1, 2, 4, 8, 16


@dataclass(frozen=True)
class Sizes:
    """What a prepared expansion is sized for.

    `subgroup_size` is the device's, or None where it is not known.
    """

    max_src: int
    max_dst: int
    workgroup_size: int
    subgroup_size: int | None

    @property
    def align(self) -> int:
        """Threads that bucket strategies round to: a subgroup, or a workgroup where its size is not known."""
        return min(self.subgroup_size or self.workgroup_size, self.workgroup_size)


@dataclass(frozen=True)
class Strategy:
    """One way to map threads to spawned items.

    title, summary: for people. solution: the number in the source document, as text, or None. needs: features that
    the device must have. max_src, max_dst: caps on the input, or None. modelled: True where only `thread_map` works.
    memory_formula: bytes of the buffers between the passes, for P1 src, P2 items and WG threads in a workgroup, up to a
    few hundred; a Python expression. Empty where nothing of ours is between them.
    """

    name: str
    title: str
    solution: str | None
    summary: str
    needs: tuple[str, ...] = ()
    max_src: int | None = None
    max_dst: int | None = None
    modelled: bool = False
    memory_formula: str = ""
    # Adds the passes to a graph; None for a modelled strategy.
    passes: Callable[[Passes], None] | None = field(default=None, repr=False, compare=False)
    # The CPU model of threads, steps and memory.
    model: Callable[[np.ndarray, Sizes], ThreadMap] | None = field(default=None, repr=False, compare=False)
    # (buffers, counts, sizes) -> what pass 1 wrote, from the named transient buffers, a model's or a device's.
    memory: Callable[[dict[str, np.ndarray], np.ndarray, Sizes], tuple[Memory, ...]] | None = field(
        default=None, repr=False, compare=False
    )
    memory_buffers: tuple[str, ...] = field(default=(), repr=False)
    # Why these counts are too much for the strategy, or None; for caps that no single number states.
    refuses: Callable[[np.ndarray], str | None] = field(default=lambda counts: None, repr=False, compare=False)
    # Whether threads without an item begin too, so that a device can record them.
    records_idle: bool = field(default=True, repr=False)
    # Whether atomics decide the places of the items, so that they may differ between runs.
    atomic_order: bool = field(default=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The public fields as plain Python."""
        names = ("name", "title", "solution", "summary", "needs", "max_src", "max_dst", "modelled", "memory_formula")
        return {name: getattr(self, name) for name in names} | {"needs": list(self.needs)}


@dataclass(frozen=True, eq=False)
class EndingBuffer:
    """A buffer of an ending: its bytes, its resource in the graph, and what it holds before, None = nothing."""

    size: int
    resource: str
    before: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Ending:
    """How pass 2 ends: the WGSL that defines `begin` and `emit`, its buffers by variable, and its NumPy twin.

    slots: what fills `<emit>` and the slots inside it: a file, or a text of the caller's.
    twin: called as `twin(buffers, src, local, dst)` with the buffers that it declares; None = GPU only.
    uses_dst: False where a body leaves its `dst` alone, so that no strategy has to find it.
    """

    slots: Mapping[str, str | wgsl.Source]
    buffers: Mapping[str, EndingBuffer]
    twin: Callable[[Any, np.ndarray, np.ndarray, np.ndarray], None] | None
    uses_dst: bool = True


class Passes:
    """The graph of one expansion while a strategy adds its passes.

    Bindings are read off the shaders: a variable is the resource of the same name, and a pass reads or writes it as
    the shader declares. So a strategy cannot say one thing and do another.
    """

    def __init__(
        self, strategy: Strategy, sizes: Sizes, ending: Ending, *, prepared: bool = False, checked: bool = True
    ):
        # A prepared expansion checks on the device what `expand` has checked before.
        self.prepared = prepared
        self._checked = checked
        self.graph = FrameGraph()
        self.sizes = sizes
        # (counts, P2) -> threads of the pass that have something to do.
        self.useful: dict[str, Callable[[np.ndarray, int], int]] = {}
        self.imported: dict[str, np.ndarray] = {}
        self._folder = f"expansion/{strategy.name}"
        self._ending = ending
        self.graph.buffer("params", 32, imported=True)
        self.graph.buffer("counts", 4 * sizes.max_src, imported=True)
        self._expansions = 0
        self.words("state", STATE_WORDS)
        self.words("indirect", 3)

    def words(self, name: str, count: int) -> None:
        """Declare a transient buffer of `count` u32, at least one element of any type that a shader may give it."""
        self.graph.buffer(name, max(_LARGEST_ELEMENT, 4 * count))

    def constants(self, name: str, values: np.ndarray) -> None:
        """Declare an imported buffer with contents that follow from the sizes alone."""
        self.imported[name] = np.ascontiguousarray(values, np.uint32)
        self.graph.buffer(name, self.imported[name].nbytes, imported=True)

    def add(
        self,
        name: str,
        *,
        threads: int | str | tuple[str, int],
        useful: Callable[[int, int], int],
        twin: Callable[[Any], None],
        file: str | None = None,
        overwrites: tuple[str, ...] = (),
        rename: Mapping[str, str] | None = None,
        constants: Mapping[str, int] | None = None,
        slots: Mapping[str, str] | None = None,
    ) -> None:
        """Add a pass.

        name: the pass, its entry point, and its file in the strategy's folder unless `file` says otherwise.
        threads: how many to launch, or the buffer that says so: its name, or (name, offset in bytes).
        useful: (P1, P2) -> how many of the threads have something to do, for the report.
        overwrites: resources whose earlier contents do not matter to the pass.
        rename: {variable: resource} where the names differ.
        constants: WGSL constants besides WG, the workgroup size. slots: {slot: file} of the shader's own slots.
        """
        file = file or f"{self._folder}/{name}.wgsl"
        self._add(name, file, threads, useful, twin, overwrites, rename, constants, slots or {})

    def reset(self, *names: str) -> None:
        """Add the passes that zero buffers that later passes count in."""
        for name in names:
            pass_name = "reset" if name == "state" else f"reset_{name}"
            self._add(
                pass_name, "expansion/reset.wgsl", 1, lambda p1, p2: 1, _reset_twin, (name,), {"words": name}, None, {},
                entry="reset",
            )  # fmt: skip
        if self.prepared and "state" in names:
            self.add(
                "admit", file="expansion/admit.wgsl", threads=1, useful=lambda p1, p2: 1, twin=_admit_twin,
                constants={"MAX_SRC": self.sizes.max_src},
            )  # fmt: skip

    def publish(self) -> None:
        """Add the last pass of a prepared expansion: the arguments of a dispatch over the items, in `next`."""
        self.words("next", 3)
        self.add(
            "publish", file="expansion/publish.wgsl", threads=1, useful=lambda p1, p2: 1, twin=_publish_twin,
            overwrites=("next",),
        )  # fmt: skip
        self.graph.output("next")
        self.graph.output("state")

    def expand(
        self,
        name: str,
        *,
        twin: Callable[[Any], tuple[np.ndarray, np.ndarray, np.ndarray]],
        file: str | None = None,
        entry: str | None = None,
        indirect: str | tuple[str, int] | Repeat | Draws | int = "indirect",
        useful: Callable[[int, int], int] = lambda p1, p2: p2,
        useful_of: Callable[[np.ndarray], int] | None = None,
        constants: Mapping[str, int] | None = None,
        rename: Mapping[str, str] | None = None,
        slots: Mapping[str, str] | None = None,
    ) -> None:
        """Add a pass that expands, and so ends as the caller of the expansion wants; one dispatch of pass 2.

        twin: returns (src, local, dst). file, entry: where the names differ from the pass's. indirect: the buffer of
        the dispatch's arguments, or (buffer, offset in bytes), or what launches many; or how many threads. useful,
        constants, rename, slots: as of `add`; useful_of: the same from the counts, where P1 and P2 do not tell.
        """
        first = self._expansions == 0
        if first:
            for buffer in self._ending.buffers.values():
                self._declare_ending(buffer)
        ending = self._ending.twin

        def whole(b: Any) -> None:
            ending(b, *twin(b))

        slots = {**self._ending.slots, **(slots or {})}
        if isinstance(indirect, Draws) and "invocation" in slots:
            # A vertex is told no place in a subgroup.
            slots["invocation"] = "lib/invocation_vertex.wgsl"
        # Later dispatches of pass 2 add to what the first one wrote.
        self._add(
            name, file or f"{self._folder}/{name}.wgsl", indirect, useful, whole if ending else None,
            self._fresh() if first else (),
            {name: b.resource for name, b in self._ending.buffers.items()} | dict(rename or {}),
            {"DISPATCH": self._expansions, **(constants or {})},
            slots, entry=entry, runs_anyway=True,
        )  # fmt: skip
        if useful_of is not None:
            self.useful[name] = lambda counts, p2: useful_of(counts)
        self._expansions += 1

    def _declare_ending(self, buffer: EndingBuffer) -> None:
        if buffer.before is None:
            self.graph.buffer(buffer.resource, max(_LARGEST_ELEMENT, buffer.size))
        else:
            # Exactly as large as the caller's array: its shader may ask for the length.
            self.graph.buffer(buffer.resource, buffer.size, imported=True)
            self.imported[buffer.resource] = buffer.before
        self.graph.output(buffer.resource)

    def _fresh(self) -> tuple[str, ...]:
        return tuple(buffer.resource for buffer in self._ending.buffers.values() if buffer.before is None)

    def _add(
        self,
        name: str,
        file: str,
        threads: int | str | tuple[str, int] | Repeat | Draws,
        useful: Callable[[int, int], int],
        twin: Callable[[Any], None] | None,
        overwrites: tuple[str, ...],
        rename: Mapping[str, str] | None,
        constants: Mapping[str, int] | None,
        slots: Mapping[str, str | wgsl.Source],
        entry: str | None = None,
        runs_anyway: bool = False,
    ) -> None:
        size = self.sizes.workgroup_size
        # What the caller wrote is always checked.
        foreign = any(isinstance(slot, wgsl.Source) for slot in slots.values())
        source = wgsl.load(file, constants={"WG": size, **(constants or {})}, slots=slots)
        bindings = {b.name: (rename or {}).get(b.name, b.name) for b in source.bindings}
        accesses = []
        for binding in source.bindings:
            resource = bindings[binding.name]
            if binding.writes:
                accesses.append(Access(resource, "write" if resource in overwrites else "read_write"))
            else:
                usage = "uniform" if binding.address == "uniform" else "storage"
                accesses.append(Access(resource, "read", usage=usage))
        workgroups: Any = threads
        if isinstance(threads, int):
            workgroups = fold_threads(threads, size)
        kernel = Kernel(source, entry or name, bindings, workgroups, self._checked or foreign, _sized(twin, size))
        accesses += [Access(buffer, "read", usage="indirect") for buffer in kernel.arguments]
        # A body may write nothing that is brought back; it runs, and its faults are found, all the same.
        self.graph.add_pass(name, accesses, kernel=kernel, side_effect=runs_anyway)
        self.useful[name] = lambda counts, p2: useful(len(counts), p2)

    @property
    def uses_dst(self) -> bool:
        """Whether the ending asks for `dst`."""
        return self._ending.uses_dst

    @property
    def scratch_bytes(self) -> int:
        """Bytes of the transient buffers, the ending's own aside."""
        ending = {buffer.resource for buffer in self._ending.buffers.values()}
        return sum(
            resource.size
            for resource in self.graph.resources.values()
            if not resource.imported and resource.name not in ending
        )


def _sized(twin: Callable[[Any], None] | None, workgroup_size: int) -> Callable[[Any], None] | None:
    """`twin` with the constant that its shader has too."""
    if twin is None:
        return None

    def sized(b: Any) -> None:
        b.workgroup_size = workgroup_size
        twin(b)

    return sized


def _admit_twin(b: Any) -> None:
    """`run` has checked the number of src already."""


def _publish_twin(b: Any) -> None:
    b.next[:3] = fold_threads(int(b.state[TOTAL]), b.workgroup_size)


def _reset_twin(b: Any) -> None:
    b.words[:] = 0


def params_words(src_count: int, capacity: int, sizes: Sizes, bases: tuple[int, int, int] = (0, 0, 0)) -> np.ndarray:
    """The words of `Params` in shaders/lib/params.wgsl. bases: of src, of the first src's local, of dst."""
    return np.array([src_count, capacity, sizes.align, *bases, 0, 0], np.uint32)


def settle_twin(b: Any, total: int, threads: int | None = None) -> None:
    """Twin of `settle` and `launch` in shaders/lib/settle.wgsl."""
    failure = int(b.state[FAILURE])
    if total >= 2**32:
        failure |= FAILED_OVERFLOW
    elif total > int(b.params[1]):
        failure |= FAILED_CAPACITY
    if threads is not None and threads >= 2**32:
        failure |= FAILED_THREADS
    b.state[REQUIRED] = total & 0xFFFFFFFF
    b.state[FAILURE] = failure
    b.state[TOTAL] = 0 if failure else total
    b.indirect[:3] = fold_threads(0 if failure else (total if threads is None else threads), b.workgroup_size)
