"""Runs a plan in NumPy, pass by pass, through the twins of its kernels."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import DeviceError, UnsupportedError
from expandlab.graph.inputs import check_limits, input_words
from expandlab.graph.launch import Draws, launched
from expandlab.graph.plan import PassRun, Plan, PlanRun

if TYPE_CHECKING:
    from expandlab.gpu import Device


class ReferenceProgram:
    """A plan on the reference device. Runs like `Program`; nothing is timed, because nothing here is a GPU."""

    def __init__(self, plan: Plan, device: Device):
        self.plan = plan
        self._lock = device.lock
        self._closed = False
        # The same limits as on a GPU, so that what is too large is the same error.
        check_limits(plan.graph, device)
        buffers = {name: item for name, item in plan.graph.resources.items() if item.kind == "buffer"}
        self._arrays = {name: np.zeros(max(1, -(-item.size // 4)), np.uint32) for name, item in buffers.items()}
        for item in plan.passes.values():
            if item.kernel.twin is None:
                raise UnsupportedError(
                    f"pass {item.name!r} is WGSL without a NumPy twin, which the reference device cannot run; "
                    "use a GPU or a software Vulkan adapter (`expandlab doctor` says how to get one)"
                )

    def __enter__(self) -> ReferenceProgram:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Give the memory back."""
        self._closed = True
        self._arrays.clear()

    def words(self, name: str) -> np.ndarray:
        """What a resource holds now: uint32, not a copy."""
        self._check_open()
        return self._arrays[name]

    def upload(self, inputs: Mapping[str, np.ndarray]) -> None:
        """Set the imported resources that are given; all others keep what they hold, as on a GPU."""
        self._check_open()
        for name, data in input_words(self.plan.graph, inputs).items():
            self._arrays[name][: data.size] = data

    def run(self, inputs: Mapping[str, np.ndarray], *, timed: bool = True) -> PlanRun:
        """Run every twin in the plan's order and return the outputs. There is no timer to leave out."""
        # Another thread's inputs may not come between these and their passes.
        with self._lock:
            return self._run(inputs)

    def _run(self, inputs: Mapping[str, np.ndarray]) -> PlanRun:
        self.upload(inputs)
        start = time.perf_counter()
        passes = tuple(PassRun(name, self._twin(name), None) for name in self.plan.order)
        wall_ms = (time.perf_counter() - start) * 1e3
        graph = self.plan.graph
        outputs = {name: self._arrays[name].copy()[: graph.resources[name].size // 4] for name in graph.outputs}
        return PlanRun(outputs, passes, wall_ms)

    def run_pass(self, name: str) -> None:
        """Run one twin."""
        self._twin(name)

    def sample(self) -> tuple[list[float | None], float]:
        """Run every twin on what was uploaded and return (no times of passes, ms on the wall)."""
        start = time.perf_counter()
        for name in self.plan.order:
            self._twin(name)
        return [None] * len(self.plan.order), (time.perf_counter() - start) * 1e3

    def _check_open(self) -> None:
        if self._closed:
            raise DeviceError("this was closed and its memory given back; make a new one")

    def _twin(self, name: str) -> tuple[int, int, int]:
        """Run one pass; returns the workgroups that a device would launch."""
        self._check_open()
        kernel = self.plan.passes[name].kernel
        groups = launched(kernel, self._arrays)
        if all(groups):
            bound = {variable: self._arrays[resource] for variable, resource in kernel.resources().items()}
            if isinstance(kernel.workgroups, Draws):
                # What the front end reads for the shader: which vertices there are, and of which instance.
                bound |= {resource: self._arrays[resource] for resource in kernel.arguments}
            kernel.twin(SimpleNamespace(**bound))
        return groups
