"""The reader's own GPU: a device whose passes run in the page that shows the notebook."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Bool, Unicode

from expandlab.browser import PLAYER
from expandlab.browser.device import PageDevice
from expandlab.browser.link import NO_PAGE, Link, Transfer
from expandlab.errors import DeviceError
from expandlab.gpu import BROWSER, lend
from expandlab.gpu.adapters import DeviceInfo
from expandlab.panels.routing import follow_the_page

_WAITING = "browser device: waiting for this page's WebGPU"
# A line for people is written no more often than this; a job that is shorter needs none.
_NEWS_S = 0.3
# How soon an interrupt is noticed.
_GLANCE_S = 0.2
OnProgress = Callable[[Transfer], None]


class BrowserDevice(anywidget.AnyWidget):
    """A device of kind `browser`: show it in a cell, then await its methods.

        device = xl.browser_device()
        device
        # in another cell
        e = await device.expand([3, 1, 2], "po2_merged")

    There is one for each kernel. `info` says which adapter the page has. Strategies need what WebGPU in a browser has:
    no 64-bit atomics. The page does the work; a page that is closed or reloaded meanwhile is a DeviceError within five
    seconds, and the next call runs in the page that is there then. Every method takes `on_progress`, called with a
    `Transfer`; interrupting the cell, or cancelling the task, ends the job in the page too.

    On a thread of its own any call with `device=` takes it, and so do panels under the name "this browser".
    """

    _esm = PLAYER.read_text(encoding="utf-8") + (Path(__file__).parent / "browser.js").read_text(encoding="utf-8")
    _css = ".xl-panel .expandlab-browser-device[data-quiet] { display: none; }"
    # Panels that close leave it alone: it is the kernel's, not theirs.
    shared = True

    status = Unicode(_WAITING).tag(sync=True)
    loud = Bool(False).tag(sync=True)

    def __init__(self, **kwargs: Any):
        self.link = Link(self.send)
        self._opened: PageDevice | None = None
        self._turn = threading.Lock()
        self._news_at = 0.0
        super().__init__(**kwargs)
        follow_the_page(self)
        self.on_msg(lambda _, content, buffers: self.link.heard(content, buffers))
        self.link.on_page.append(self._tell)

    @property
    def info(self) -> DeviceInfo:
        """The page's adapter, as a row of `devices()`. Raises DeviceError before the page has answered."""
        return self.opened.info

    @property
    def opened(self) -> PageDevice:
        """The page's GPU as an open device, for calls that block. Raises DeviceError where no page is there."""
        if not self.link.page:
            raise DeviceError(NO_PAGE)
        with self._turn:
            if self._opened is None or self._opened.gone:
                self._opened = PageDevice(self.link)
            return self._opened

    def wait(self, patience_s: float = 30.0) -> PageDevice:
        """The page's GPU, once a page shows the notebook. Blocks, so it belongs on a thread of its own.

        Raises DeviceError after `patience_s` seconds.
        """
        self.link.call()
        if not self.link.wait_for_page(patience_s):
            raise DeviceError(NO_PAGE)
        return self.opened

    async def ready(self, patience_s: float = 30.0) -> DeviceInfo:
        """Wait until a page shows the device; returns its `info`. Raises DeviceError after `patience_s` seconds."""
        return (await _beside(lambda: self.wait(patience_s))).info

    async def expand(
        self, counts: Any, strategy: str = "auto", *, on_progress: OnProgress | None = None, **options: Any
    ):
        """`expandlab.expand` in the page: arguments, result and errors are the same.

        `report.wall_ms` is the whole way there and back, `report.transfer_ms` what of it went by between kernel and
        page; `report.passes` have the page's own times, in the steps to which browsers coarsen them.
        """
        from expandlab.expansion import expand

        return await self._aside(lambda device: expand(counts, strategy, device=device, **options), on_progress)

    async def record_map(
        self, counts: Any, strategy: str, *, workgroup_size: int = 64, on_progress: OnProgress | None = None
    ) -> Any:
        """`expandlab.record_map` in the page."""
        from expandlab.expansion import record_map

        return await self._aside(
            lambda device: record_map(counts, strategy, device=device, workgroup_size=workgroup_size), on_progress
        )

    async def top_k(self, values: Any, k: int, *, on_progress: OnProgress | None = None, **options: Any) -> Any:
        """`expandlab.top_k` in the page: arguments, result and errors are the same."""
        from expandlab.topk import top_k

        return await self._aside(lambda device: top_k(values, k, device=device, **options), on_progress)

    async def measure(self, what: Any, counts_or_values: Any, **options: Any) -> Any:
        """`expandlab.measure` in the page. Its timestamps are coarse, so batches last as many steps as it takes."""
        from expandlab.measuring import measure

        options.setdefault("cancel", threading.Event())
        found = self._aside(lambda device: measure(what, counts_or_values, device=device, **options))
        try:
            return await found
        except asyncio.CancelledError:
            options["cancel"].set()
            raise

    def stream(self, k: int, *, largest: bool = True, timed: bool = False) -> BrowserStream:
        """`expandlab.TopKStream` in the page, with `await stream.push(values, base)`."""
        return BrowserStream(self, k, largest=largest, timed=timed)

    async def run(self, work: Callable[[PageDevice], Any], *, on_progress: OnProgress | None = None) -> Any:
        """Await `work(device)`, any call that takes `device=`, on a thread of its own."""
        return await self._aside(work, on_progress)

    def close(self) -> None:
        """Nothing: the device is the kernel's, and panels that end leave it to the others."""

    async def _aside(self, work: Callable[[PageDevice], Any], on_progress: OnProgress | None = None) -> Any:
        cancel = threading.Event()

        def told(news: Transfer) -> None:
            self._report(news)
            if on_progress is not None:
                on_progress(news)

        def job() -> Any:
            try:
                device = self.wait()
                with self.link.watched(told, cancel):
                    return work(device)
            finally:
                self._tell()

        try:
            return await _beside(job)
        except asyncio.CancelledError:
            cancel.set()
            raise

    def _report(self, news: Transfer) -> None:
        now = time.monotonic()
        if now - self._news_at >= _NEWS_S and news.total:
            self._news_at = now
            of = f"{news.done / 2**20:.1f} of {news.total / 2**20:.1f} MiB"
            self.status, self.loud = f"browser device: {news.what} {of if news.what != 'running' else ''}".strip(), True

    def _tell(self) -> None:
        """Say how the device is."""
        link = self.link
        if link.fault:
            self.status = f"browser device: {link.fault}"
        elif not link.here and link.page:
            self.status = "browser device: the page that it ran in was closed or reloaded; waiting for another"
        elif link.adapter:
            self.status = f"browser device: {link.adapter['name']} is ready"
        self.loud = False


async def _beside(work: Callable[[], Any]) -> Any:
    """Await `work()`, done by a thread of its own.

    An interrupt cancels the cell's task without waking the loop, which would find out with its next event alone.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        while not (await asyncio.wait({running}, timeout=_GLANCE_S))[0]:
            pass
    finally:
        running.cancel()
    return running.result()


class BrowserStream:
    """A `TopKStream` in the page. `result()` is there at any time; `await close()` gives the page's memory back."""

    def __init__(self, device: BrowserDevice, k: int, *, largest: bool, timed: bool):
        self._device, self._made = device, None
        self._arguments = {"k": k, "largest": largest, "timed": timed}
        self._turn = asyncio.Lock()

    async def push(self, values: Any, base: int = 0, *, on_progress: OnProgress | None = None) -> None:
        """Add scores with the indices `base + i`; as of `TopKStream.push`, arrays alone."""

        def work(device: PageDevice) -> None:
            self._stream(device).push(values, base)

        async with self._turn:
            await self._device._aside(work, on_progress)

    def result(self) -> Any:
        """The best so far, as of `TopKStream.result`."""
        return self._stream(self._device.opened).result()

    async def close(self) -> None:
        """Give the page's memory back. What was found stays."""
        if self._made is not None:
            await _beside(self._made.close)

    def _stream(self, device: PageDevice) -> Any:
        from expandlab.topk import TopKStream

        if self._made is None:
            self._made = TopKStream(device=device, **self._arguments)
        # What was found is the kernel's: a page that was reloaded goes on from there.
        self._made.move(device)
        return self._made


_made: BrowserDevice | None = None
_making = threading.Lock()


def browser_device() -> BrowserDevice:
    """The device that runs in the page, one for each kernel: show it at the end of a cell, then
    `await device.expand(...)` in another."""
    global _made
    with _making:
        if _made is None:
            _made = BrowserDevice()
            lend(BROWSER, lambda: _made.opened)
        return _made
