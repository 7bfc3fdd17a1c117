"""A page's GPU as an open device: whatever runs a frame graph on a device runs it there too."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from expandlab import wgsl
from expandlab.browser.link import NO_PAGE, Link
from expandlab.errors import DeviceError
from expandlab.gpu import Device, DeviceInfo
from expandlab.gpu.limits import DEFAULT_LIMITS

_numbers = itertools.count(1)


@dataclass(frozen=True)
class PageInfo(DeviceInfo):
    """A page's adapter as a row of `devices()`. software: a software adapter, so that times measure the CPU."""

    software: bool = False

    @property
    def is_software(self) -> bool:
        """True where times measure the CPU."""
        return self.software

    @property
    def label(self) -> str:
        """One line for menus and plots."""
        return f"{self.name} ({self.backend}{', software adapter' * self.software})"


class PageDevice(Device):
    """The GPU of one page. It is made when the page answers, and useless when the page is gone.

    Calls block until the page answers, so they belong on a thread that does not hear the page; see `Link`.
    """

    is_reference = False
    is_page = True

    def __init__(self, link: Link):
        super().__init__(info_of(link))
        self.link = link
        self.page, self.losses = link.page, link.losses
        self.features = self.info.features
        self.limits = dict(self.info.limits)
        # Hashes of the shaders that the page has.
        self.texts: set[str] = set()

    @property
    def gone(self) -> bool:
        """Whether what was made on it is gone: its page, or the device that the page had."""
        return (self.page, self.losses) != (self.link.page, self.link.losses)

    @cached_property
    def timestamp_period_ns(self) -> float | None:
        """Browsers give nanoseconds, coarsened to `timer_step_ms`; None without timestamps."""
        return 1.0 if "timestamp-query" in self.features else None

    @property
    def timer_step_ms(self) -> float:
        """The step to which the page coarsens its timestamps, as seen in those that came so far; 0 before any."""
        return (self.link.step_ns or 0.0) * 1e-6

    @cached_property
    def subgroup_size(self) -> int | None:
        """Lanes in a subgroup, as a kernel counted them in the page; None where it has no subgroup operations."""
        if "subgroups" not in self.features:
            return None
        from expandlab.graph import FrameGraph, Kernel

        graph = FrameGraph()
        graph.buffer("size", 4, imported=True)
        kernel = Kernel(wgsl.load("lib/subgroup_size.wgsl"), "measure", ["size"], (1, 1, 1))
        graph.add_pass("measure", [("size", "read_write")], kernel=kernel)
        graph.output("size")
        with self.program(graph.compile()) as program:
            return int(program.run({}).arrays["size"][0])

    def program(self, plan: Any, external: Any = None) -> Any:
        """A plan made ready in the page."""
        from expandlab.browser.program import PageProgram

        return PageProgram(plan, self, external)

    def ask(self, what: str, **content: Any) -> Any:
        """Have the page do something and wait for its answer."""
        return self.link.ask(self.page, what, **content)

    def errors(self, doing: str) -> Any:
        """What goes wrong in the page is a DeviceError already."""
        return nullcontext()

    def buffer(self, size: int, usage: str = "STORAGE|COPY_SRC|COPY_DST", label: str = "") -> PageBuffer:
        """A zeroed buffer of at least `size` bytes in the page, rounded up to whole words."""
        return PageBuffer(self, max(4, -(-size // 4) * 4), usage)

    def batch(self, programs: Any, runs: int, timed: bool) -> Any:
        """Times of one run, from `runs` runs of all programs in one submission; see `program.batch`."""
        from expandlab.browser.program import batch

        return batch(programs, runs, timed)

    def clear(self, buffers: list[PageBuffer], size: int, runs: int, timed: bool) -> tuple[float | None, float]:
        """(ms on the page's GPU, ms in the page) of one clear of the buffers' first `size` bytes, of `runs`."""
        told = self.ask("clear", ids=[buffer.number for buffer in buffers], bytes=size, runs=runs, timed=timed).told
        return told["gpu_ms"], told["wall_ms"]

    def wait(self) -> None:
        """Wait until everything asked for is done: the page does one thing after the other."""
        self.ask("nothing")


class PageBuffer:
    """A buffer in the page. number: what the page knows it by."""

    def __init__(self, device: PageDevice, size: int, usage: str):
        self.device, self.size, self.number = device, size, next(_numbers)
        device.link.post(device.page, "buffer", id=self.number, bytes=size, usage=usage.split("|"))

    def write(self, words: Any) -> None:
        """Write 32-bit words, from the beginning on."""
        self.device.ask("fill", words={"words": words}, id=self.number)

    def destroy(self) -> None:
        """Give its memory back."""
        self.device.link.post(self.device.page, "drop", id=self.number)


def info_of(link: Link) -> PageInfo:
    """The adapter of the page that is there. Raises DeviceError where there is none, or no page."""
    if link.fault:
        raise DeviceError(f"browser device: {link.fault}")
    if not link.adapter:
        raise DeviceError(NO_PAGE)
    found = link.adapter
    return PageInfo(
        index=-1,
        name=f"this browser: {found['name']}",
        kind="browser",
        backend="WebGPU",
        driver=found["agent"],
        features=tuple(found["features"]),
        # The page asks for no more, so that what runs there runs anywhere.
        limits=dict(DEFAULT_LIMITS),
        software="swiftshader" in str(found).lower(),
    )
