"""An open device: pipelines, buffers and the facts about it that have to be measured."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any

import numpy as np

from expandlab import wgsl, wgsl_limits
from expandlab.errors import DeviceError, ShaderError
from expandlab.gpu import adapters as _adapters
from expandlab.gpu.adapters import DeviceInfo
from expandlab.gpu.kept import Kept
from expandlab.gpu.limits import DEFAULT_LIMITS, required_limits, standard_limits
from expandlab.gpu.trusted import trusted_module
from expandlab.gpu.waiting import NoAnswer, Waiting

# What some strategy or the timer can use; asked for where the adapter has it, so that a device need not be reopened.
_WANTED_FEATURES = (
    "timestamp-query",
    "subgroup",
    "subgroups",
    "subgroup-barrier",
    "shader-f16",
    "shader-int64",
    "shader-int64-atomic-all-ops",
    "shader-int64-atomic-min-max",
    "indirect-first-instance",
    "multi-draw-indirect-count",
    "vertex-writable-storage",
)
# Of the attachment that a pass of draws must have; nothing is written to it.
POINT_FORMAT = "depth16unorm"
# Compiled shaders that a device keeps; on a software adapter each has some 0.7 MB of machine code.
_MOST_SHADERS = 256
_SUBGROUP_WORDS = ("subgroup", "quadBroadcast", "quadSwap")


class Device:
    """An open device. `xl.device` opens one, `xl.adopt` wraps one; one with `gpu=None` is the NumPy reference.

    `info` is its row of `devices()`; `limits` and `features` are those in force, under the standard's names. Work on
    one device is serialised by `lock`, so a notebook's worker thread and its cells may share it.
    """

    # Whether it is the GPU of a page, see `expandlab.browser`.
    is_page = False
    # The step to which timestamps are coarsened on purpose, in ms.
    timer_step_ms = 0.0

    def __init__(self, info: DeviceInfo, gpu: Any = None):
        self.info = info
        self.gpu = gpu
        self.lock = threading.RLock()
        self._waiting = Waiting()
        self._modules, self._pipelines = Kept(_MOST_SHADERS), Kept(_MOST_SHADERS)
        if gpu is None:
            self.limits: dict[str, int] = dict(DEFAULT_LIMITS)
            self.features: tuple[str, ...] = ()
        else:
            self.limits = standard_limits(gpu.limits)
            self.features = tuple(sorted({_adapters._STANDARD_FEATURE.get(name, name) for name in gpu.features}))

    def __repr__(self) -> str:
        return f"<expandlab device: {self.info.name}, {self.info.kind}, {self.info.backend}>"

    @property
    def is_reference(self) -> bool:
        """True for the NumPy reference."""
        return self.gpu is None

    @cached_property
    def api(self) -> Any:
        """The module that the GPU device comes from (`wgpu`, or another with the same interface)."""
        return importlib.import_module(type(self.gpu).__module__.partition(".")[0])

    @cached_property
    def is_dawn(self) -> bool:
        """True where Tint compiles: it wants `enable subgroups;`, which naga rejects."""
        return "dawn" in self.api.__name__

    @cached_property
    def timestamp_period_ns(self) -> float | None:
        """Nanoseconds in one timestamp tick; None without timestamps."""
        if "timestamp-query" not in self.features:
            return None
        if self.is_dawn:
            return 1.0
        from wgpu.backends.wgpu_native._api import lib

        return float(lib.wgpuQueueGetTimestampPeriod(self.gpu.queue._internal))

    @cached_property
    def subgroup_size(self) -> int | None:
        """Lanes in a subgroup, as a kernel counted them; None where the device has no subgroup operations.

        The reference answers 32, the width of its model.
        """
        if self.is_reference:
            return 32
        if "subgroups" not in self.features:
            return None
        source = wgsl.load("lib/subgroup_size.wgsl")
        with self.lock, self.errors("measuring the subgroup size"):
            pipeline = self.pipeline(source, "measure")
            buffer = self.buffer(4)
            group = self.bind(pipeline, 0, {0: (buffer, 0, 4)})
            encoder = self.gpu.create_command_encoder()
            work = encoder.begin_compute_pass()
            work.set_pipeline(pipeline)
            work.set_bind_group(0, group)
            work.dispatch_workgroups(1)
            work.end()
            self.gpu.queue.submit([encoder.finish()])
            return int(self.read(buffer)[0])

    def or_open_wider(self, limit: str, needed: int) -> str:
        """The end of an error's advice where this adapter, opened with all its limits, has `needed` of `limit`."""
        wider = self.info.limits.get(limit, 0) >= needed > self.limits[limit]
        return ", or open the device with limits='adapter'" if wider else ""

    def errors(self, doing: str) -> Any:
        """Context that turns the implementation's errors into `DeviceError`; `doing` says what was going on."""
        return _Errors(self, doing)

    def module(self, source: wgsl.Source, *, checked: bool = True) -> Any:
        """The compiled shader module of `source`, cached. Raises `ShaderError` with file, line and caret.

        checked=False leaves out naga's run-time checks of bounds and loops; Tint has no such form and keeps its own.
        """
        checked = checked or self.is_dawn
        return self._modules.get((source.text, checked), partial(self._make_module, source, checked))

    def _make_module(self, source: wgsl.Source, checked: bool) -> Any:
        most = self.limits["max_compute_workgroup_storage_size"]
        wgsl_limits.check(source, most, by_naga=not self.is_dawn)
        header = self._header(source)
        make = self.gpu.create_shader_module if checked else partial(trusted_module, self.gpu)
        try:
            return make(label=source.name, code=header + source.text)
        except self.api.GPUError as error:
            raise self._explained(source, error, header.count("\n")) from None

    def _explained(self, source: wgsl.Source, error: Exception, offset: int = 0) -> DeviceError:
        """What is wrong with a shader; or with the device, where it is lost and compiles nothing any more."""
        if "device is lost" in str(error):
            return DeviceError(f"{self.info.name}: compiling {source.name} failed: {_reason(error)}")
        return wgsl.explain(source, str(error), offset)

    def _header(self, source: wgsl.Source) -> str:
        if self.is_dawn and any(word in source.text for word in _SUBGROUP_WORDS):
            return "enable subgroups;\n"
        return ""

    def pipeline(self, source: wgsl.Source, entry: str, *, checked: bool = True, moving: str | None = None) -> Any:
        """The compute pipeline of `source`'s entry point, cached.

        moving: a buffer of the shader whose bind group takes an offset each time that it is set, by its variable.
        """

        def make() -> Any:
            module = self.module(source, checked=checked)
            try:
                return self.gpu.create_compute_pipeline(
                    label=source.name,
                    layout="auto" if moving is None else self._moving_layout(source, moving),
                    compute={"module": module, "entry_point": entry},
                )
            except self.api.GPUError as error:
                raise self._explained(source, error) from None

        return self._pipelines.get((source.text, entry, checked, moving), make)

    def point_pipeline(self, source: wgsl.Source, entry: str, *, checked: bool = True) -> Any:
        """The render pipeline of points with `source`'s vertex stage and no fragment stage, cached as well."""

        def make() -> Any:
            module = self.module(source, checked=checked)
            try:
                return self.gpu.create_render_pipeline(
                    label=source.name,
                    layout="auto",
                    vertex={"module": module, "entry_point": entry},
                    primitive={"topology": "point-list"},
                    depth_stencil={"format": POINT_FORMAT, "depth_write_enabled": False, "depth_compare": "always"},
                )
            except self.api.GPUError as error:
                raise self._explained(source, error) from None

        return self._pipelines.get((source.text, entry, checked, "points"), make)

    def _moving_layout(self, source: wgsl.Source, moving: str) -> Any:
        """The pipeline layout as the shader declares it: an automatic one has no moving offsets."""
        kinds = {("uniform", False): "uniform", ("storage", False): "read-only-storage", ("storage", True): "storage"}
        groups: list[list[dict[str, Any]]] = [[] for _ in range(1 + max(b.group for b in source.bindings))]
        for binding in source.bindings:
            buffer = {"type": kinds[binding.address, binding.writes], "has_dynamic_offset": binding.name == moving}
            groups[binding.group].append({"binding": binding.binding, "visibility": "COMPUTE", "buffer": buffer})
        layouts = [self.gpu.create_bind_group_layout(entries=entries) for entries in groups]
        return self.gpu.create_pipeline_layout(bind_group_layouts=layouts)

    def buffer(self, size: int, usage: str = "STORAGE|COPY_SRC|COPY_DST", label: str = "") -> Any:
        """A zeroed buffer of at least `size` bytes, rounded up to whole words."""
        return self.gpu.create_buffer(size=max(4, -(-size // 4) * 4), usage=usage, label=label)

    def wait(self) -> None:
        """Wait until everything submitted is done.

        By reading a word back: `on_submitted_work_done_sync` of wgpu-py 0.32 hands its library a callback of a wrong
        type and fails.
        """
        if not self.is_reference:
            with self.lock, self.errors("waiting for the device"):
                self.read(self._waited_for)

    @property
    def busy(self) -> bool:
        """Whether it still works on a run that was interrupted or given up; new work waits for that or is refused."""
        return self._waiting.busy

    def read(self, buffer: Any, offset: int = 0, size: int | None = None) -> np.ndarray:
        """Wait for the device, and return bytes of a buffer as uint32 words. offset, size: in bytes, of whole words."""
        size = buffer.size - offset if size is None else size
        staging = self.buffer(size, "MAP_READ|COPY_DST", "read back")
        encoder = self.gpu.create_command_encoder()
        encoder.copy_buffer_to_buffer(buffer, offset, staging, 0, size)
        self.gpu.queue.submit([encoder.finish()])
        return self.take(staging)

    def take(self, staging: Any) -> np.ndarray:
        """Wait for the device, and return the contents of a mappable buffer as uint32; its memory is given back."""
        try:
            self._waiting.wait(staging.map_async("READ"))
            words = np.frombuffer(staging.read_mapped(copy=True), np.uint32)
            staging.unmap()
            return words
        finally:
            self.destroy(staging)

    def destroy(self, *items: Any) -> None:
        """Give the memory of buffers or query sets back, as soon as the device is done with them."""
        self._waiting.destroy(*items)

    @cached_property
    def _waited_for(self) -> Any:
        return self.buffer(4, "COPY_SRC", "wait")

    def bind(self, pipeline: Any, group: int, entries: dict[int, tuple[Any, int, int]]) -> Any:
        """A bind group of `{binding: (buffer, offset, size)}`."""
        return self.gpu.create_bind_group(
            layout=pipeline.get_bind_group_layout(group),
            entries=[
                {"binding": binding, "resource": {"buffer": buffer, "offset": offset, "size": size}}
                for binding, (buffer, offset, size) in sorted(entries.items())
            ],
        )


class _Errors:
    def __init__(self, device: Device, doing: str):
        self.device = device
        self.doing = doing

    def __enter__(self) -> None:
        try:
            self.device._waiting.check()
        except NoAnswer as error:
            raise self._told(error) from None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or isinstance(error, ShaderError) or self.device.is_reference:
            return
        if isinstance(error, NoAnswer):
            raise self._told(error) from None
        if isinstance(error, self.device.api.GPUError):
            raise self._told(error) from error

    def _told(self, error: Exception) -> DeviceError:
        told = f"{self.device.info.name}: {self.doing} failed: {_reason(error)}"
        if "Not enough memory left" in told:
            told += " Do less at once, or close expanders, selectors and streams that are no longer used."
        return DeviceError(told)


def _reason(error: Exception) -> str:
    rows = [row.strip() for row in str(error).splitlines()]
    return " ".join(row for row in rows if row and row not in ("Validation Error", "Caused by:"))


def open_device(name: str | int | None = None, *, limits: str = "default") -> Device:
    """Open a device of its own; the contract's `xl.device`.

    name: part of an adapter's name or driver (any case), the alias `lavapipe` or `swiftshader`, or its index in
        `devices()`, also as text. None: the environment variable EXPANDLAB_DEVICE if set, else the best hardware
        GPU, else a software adapter, else `reference`.
    limits: `"default"` asks for WebGPU's default limits, so that what runs here runs anywhere; `"adapter"` for all
        that the adapter has.

    Raises DeviceError when the named device is not there or cannot be opened; it never falls back in silence.
    """
    if limits not in ("default", "adapter"):
        raise ValueError(f'limits={limits!r}: use "default" or "adapter"')
    if isinstance(name, bool) or not (name is None or isinstance(name, (str, int, np.integer))):
        raise TypeError(f"name={name!r}: give part of an adapter's name, its index in devices(), or None")
    if name is None:
        name = os.environ.get("EXPANDLAB_DEVICE") or None
    found = _adapters.adapters()
    rows = [info for _, info in found]
    rows.append(_adapters.reference_info(len(rows)))
    info = _adapters.choose(name, rows)
    if info.kind == "reference":
        return Device(info)
    adapter = found[info.index][0]
    features = [feature for feature in _WANTED_FEATURES if feature in adapter.features]
    try:
        with _adapters._lock:
            gpu = adapter.request_device_sync(
                label="expandlab",
                required_features=features,
                required_limits=required_limits(adapter.limits, limits),
            )
    except Exception as error:  # wgpu raises RuntimeError, its own errors or cffi's, by backend
        raise DeviceError(
            f"device={name!r}: {info.name} was found but could not be opened: {_reason(error)}. "
            "Choose another row of expandlab.devices()."
        ) from error
    return Device(info, gpu)


def adopt(gpu_device: Any) -> Device:
    """Wrap a `wgpu.GPUDevice` that the user's program already has. Its limits and features stay as they are."""
    root = type(gpu_device).__module__.partition(".")[0]
    if not (root.startswith("wgpu") and hasattr(gpu_device, "create_shader_module")):
        raise TypeError(f"gpu_device={gpu_device!r}: give the wgpu.GPUDevice that your program opened")
    return Device(_adapters._info(gpu_device.adapter, -1), gpu_device)


_opened: dict[str, Device] = {}
_opened_lock = threading.Lock()


# What stands for the GPU of the page that shows a notebook, wherever a device has a name.
BROWSER = "this browser"
_lent: dict[str, Callable[[], Device]] = {}


def lend(name: str, find: Callable[[], Device]) -> None:
    """Have `name` mean the device that `find` returns, whichever that is when it is asked for."""
    _lent[name] = find


def resolve(device: Device | str | int | None) -> Device:
    """What a `device=` argument means: an open device as it is; a name opens one with default limits, once."""
    if isinstance(device, Device):
        return device
    if isinstance(opened := getattr(device, "opened", None), Device):
        return opened
    if device is not None and (isinstance(device, bool) or not isinstance(device, (str, int, np.integer))):
        raise TypeError(f"device={device!r}: give what expandlab.device() returns, a name, an index or None")
    name = device if device is not None else os.environ.get("EXPANDLAB_DEVICE") or None
    key = str(name).strip().lower() if name is not None else ""
    if key == BROWSER:
        if key not in _lent:
            raise DeviceError(f"device={name!r}: no page shows a panel here; open one in a notebook, or name a device")
        return _lent[key]()
    with _opened_lock:
        if key not in _opened:
            _opened[key] = open_device(name)
        return _opened[key]
