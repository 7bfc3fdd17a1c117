"""A plan on a page's GPU: the buffers and pipelines stay in the page, runs are many."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from expandlab import wgsl, wgsl_limits
from expandlab.errors import DeviceError
from expandlab.graph import portable
from expandlab.graph.inputs import check_limits, input_words
from expandlab.graph.launch import launched
from expandlab.graph.plan import PassRun, Plan, PlanRun

if TYPE_CHECKING:
    from expandlab.browser.device import PageDevice

_numbers = itertools.count(1)


class Batch(NamedTuple):
    """Times of one run, from a batch: ms on the page's GPU (None without a timer), in the page, and of each pass."""

    gpu_ms: float | None
    wall_ms: float
    pass_ms: tuple[float, ...]


class PageProgram:
    """A plan made ready in the page; runs like `expandlab.graph.execute.Program`.

    external: `PageBuffer`s that belong to somebody else, by resource name, to be used instead of the plan's own.
    """

    def __init__(self, plan: Plan, device: PageDevice, external: Mapping[str, Any] | None = None):
        check_limits(plan.graph, device)
        most = device.limits["max_compute_workgroup_storage_size"]
        for item in plan.passes.values():
            wgsl_limits.check(item.kernel.source, most, by_naga=False)
        self.plan, self.device = plan, device
        self.number = next(_numbers)
        self._closed = False
        text = portable.plan_of(plan.graph, {})
        by_name = {item["name"]: item for item in text["passes"]}
        text |= {"name": "the plan", "needs": [], "passes": [by_name[name] for name in plan.order]}
        self._sources = portable.sources_of(plan.graph)
        wanted = dict.fromkeys(item["shader"] for item in text["passes"])
        self._shaders = {name: self._sources[name].sha256 for name in wanted}
        # Sent with what is asked first: a way to the page and back takes longer than most runs.
        self._unmade: dict[str, Any] | None = {
            "program": self.number, "plan": text, "shaders": self._shaders,
            "external": {name: buffer.number for name, buffer in (external or {}).items()},
        }  # fmt: skip

    def ready(self) -> None:
        """Have it made now. Raises what is wrong with its shaders, as the first run would."""
        if self._unmade is not None:
            self._ask("nothing")

    def _ask(self, what: str, **content: Any) -> Any:
        device = self.device
        if self._unmade is None:
            return device.ask(what, program=self.number, **content)
        texts = {
            hashed: self._sources[name].text for name, hashed in self._shaders.items() if hashed not in device.texts
        }
        try:
            answer = device.ask(what, program=self.number, make=self._unmade | {"texts": texts}, **content)
        except DeviceError as error:
            told = getattr(error, "content", {})
            if told.get("shader") not in self._sources:
                raise
            fault = f":{told['line']}:{told['column']} error: {told['text']}"
            raise wgsl.explain(self._sources[told["shader"]], fault) from None
        device.texts.update(texts)
        self._unmade = None
        return answer

    def __enter__(self) -> PageProgram:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the page's memory back."""
        if not self._closed:
            self._closed = True
            # Where it was asked for and the answer is missing the page may have it all the same.
            self.device.link.post(self.device.page, "close", program=self.number)

    def upload(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Write the imported resources."""
        self._check_open()
        self._ask("write", words=input_words(self.plan.graph, inputs))

    def run(
        self, inputs: Mapping[str, np.ndarray], *, replaced: Mapping[str, Any] | None = None, timed: bool = True
    ) -> PlanRun:
        """Upload `inputs`, run every pass, and bring the outputs back. `transfer_ms` is the way there and back."""
        self._check_open()
        if replaced:
            raise DeviceError("browser device: buffers of another device cannot be used in the page; give arrays")
        graph = self.plan.graph
        kernels = [self.plan.passes[name].kernel for name in self.plan.order]
        wanted = dict.fromkeys([*graph.outputs, *(name for kernel in kernels for name in kernel.arguments)])
        start = time.perf_counter()
        reads = [{"name": name, "bytes": graph.resources[name].size} for name in wanted]
        done = self._ask("run", words=input_words(graph, inputs), reads=reads, timed=timed)
        wall_ms = (time.perf_counter() - start) * 1e3 - done.told["made_ms"]
        arrays = {name: done.arrays[name][: graph.resources[name].size // 4] for name in wanted}
        passes = tuple(
            PassRun(name, launched(kernel, arrays), ms)
            for name, kernel, ms in zip(self.plan.order, kernels, done.told["ms"], strict=True)
        )
        transfer_ms = max(0.0, wall_ms - done.told["ran_ms"])
        return PlanRun({name: arrays[name] for name in graph.outputs}, passes, wall_ms, transfer_ms)

    def sample(self) -> tuple[list[float | None], float]:
        """Run every pass on what was uploaded, bring nothing back, and return (ms of each pass, ms on the wall)."""
        done = self._ask("run", reads=[], timed=True)
        return done.told["ms"], done.told["ran_ms"]

    def words(self, name: str) -> np.ndarray:
        """What a resource holds now: uint32."""
        size = self.plan.graph.resources[name].size
        done = self._ask("read", reads=[{"name": name, "bytes": size}])
        return done.arrays[name][: size // 4]

    def _check_open(self) -> None:
        if self._closed:
            raise DeviceError("this was closed and its memory given back; make a new one")


def batch(programs: Sequence[PageProgram], runs: int, stamped: bool = True) -> Batch:
    """`runs` runs of all programs, pass by pass side by side, in one submission; the times are one run's.

    The passes are timed in further runs of the first program, as many, up to what a page can stamp: their sums are
    right on average though each stamp is coarsened.
    """
    device = programs[0].device
    for item in programs:
        item.ready()
    told = device.ask("batch", programs=[item.number for item in programs], runs=runs, timed=stamped).told
    return Batch(told["gpu_ms"], told["wall_ms"], tuple(told["pass_ms"] or ()))
