"""A plan on a page's GPU: the buffers and pipelines stay in the page, runs are many."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from expandlab import wgsl
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
        self.plan, self.device = plan, device
        self.number = next(_numbers)
        self._closed = False
        text = portable.plan_of(plan.graph, {})
        by_name = {item["name"]: item for item in text["passes"]}
        text |= {"name": "the plan", "needs": [], "passes": [by_name[name] for name in plan.order]}
        sources = portable.sources_of(plan.graph)
        wanted = {item["shader"] for item in text["passes"]}
        try:
            device.ask(
                "make", program=self.number, plan=text,
                shaders={name: source.text for name, source in sources.items() if name in wanted},
                external={name: buffer.number for name, buffer in (external or {}).items()},
            )  # fmt: skip
        except DeviceError as error:
            content = getattr(error, "content", {})
            if content.get("shader") not in sources:
                raise
            fault = f":{content['line']}:{content['column']} error: {content['text']}"
            raise wgsl.explain(sources[content["shader"]], fault) from None

    def __enter__(self) -> PageProgram:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the page's memory back."""
        if not self._closed:
            self._closed = True
            self.device.link.post(self.device.page, "close", program=self.number)

    def upload(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Write the imported resources."""
        self._check_open()
        self.device.ask("write", program=self.number, words=input_words(self.plan.graph, inputs))

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
        done = self.device.ask(
            "run", program=self.number, words=input_words(graph, inputs), reads=reads, timed=timed
        )  # fmt: skip
        wall_ms = (time.perf_counter() - start) * 1e3
        arrays = {name: done.arrays[name][: graph.resources[name].size // 4] for name in wanted}
        passes = tuple(
            PassRun(name, launched(kernel, arrays), ms)
            for name, kernel, ms in zip(self.plan.order, kernels, done.told["ms"], strict=True)
        )
        transfer_ms = max(0.0, wall_ms - done.told["ran_ms"])
        return PlanRun({name: arrays[name] for name in graph.outputs}, passes, wall_ms, transfer_ms)

    def sample(self) -> tuple[list[float | None], float]:
        """Run every pass on what was uploaded, bring nothing back, and return (ms of each pass, ms on the wall)."""
        done = self.device.ask("run", program=self.number, reads=[], timed=True)
        return done.told["ms"], done.told["ran_ms"]

    def words(self, name: str) -> np.ndarray:
        """What a resource holds now: uint32."""
        size = self.plan.graph.resources[name].size
        done = self.device.ask("read", program=self.number, reads=[{"name": name, "bytes": size}])
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
    told = device.ask("batch", programs=[item.number for item in programs], runs=runs, timed=stamped).told
    return Batch(told["gpu_ms"], told["wall_ms"], tuple(told["pass_ms"] or ()))
