"""The reader's own GPU: a device whose passes run in the page that shows the notebook."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
from traitlets import Unicode

from expandlab import counts as _counts
from expandlab.browser import PLAYER
from expandlab.errors import CapacityError, DeviceError
from expandlab.expansion.arguments import pick_strategy, power_of_two
from expandlab.expansion.body import body_ending, results
from expandlab.expansion.endings import store
from expandlab.expansion.passes import build, check_state, check_total, refuse_oversize
from expandlab.expansion.report import Expansion, report_of
from expandlab.expansion.strategy import Sizes, params_words
from expandlab.gpu.adapters import DeviceInfo
from expandlab.graph import FrameGraph, portable
from expandlab.graph.launch import launched
from expandlab.graph.plan import PassRun, PlanRun, input_words
from expandlab.panels.routing import follow_the_page

# A page that works says so every second. One that is silent for this long was closed, reloaded or has hung.
SILENCE_S = 5.0
# Messages larger than this are refused by some servers between kernel and page.
CHUNK = 4 * 2**20
_WAITING = "browser device: waiting for this page's WebGPU"


@dataclass
class _Job:
    """What a run in the page has brought so far."""

    loop: asyncio.AbstractEventLoop
    page: str
    answers: asyncio.Queue[tuple[dict[str, Any], list[Any]]] = field(default_factory=asyncio.Queue)
    arrays: dict[str, bytearray] = field(default_factory=dict)


@dataclass(frozen=True)
class _Seat:
    """What the checks and the report of an expansion ask a device for."""

    info: DeviceInfo
    features: frozenset[str]
    limits: Mapping[str, int]
    timestamp_period_ns: float | None
    is_reference: bool = False


class BrowserDevice(anywidget.AnyWidget):
    """A device of kind `browser`: show it in a cell, then await its methods.

        device = xl.browser_device()
        device
        # in another cell
        e = await device.expand([3, 1, 2], "po2_merged")

    `info` says which adapter the page has. Strategies need what WebGPU in a browser has: no 64-bit atomics. The page
    does the work; a page that is closed or reloaded meanwhile is a DeviceError within five seconds, and the next call
    runs in the page that is there then.
    """

    _esm = PLAYER.read_text(encoding="utf-8") + (Path(__file__).parent / "browser.js").read_text(encoding="utf-8")

    status = Unicode(_WAITING).tag(sync=True)

    def __init__(self, **kwargs: Any):
        self._turn = threading.Lock()
        self._here = threading.Event()
        self._page = ""
        self._adapter: dict[str, Any] = {}
        self._fault = ""
        self._jobs: dict[int, _Job] = {}
        self._numbers = itertools.count(1)
        super().__init__(**kwargs)
        follow_the_page(self)
        self.on_msg(self._heard)

    @property
    def info(self) -> DeviceInfo:
        """The page's adapter, as a row of `devices()`. Raises DeviceError before the page has answered."""
        if not self._adapter:
            raise DeviceError(self._fault or "browser device: no page shows it yet; end a cell with it, then go on")
        limits = {_snake(name): int(value) for name, value in self._adapter["limits"].items()}
        software = "swiftshader" in str(self._adapter).lower()
        return DeviceInfo(
            index=-1,
            name=f"this browser: {self._adapter['name']}",
            kind="cpu" if software else "browser",
            backend="WebGPU",
            driver=self._adapter["agent"],
            features=tuple(self._adapter["features"]),
            limits=limits,
        )

    async def ready(self, patience_s: float = 30.0) -> DeviceInfo:
        """Wait until a page shows the device; returns its `info`. Raises DeviceError after `patience_s` seconds."""
        self.send({"kind": "ask"})
        end = time.monotonic() + patience_s
        while not self._here.is_set():
            if time.monotonic() > end:
                raise DeviceError(
                    "browser device: no page answered; show it at the end of a cell, in a front end with widgets"
                )
            await asyncio.sleep(0.05)
        return self.info

    async def expand(
        self,
        counts: Any,
        strategy: str = "auto",
        *,
        body: str | None = None,
        buffers: Mapping[str, Any] | None = None,
        capacity: int | None = None,
        workgroup_size: int = 256,
    ) -> Expansion:
        """`expandlab.expand` in the page: arguments, result and errors are the same.

        `report.wall_ms` is the whole way there and back; `report.passes` have the page's own times, in the steps to
        which browsers coarsen them.
        """
        values = _counts.check(counts)
        power_of_two("workgroup_size", workgroup_size, 32, 256)
        seat = _seat(await self.ready())
        chosen = pick_strategy(strategy, values, seat)
        total = check_total(values)
        if capacity is not None and total > capacity:
            raise CapacityError(
                f"capacity={capacity:,}: the counts spawn {total:,} items; give capacity={total} or more",
                required=total,
                capacity=capacity,
            )
        # The page does not tell one subgroup size: buckets are rounded to workgroups, which holds for all.
        sizes = Sizes(len(values), total, workgroup_size, None)
        built = build(chosen, sizes, store(total) if body is None else body_ending(body, buffers))
        refuse_oversize(built, seat, total)
        inputs = {"counts": values, "params": params_words(len(values), total, sizes)}
        ran = await self.run(built.graph, {**inputs, **built.imported}, needs=chosen.needs)
        check_state(ran.arrays["state"], total, built, seat)
        return Expansion(
            src=ran.arrays["out_src"][:total] if body is None else None,
            local=ran.arrays["out_local"][:total] if body is None else None,
            total=total,
            buffers=results(ran.arrays, buffers),
            report=report_of(built, ran, chosen, sizes, seat, values, total),
            graph=built.graph,
        )

    async def run(self, graph: FrameGraph, inputs: Mapping[str, np.ndarray], *, needs: tuple[str, ...] = ()) -> PlanRun:
        """Run a graph's passes in the page, once; returns its output arrays (uint32) and the times of the passes.

        Raises DeviceError with the page's own words, or where the page is gone.
        """
        await self.ready()
        words = input_words(graph, inputs)
        plan = portable.plan_of(graph, {}) | {"name": "the graph", "needs": list(needs)}
        shaders = {name: source.text for name, source in portable.sources_of(graph).items()}
        kernels = [item.kernel for item in graph.passes.values()]
        wanted = dict.fromkeys([*graph.outputs, *(name for kernel in kernels for name in kernel.arguments)])
        outputs = [{"name": name, "bytes": graph.resources[name].size} for name in wanted]
        start = time.perf_counter()
        number, job = self._begin()
        try:
            for content, piece in _pieces(words):
                self._hand(number, job, content, piece)
            self._hand(number, job, {"last": True, "plan": plan, "shaders": shaders, "outputs": outputs}, None)
            done = await self._finish(job)
        except asyncio.CancelledError:
            self.send({"kind": "cancel", "job": number})
            raise
        finally:
            with self._turn:
                self._jobs.pop(number, None)
        arrays = {name: np.frombuffer(bytes(data), np.uint32) for name, data in job.arrays.items()}
        passes = tuple(
            PassRun(item["name"], launched(kernel, arrays), item["ms"])
            for item, kernel in zip(done["passes"], kernels, strict=True)
        )
        return PlanRun(arrays, passes, (time.perf_counter() - start) * 1e3)

    def _begin(self) -> tuple[int, _Job]:
        with self._turn:
            number = next(self._numbers)
            job = self._jobs[number] = _Job(asyncio.get_running_loop(), self._page)
        return number, job

    def _hand(self, number: int, job: _Job, content: dict[str, Any], piece: memoryview | None) -> None:
        self.send({"kind": "input", "job": number, "page": job.page, **content}, [] if piece is None else [piece])

    async def _finish(self, job: _Job) -> dict[str, Any]:
        while True:
            try:
                content, buffers = await asyncio.wait_for(job.answers.get(), SILENCE_S)
            except TimeoutError:
                self._here.clear()
                raise DeviceError(
                    f"browser device: the page has said nothing for {SILENCE_S:.0f} s; it was closed or reloaded, or "
                    "it hangs. Show the device again and run again"
                ) from None
            if content["kind"] == "failed":
                raise DeviceError(f"browser device: {content['message']}")
            if content["kind"] == "output":
                array = job.arrays.setdefault(content["name"], bytearray(content["bytes"]))
                piece = bytes(buffers[0])
                array[content["offset"] : content["offset"] + len(piece)] = piece
            if content["kind"] == "done":
                return content

    def _heard(self, _: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        """A message of the page, on whichever thread it came."""
        if content["kind"] == "hello":
            self._met(content)
            return
        with self._turn:
            job = self._jobs.get(content.get("job"))
        if job is not None and job.page == content["page"]:
            job.loop.call_soon_threadsafe(job.answers.put_nowait, (content, buffers))

    def _met(self, content: dict[str, Any]) -> None:
        with self._turn:
            lost = [job for job in self._jobs.values() if job.page != content["page"]]
            self._page = content["page"]
            self._adapter = content.get("adapter", {})
            self._fault = f"browser device: {content['error']}" if "error" in content else ""
        for job in lost:
            gone = {"kind": "failed", "message": "the page was reloaded while it ran; run again"}
            job.loop.call_soon_threadsafe(job.answers.put_nowait, (gone, []))
        self._here.set()
        self.status = self._fault or f"browser device: {self._adapter['name']} is ready"


def browser_device() -> BrowserDevice:
    """A device that runs in the page: show it at the end of a cell, then `await device.expand(...)` in another."""
    return BrowserDevice()


def _seat(info: DeviceInfo) -> _Seat:
    timer = 1.0 if "timestamp-query" in info.features else None
    return _Seat(info, frozenset(info.features), info.limits, timer)


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def _pieces(words: Mapping[str, np.ndarray]) -> Iterator[tuple[dict[str, Any], memoryview]]:
    for name, array in words.items():
        data = memoryview(np.ascontiguousarray(array)).cast("B")
        for offset in range(0, len(data), CHUNK):
            yield {"name": name, "offset": offset, "bytes": len(data)}, data[offset : offset + CHUNK]
