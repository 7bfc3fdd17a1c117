"""Runs a plan on one wgpu device, timing every pass."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import DeviceError
from expandlab.gpu.device import POINT_FORMAT
from expandlab.graph.inputs import check_limits, input_words
from expandlab.graph.joined import Joined
from expandlab.graph.kernel import Kernel
from expandlab.graph.launch import Draws, Repeat, launched
from expandlab.graph.plan import PassRun, Plan, PlanRun

if TYPE_CHECKING:
    from expandlab.gpu import Device

_USAGE = {"storage": "STORAGE", "uniform": "UNIFORM", "indirect": "INDIRECT", "copy": "COPY_SRC", "index": "INDEX"}


class Program:
    """A plan on a device: its buffers, pipelines and bind groups, made once; `run` as often as wanted.

    `external` gives buffers that belong to somebody else, by resource name; they are used as they are.
    """

    def __init__(self, plan: Plan, device: Device, external: Mapping[str, Any] | None = None):
        self.plan = plan
        self.device = device
        self._external = dict(external or {})
        self._buffers: dict[str, Any] = {}
        self._owned: list[Any] = []
        self._closed = False
        self._query_set: Any = None
        self._replacements: dict[Any, Any] = {}
        check_limits(plan.graph, device)
        try:
            with device.lock, device.errors("preparing the passes"):
                self._make_buffers()
                self._bindings = self._make_bindings(self._buffers)
                self._make_timer()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the device's memory back. Waiting for the garbage collector would keep it for too long."""
        with self.device.lock:
            self._closed = True
            self.device.destroy(*self._owned)
            self._owned.clear()
            self._buffers.clear()
            self._replacements.clear()

    def buffer(self, name: str) -> Any:
        """The GPU buffer of a resource."""
        self._check_open()
        return self._buffers[name]

    def record(
        self, encoder: Any, *, timed: bool = False, replaced: Mapping[str, Any] | None = None, keep: int = 16
    ) -> None:
        """Record every pass into `encoder`, in the plan's order.

        replaced: buffers of the caller's to use instead of the program's own, by resource name. The bindings of the
        last `keep` such sets are kept.
        """
        self._check_open()
        bindings = self._bindings if not replaced else self._replaced_bindings(replaced, keep)
        if not timed or self._query_set is None:
            with Joined(encoder) as joined:
                for index in range(len(self.plan.order)):
                    self._record_joined(joined, index, bindings)
            return
        for index in range(len(self.plan.order)):
            stamps = {
                "query_set": self._query_set,
                "beginning_of_pass_write_index": 2 * index,
                "end_of_pass_write_index": 2 * index + 1,
            }
            self._record_pass(encoder, index, bindings, stamps)

    def record_pass(self, encoder: Any, index: int, stamps: Mapping[str, Any] | None = None) -> None:
        """Record pass number `index` of the plan's order alone. stamps: wgpu's `timestamp_writes`."""
        self._check_open()
        self._record_pass(encoder, index, self._bindings, stamps)

    def record_joined(self, joined: Joined, index: int) -> None:
        """Record pass number `index` of the plan's order behind others in the same compute pass, where it can be."""
        self._check_open()
        self._record_joined(joined, index, self._bindings)

    @property
    def draws(self) -> bool:
        """Whether some pass needs a render pass."""
        return any(isinstance(item.kernel.workgroups, Draws) for item in self.plan.passes.values())

    def _record_joined(self, joined: Joined, index: int, bindings: Mapping[str, Any]) -> None:
        item = self.plan.order[index]
        kernel = self.plan.passes[item].kernel
        if isinstance(kernel.workgroups, Draws):
            self._record_draws(joined.end(), kernel.workgroups, *bindings[item], {"label": item})
        else:
            self._dispatch(joined.compute(), kernel, *bindings[item])

    def _record_pass(
        self, encoder: Any, index: int, bindings: Mapping[str, Any], stamps: Mapping[str, Any] | None
    ) -> None:
        item = self.plan.order[index]
        kernel = self.plan.passes[item].kernel
        options = {"label": item, **({"timestamp_writes": stamps} if stamps else {})}
        if isinstance(kernel.workgroups, Draws):
            self._record_draws(encoder, kernel.workgroups, *bindings[item], options)
            return
        work = encoder.begin_compute_pass(**options)
        self._dispatch(work, kernel, *bindings[item])
        work.end()

    def _dispatch(self, work: Any, kernel: Kernel, pipeline: Any, groups: Mapping[int, Any]) -> None:
        work.set_pipeline(pipeline)
        moving = _moving_group(kernel)
        for number, group in groups.items():
            if number != moving:
                work.set_bind_group(number, group)
        if isinstance(kernel.workgroups, Repeat):
            repeat, buffer = kernel.workgroups, self._buffers[kernel.workgroups.buffer]
            for place in range(0, repeat.count * repeat.stride, repeat.stride):
                work.set_bind_group(moving, groups[moving], (place,))
                work.dispatch_workgroups_indirect(buffer, place)
        elif kernel.indirect is not None:
            name, offset = kernel.indirect
            work.dispatch_workgroups_indirect(self._buffers[name], offset)
        elif all(kernel.workgroups):
            # A direct dispatch of zero groups is legal, and has frozen a driver (gfx-rs/wgpu#6467).
            work.dispatch_workgroups(*kernel.workgroups)

    def _record_draws(
        self, encoder: Any, draws: Draws, pipeline: Any, groups: Mapping[int, Any], options: dict[str, Any]
    ) -> None:
        from wgpu.backends.wgpu_native.extras import multi_draw_indirect_count

        # A render pass must have an attachment; this one is only looked at, and no point reaches it.
        view = {"view": self._attachment, "depth_read_only": True, "depth_load_op": None, "depth_store_op": None}
        work = encoder.begin_render_pass(color_attachments=[], depth_stencil_attachment=view, **options)
        work.set_pipeline(pipeline)
        for number, group in groups.items():
            work.set_bind_group(number, group)
        multi_draw_indirect_count(
            work, self._buffers[draws.buffer], offset=0,
            count_buffer=self._buffers[draws.drawn], count_buffer_offset=0, max_count=draws.most,
        )  # fmt: skip
        work.end()

    def upload(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Write the imported resources."""
        self._check_open()
        with self.device.lock, self.device.errors("writing the inputs"):
            for name, data in input_words(self.plan.graph, inputs).items():
                if data.nbytes:
                    self.device.gpu.queue.write_buffer(self._buffers[name], 0, data)

    def run(
        self, inputs: Mapping[str, np.ndarray], *, replaced: Mapping[str, Any] | None = None, timed: bool = True
    ) -> PlanRun:
        """Upload `inputs`, run every pass, and bring the outputs back.

        replaced: as of `record`. timed=False leaves the timestamps on the device: nothing but the outputs comes back.
        """
        wanted = dict.fromkeys([*self.plan.graph.outputs, *self._indirect()])
        # Another thread's inputs may not come between these and their passes.
        with self.device.lock:
            self.upload(inputs)
            arrays, times, wall_ms = self._submit(list(wanted), replaced, timed)
        passes = tuple(
            PassRun(name, self._workgroups(name, arrays), times[index]) for index, name in enumerate(self.plan.order)
        )
        return PlanRun({name: arrays[name] for name in self.plan.graph.outputs}, passes, wall_ms)

    def sample(self) -> tuple[list[float | None], float]:
        """Run every pass on what was uploaded, bring nothing back, and return (ms of each pass, ms on the wall)."""
        _, times, wall_ms = self._submit([])
        return times, wall_ms

    def _submit(
        self, wanted: list[str], replaced: Mapping[str, Any] | None = None, timed: bool = True
    ) -> tuple[dict[str, np.ndarray], list[float | None], float]:
        gpu = self.device.gpu
        with self.device.lock, self.device.errors("running " + ", ".join(self.plan.order)):
            start = time.perf_counter()
            encoder = gpu.create_command_encoder()
            self.record(encoder, timed=timed, replaced=replaced)
            copies = {name: self._copy_out(encoder, self._buffers[name]) for name in wanted}
            ticks = self._copy_ticks(encoder) if timed else None
            gpu.queue.submit([encoder.finish()])
            arrays = {name: self._words(name, staging) for name, staging in copies.items()}
            times = self._times(ticks)
            if ticks is None and not wanted:
                # Nothing was mapped, so nothing has waited for the device yet.
                self.device.wait()
            return arrays, times, (time.perf_counter() - start) * 1e3

    def _words(self, name: str, staging: Any) -> np.ndarray:
        return self.device.take(staging)[: self.plan.graph.resources[name].size // 4]

    def _check_open(self) -> None:
        if self._closed:
            raise DeviceError("this was closed and its memory given back; make a new one")

    def _make_buffers(self) -> None:
        usages: dict[str, set[str]] = {name: set() for name in self.plan.graph.resources}
        for item in self.plan.passes.values():
            for access in item.accesses:
                usages[access.resource].add(_USAGE[access.usage])
        for name, resource in self.plan.graph.resources.items():
            if resource.kind == "image":
                continue
            if name in self._external:
                self._buffers[name] = self._external[name]
                continue
            usage = "|".join(sorted(usages[name] | {"COPY_SRC", "COPY_DST"}))
            self._buffers[name] = self._own(self.device.buffer(resource.size, usage, name))

    def _replaced_bindings(self, replaced: Mapping[str, Any], keep: int) -> dict[str, tuple[Any, dict[int, Any]]]:
        # The buffers are kept with their bindings, so that an id cannot come to mean another one.
        key = tuple((name, id(buffer)) for name, buffer in sorted(replaced.items()))
        found = self._replacements.pop(key, None)
        if found is None:
            found = (dict(replaced), self._make_bindings({**self._buffers, **replaced}))
        self._replacements[key] = found
        while len(self._replacements) > keep:
            del self._replacements[next(iter(self._replacements))]
        return found[1]

    def _make_bindings(self, buffers: Mapping[str, Any]) -> dict[str, tuple[Any, dict[int, Any]]]:
        bindings: dict[str, tuple[Any, dict[int, Any]]] = {}
        for item in self.plan.passes.values():
            source, resources = item.kernel.source, item.kernel.resources()
            pipeline = self._pipeline(item.kernel)
            repeat = item.kernel.workgroups if isinstance(item.kernel.workgroups, Repeat) else None
            entries: dict[int, dict[int, tuple[Any, int, int]]] = {}
            for binding in source.bindings:
                name = resources[binding.name]
                size = max(4, -(-self.plan.graph.resources[name].size // 4) * 4)
                if repeat is not None and binding.name == repeat.variable:
                    size = repeat.stride
                size = min(size, buffers[name].size)
                entries.setdefault(binding.group, {})[binding.binding] = (buffers[name], 0, size)
            bindings[item.name] = (
                pipeline,
                {group: self.device.bind(pipeline, group, members) for group, members in entries.items()},
            )
        return bindings

    def _pipeline(self, kernel: Kernel) -> Any:
        if isinstance(kernel.workgroups, Draws):
            return self.device.point_pipeline(kernel.source, kernel.entry, checked=kernel.checked)
        moving = kernel.workgroups.variable if isinstance(kernel.workgroups, Repeat) else None
        return self.device.pipeline(kernel.source, kernel.entry, checked=kernel.checked, moving=moving)

    @cached_property
    def _attachment(self) -> Any:
        usage = "RENDER_ATTACHMENT"
        return self._own(self.device.gpu.create_texture(size=(1, 1, 1), format=POINT_FORMAT, usage=usage)).create_view()

    def _make_timer(self) -> None:
        if self.device.timestamp_period_ns is None or not self.plan.order:
            return
        count = 2 * len(self.plan.order)
        self._query_set = self._own(self.device.gpu.create_query_set(type="timestamp", count=count))
        self._ticks = self._own(self.device.buffer(8 * count, "QUERY_RESOLVE|COPY_SRC", "ticks"))

    def _own(self, item: Any) -> Any:
        self._owned.append(item)
        return item

    def _indirect(self) -> list[str]:
        return [name for item in self.plan.passes.values() for name in item.kernel.arguments]

    def _workgroups(self, name: str, arrays: Mapping[str, np.ndarray]) -> tuple[int, int, int]:
        return launched(self.plan.passes[name].kernel, arrays)

    def _copy_out(self, encoder: Any, buffer: Any) -> Any:
        staging = self.device.buffer(buffer.size, "MAP_READ|COPY_DST", "read back")
        encoder.copy_buffer_to_buffer(buffer, 0, staging, 0, buffer.size)
        return staging

    def _copy_ticks(self, encoder: Any) -> Any:
        if self._query_set is None:
            return None
        encoder.resolve_query_set(self._query_set, 0, 2 * len(self.plan.order), self._ticks, 0)
        return self._copy_out(encoder, self._ticks)

    def _times(self, staging: Any) -> list[float | None]:
        if staging is None:
            return [None] * len(self.plan.order)
        ticks = self.device.take(staging).view(np.uint64).reshape(-1, 2)
        # Some drivers return an end before its beginning when the counter restarts; such a sample says nothing.
        spans = np.where(ticks[:, 1] >= ticks[:, 0], ticks[:, 1] - ticks[:, 0], 0)
        return [float(span) * self.device.timestamp_period_ns * 1e-6 for span in spans]


def _moving_group(kernel: Kernel) -> int | None:
    """The bind group that a repeated dispatch sets anew each time, or None."""
    if not isinstance(kernel.workgroups, Repeat):
        return None
    return next(b.group for b in kernel.source.bindings if b.name == kernel.workgroups.variable)
