"""Runs a plan on several wgpu devices: each with its own buffers and its own passes, copies through the host's memory.

A worker thread for each device goes through the plan's order. Before a pass it keeps the plan's waits, which here say
that a pass of another device has been submitted; then it brings over the plan's copies for the pass. Bytes that several
devices need are read from their source once, by a copy that is submitted right behind their last writer, so that no
later pass delays it; the source's next writer comes behind it. Other devices, and the passes that a device has in
flight, go on meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import DeviceError, GraphError, UnknownNameError, UnsupportedError
from expandlab.graph.copies import Copy
from expandlab.graph.inputs import input_words
from expandlab.graph.sending import Sent

if TYPE_CHECKING:
    from expandlab.gpu import Device
    from expandlab.graph.plan import Plan


_Key = tuple[str, int, int, tuple[str, ...]]


@dataclass(frozen=True)
class Span:
    """When something happened in a run, in us from its start: a pass, or a copy (with its resource's name)."""

    device: str
    kind: str
    name: str
    begin_us: float
    end_us: float


@dataclass(frozen=True)
class SeveralRun:
    """One run: output arrays (uint32), and when each pass and copy was under way, by the host's clock.

    A pass's span ends when the device has finished it if the run was `timed`, otherwise when it was submitted.
    """

    arrays: dict[str, np.ndarray]
    spans: tuple[Span, ...]
    wall_ms: float


def assigned(plan: Plan, devices: Any) -> dict[str, Any] | None:
    """{the graph's device: what the caller gives for it}, or None where one device does everything.

    Raises UnknownNameError, GraphError naming `devices`.
    """
    used = [name for name in plan.graph.devices or ("gpu0",) if name in set(plan.devices.values())]
    if isinstance(devices, Mapping):
        unknown = [name for name in devices if name not in plan.graph.devices]
        missing = [name for name in used if name not in devices]
        if unknown:
            raise UnknownNameError(f"devices[{unknown[0]!r}]: the graph has {', '.join(plan.graph.devices)}")
        if missing:
            raise GraphError(f"devices: none for {', '.join(missing)}, which has passes of the plan")
        return {name: devices[name] for name in used}
    if isinstance(devices, (list, tuple)):
        if len(devices) < len(used):
            raise GraphError(f"devices: {len(devices)} of them, and the plan's passes are on {', '.join(used)}")
        return dict(zip(used, devices, strict=False))
    return None


class Several:
    """A plan on several devices, prepared once; `run` as often as wanted.

    devices: {the graph's device: an open device}.
    """

    def __init__(self, plan: Plan, devices: Mapping[str, Device]):
        self.plan = plan
        self.devices = dict(devices)
        pages = [name for name, device in self.devices.items() if device.is_page]
        if pages:
            raise UnsupportedError(
                f"devices[{pages[0]!r}]: {self.devices[pages[0]].info.name} cannot be one of several; passes on "
                "several devices wait for each other, and a page does one thing after the other. Give it the whole plan"
            )
        for copy in plan.copies:
            if copy.range[0] % 4 or copy.range[1] % 4:
                raise GraphError(
                    f"{copy!r}: these bytes are no whole words of four, and a run copies whole ones; align the ranges"
                )
        self._stack = ExitStack()
        try:
            self._shares = {
                name: self._stack.enter_context(_Share(plan, name, device)) for name, device in self.devices.items()
            }
        except BaseException:
            self._stack.close()
            raise

    def __enter__(self) -> Several:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the devices' memory back."""
        self._stack.close()

    def run(self, inputs: Mapping[str, np.ndarray], *, timed: bool = False, in_turn: bool = False) -> SeveralRun:
        """Upload `inputs` to every device that uses them, run the plan, and put the outputs together.

        timed: wait for every pass, so that its span ends when the device has finished it.
        in_turn: one pass or copy after the other, in the plan's order, so that none slows another down.

        Raises DeviceError with the device that failed and the passes that were in flight; the plan can be run again
        on the devices that are left.
        """
        start = time.perf_counter()
        words = input_words(self.plan.graph, inputs)
        run = _Run(self.plan, self._shares, start, timed)
        for name, share in self._shares.items():
            with run.reporting(name, "before its first pass"):
                share.upload(words)
        if in_turn:
            run.work(self.plan.order)
        else:
            orders = [(share.order,) for share in self._shares.values()]
            threads = [threading.Thread(target=run.work, args=order, name="passes of a device") for order in orders]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        run.check()
        arrays = {name: self._output(name, words, run) for name in self.plan.graph.outputs}
        return SeveralRun(arrays, tuple(run.spans), (time.perf_counter() - start) * 1e3)

    def _output(self, name: str, words: Mapping[str, np.ndarray], run: _Run) -> np.ndarray:
        size = self.plan.graph.resources[name].size // 4
        found = np.zeros(size, np.uint32)
        given = words.get(name, found)[:size]
        found[: len(given)] = given
        for low, high, device in self._homes(name):
            with run.reporting(device, f"after its last pass, reading {name!r}"):
                found[low // 4 : high // 4] = run.read(device, name, low, high)
        return found

    def _homes(self, name: str) -> list[tuple[int, int, str]]:
        """Where the last writer of each byte ran: ranges, none of which overlap."""
        size = self.plan.graph.resources[name].size
        homes: list[tuple[int, int, str]] = []
        for item in self.plan.order:
            device = self.plan.devices[item]
            for access in self.plan.passes[item].accesses:
                if access.resource == name and access.writes:
                    low, high = access.range or (0, size)
                    homes = [piece for home in homes for piece in _without(home, low, high)] + [(low, high, device)]
        return homes


def _without(home: tuple[int, int, str], low: int, high: int) -> list[tuple[int, int, str]]:
    begin, end, device = home
    pieces = [(begin, min(end, low), device), (max(begin, high), end, device)]
    return [piece for piece in pieces if piece[0] < piece[1]]


class _Share:
    """The passes of one device, and its copies of the resources that they use."""

    def __init__(self, plan: Plan, name: str, device: Device):
        from expandlab.graph.execute import Program
        from expandlab.graph.reference import ReferenceProgram

        self.device = device
        self.order = [item for item in plan.order if plan.devices[item] == name]
        self._number = {item: index for index, item in enumerate(self.order)}
        part = _Part(plan, self.order)
        self._program = (ReferenceProgram if device.is_reference else Program)(part, device)
        self._resources = set(part.graph.resources)

    def __enter__(self) -> _Share:
        return self

    def __exit__(self, *_: Any) -> None:
        self._program.close()

    def upload(self, words: Mapping[str, np.ndarray]) -> None:
        """Write the inputs that this device's passes use."""
        self._program.upload({name: data for name, data in words.items() if name in self._resources})

    def write(self, name: str, low: int, data: np.ndarray) -> None:
        """Set bytes from `low` on."""
        if self.device.is_reference:
            self._program.words(name)[low // 4 : low // 4 + len(data)] = data
            return
        with self.device.lock, self.device.errors(f"writing {name}"):
            self.device.gpu.queue.write_buffer(self._program.buffer(name), low, data)

    def send(self, name: str, low: int, high: int) -> Sent:
        """Bytes `low` .. `high`, as they are after everything that was submitted before."""
        where = self._program.words(name) if self.device.is_reference else self._program.buffer(name)
        return Sent(self.device, where, low, high, name)

    def submit(self, item: str, wait: bool) -> None:
        """Run one pass; wait: until the device has finished it."""
        if self.device.is_reference:
            self._program.run_pass(item)
            return
        with self.device.lock, self.device.errors(f"running {item}"):
            encoder = self.device.gpu.create_command_encoder()
            self._program.record_pass(encoder, self._number[item])
            self.device.gpu.queue.submit([encoder.finish()])
        if wait:
            self.device.wait()


class _Part:
    """What a program needs to know of a plan, of some passes alone."""

    def __init__(self, plan: Plan, order: Sequence[str]):
        from expandlab.graph.frame_graph import FrameGraph

        self.order = list(order)
        self.passes = {item: plan.passes[item] for item in order}
        self.graph = FrameGraph()
        used = {access.resource for item in self.passes.values() for access in item.accesses}
        self.graph.resources = {name: item for name, item in plan.graph.resources.items() if name in used}


class _Lost(DeviceError):
    """A device that could not be read, on behalf of another one's pass."""

    def __init__(self, graph_device: str, error: DeviceError):
        super().__init__(str(error))
        self.graph_device = graph_device


class _Run:
    """One run: how far every queue is, what was copied, and what went wrong."""

    def __init__(self, plan: Plan, shares: Mapping[str, _Share], start: float, timed: bool):
        self._plan = plan
        self._shares = shares
        self._start = start
        self._timed = timed
        self._news = threading.Condition()
        self._values: dict[tuple[str, str], int] = {}
        # What was sent to the host, by resource, bytes and their last writers: once for all devices that need it.
        self._sent: dict[_Key, tuple[Sent, list[str]]] = {}
        self._failed: list[tuple[str, str, BaseException]] = []
        # Of each device: passes begun, or submitted and not known to be done.
        self._flying: dict[str, list[str]] = {name: [] for name in shares}
        self.spans: list[Span] = []
        self._waits = _by_pass(plan.waits)
        self._copies = _by_pass(plan.copies)
        self._keys, self._sends = _sends(plan)

    def work(self, order: Sequence[str]) -> None:
        """Passes one after the other, each with its waits and copies: those of one device, or all."""
        for item in order:
            name = self._plan.devices[item]
            share = self._shares[name]
            try:
                if not self._wait_for(item):
                    return
                for copy in self._copies.get(item, ()):
                    self._bring(copy, share)
                begin = self._now()
                with self._news:
                    self._flying[name].append(item)
                share.submit(item, self._timed)
                end = self._now()
                for key, copy in self._sends.get(item, {}).items():
                    self._send(key, copy, share, name)
                self.spans.append(Span(name, "pass", item, begin, end))
            except BaseException as error:
                lost = error.graph_device if isinstance(error, _Lost) else name
                with self._news:
                    self._failed.append((lost, f"{'in' if lost == name else 'reading for'} pass {item!r}", error))
                    self._news.notify_all()
                return
            with self._news:
                if self._timed:
                    self._flying[name].clear()
                queue = (name, self._plan.queues[item])
                self._values[queue] = self._values.get(queue, 0) + 1
                self._news.notify_all()

    def check(self) -> None:
        """Raise what went wrong."""
        if not self._failed:
            return
        name, where, error = self._failed[0]
        if not isinstance(error, DeviceError):
            raise error
        raise self._told(name, where, error) from error

    @contextmanager
    def reporting(self, name: str, where: str) -> Iterator[None]:
        """Errors of a device, told with the passes that are in flight."""
        try:
            yield
        except DeviceError as error:
            raise self._told(name, where, error) from error

    def read(self, device: str, name: str, low: int, high: int) -> np.ndarray:
        """Bytes of a resource on a device; when they are there, so is all that the device was given before."""
        with self._news:
            given = list(self._flying[device])
        return self._fetched(device, self._shares[device].send(name, low, high), given)

    def _send(self, key: _Key, copy: Copy, share: _Share, name: str) -> None:
        """Send bytes that other devices need, right after their last writer."""
        with self._news:
            given = list(self._flying[name])
        sent = share.send(copy.resource, *copy.range)
        with self._news:
            self._sent[key] = sent, given

    def _fetched(self, device: str, sent: Sent, given: Sequence[str]) -> np.ndarray:
        words = sent.words()
        with self._news:
            self._flying[device] = [item for item in self._flying[device] if item not in given]
        return words

    def _told(self, name: str, where: str, error: DeviceError) -> DeviceError:
        flying = [(owner, item) for owner, items in self._flying.items() for item in items]
        listed = ", ".join(f"{item!r} on {owner}" for owner, item in flying) or "no pass"
        label, why = self._shares[name].device.info.label, str(error).rstrip(".")
        told = DeviceError(
            f"device {name!r} ({label}) failed {where}: {why}. In flight: {listed}. "
            "Run the plan again with other devices in its place"
        )
        told.in_flight = tuple(flying)
        return told

    def _wait_for(self, item: str) -> bool:
        """Keep the plan's waits; False where another device has failed meanwhile."""
        waits = self._waits.get(item, ())

        def ready() -> bool:
            return bool(self._failed) or all(
                self._values.get((wait.device, wait.queue), 0) >= wait.value for wait in waits
            )

        with self._news:
            self._news.wait_for(ready)
            return not self._failed

    def _bring(self, copy: Copy, share: _Share) -> None:
        begin = self._now()
        with self._news:
            # There: this pass has waited for the last writer.
            sent, given = self._sent[self._keys[copy]]
        try:
            words = self._fetched(copy.source, sent, given)
        except DeviceError as error:
            raise _Lost(copy.source, error) from error
        share.write(copy.resource, copy.range[0], words)
        self.spans.append(Span(copy.destination, "copy", copy.resource, begin, self._now()))

    def _now(self) -> float:
        return (time.perf_counter() - self._start) * 1e6


def _by_pass(items: Sequence[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(item.before, []).append(item)
    return found


def _sends(plan: Plan) -> tuple[dict[Copy, _Key], dict[str, dict[_Key, Copy]]]:
    """Of each copy what it brings, and for each pass what is to be sent right after it: bytes that it wrote last."""
    place = {item: number for number, item in enumerate(plan.order)}
    keys: dict[Copy, _Key] = {}
    found: dict[str, dict[_Key, Copy]] = {}
    for copy, move in zip(plan.copies, plan._moves, strict=True):
        writers = tuple(plan._shot.names[number] for number in move.writers)
        keys[copy] = (copy.resource, *copy.range, writers)
        found.setdefault(max(writers, key=place.__getitem__), {})[keys[copy]] = copy
    return keys, found
