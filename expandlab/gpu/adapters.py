"""The list of devices: every adapter that can run our kernels, and the NumPy reference, always last."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from expandlab.errors import DeviceError
from expandlab.gpu.drivers import loader_environment, loader_library
from expandlab.gpu.limits import DEFAULT_LIMITS, standard_limits
from expandlab.results import Result

KINDS = ("discrete", "integrated", "virtual", "cpu", "reference")
_KIND_OF = {"discretegpu": "discrete", "integratedgpu": "integrated", "cpu": "cpu"}
# People say "lavapipe"; Mesa calls the same driver llvmpipe in every field that it fills.
_ALIASES = {"lavapipe": "llvmpipe", "swiftshader": "swiftshader"}
# naga's older spelling of what the standard calls `subgroups`.
_STANDARD_FEATURE = {"subgroup": "subgroups"}


@dataclass(frozen=True)
class DeviceInfo(Result):
    """One row of `devices()`.

    `kind` is one of `discrete integrated virtual cpu reference`; `cpu` is a software adapter. `features` uses the
    standard's names where it has one. `limits` are the adapter's, under the standard's names in snake case.
    """

    index: int
    name: str
    kind: str
    backend: str
    driver: str
    features: tuple[str, ...]
    limits: dict[str, int]

    @property
    def is_software(self) -> bool:
        """True where times measure the CPU."""
        return self.kind in ("cpu", "reference")

    @property
    def label(self) -> str:
        """One line for menus and plots."""
        note = {"cpu": ", software adapter", "reference": ""}.get(self.kind, "")
        return f"{self.name} ({self.backend}{note})"

    def __repr__(self) -> str:
        return f"<device {self.index}: {self.name}, {self.kind}, {self.backend}>"


class DeviceList(tuple):
    """The rows of `devices()`: a tuple that prints as a table."""

    def __repr__(self) -> str:
        return "\n".join(f"{row.index}  {row.kind:<10} {row.backend:<8} {row.name}  {row.driver}" for row in self)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{row.index}</td><td>{escape(row.name)}</td><td>{row.kind}</td><td>{escape(row.backend)}</td>"
            f"<td>{escape(row.driver)}</td><td>{len(row.features)}</td></tr>"
            for row in self
        )
        head = "".join(f"<th>{name}</th>" for name in ("index", "name", "kind", "backend", "driver", "features"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


_lock = threading.Lock()
_instance_ready = False


def _wgpu() -> Any:
    """The wgpu module, its instance restricted to the native backends."""
    global _instance_ready
    import wgpu

    if not _instance_ready:
        _instance_ready = True
        if os.environ.get("EXPANDLAB_GL") != "1":
            from wgpu.backends.wgpu_native import extras

            backends = ["Vulkan", "Metal", "DX12"]
            extras.set_instance_extras(backends=backends)
    return wgpu


def _info(adapter: Any, index: int) -> DeviceInfo:
    raw = adapter.info
    kind = _KIND_OF.get(str(raw.get("adapter_type", "")).lower(), "virtual")
    features = tuple(sorted({_STANDARD_FEATURE.get(name, name) for name in adapter.features}))
    return DeviceInfo(
        index=index,
        name=raw.get("device") or "unknown adapter",
        kind=kind,
        backend=raw.get("backend_type") or "unknown",
        driver=raw.get("description") or raw.get("vendor") or "",
        features=features,
        limits=standard_limits(adapter.limits),
    )


def reference_info(index: int) -> DeviceInfo:
    """The row of the NumPy reference; it keeps the default limits so that what is too large is the same error."""
    import numpy as np

    return DeviceInfo(
        index=index,
        name="reference",
        kind="reference",
        backend="numpy",
        driver=f"NumPy {np.__version__}",
        features=(),
        limits=dict(DEFAULT_LIMITS),
    )


def _rank(adapter_and_info: tuple[Any, DeviceInfo]) -> tuple[int, int]:
    info = adapter_and_info[1]
    # Mesa's lavapipe compiles for all vector units of the CPU; SwiftShader uses four lanes.
    return KINDS.index(info.kind), int("swiftshader" in info.name.lower())


def adapters() -> list[tuple[Any, DeviceInfo]]:
    """Every usable wgpu adapter with its row, best first."""
    wanted = {"Vulkan", "Metal", "D3D12"}
    if os.environ.get("EXPANDLAB_GL") == "1":
        wanted |= {"OpenGL", "OpenGLES"}
    with _lock, loader_environment():
        try:
            found = _wgpu().gpu.enumerate_adapters_sync()
        except (RuntimeError, OSError, ImportError):
            # No wgpu library for this platform, or no driver that it can talk to: the reference is left.
            return []
    rows = [(adapter, _info(adapter, 0)) for adapter in found if adapter.info.get("backend_type") in wanted]
    rows.sort(key=_rank)
    return [(adapter, _info(adapter, index)) for index, (adapter, _) in enumerate(rows)]


def devices() -> Sequence[DeviceInfo]:
    """Every Vulkan, Metal and DX12 adapter, one row each, and always last the `reference` device (NumPy, no GPU).

    OpenGL adapters are listed only with `EXPANDLAB_GL=1`: they lack what most strategies need. Rows have
    `index name kind backend driver features limits`. Best hardware first.
    """
    found = [info for _, info in adapters()]
    return DeviceList([*found, reference_info(len(found))])


def choose(name: str | int | None, rows: Sequence[DeviceInfo]) -> DeviceInfo:
    """The row that `name` means: an alias, an index (also as text), or part of a name or driver.

    With no name, the best hardware GPU, else a software adapter, else the reference.
    """
    if name is None:
        return rows[0]
    text = str(name).strip()
    if not text:
        raise DeviceError(f"device={name!r} is empty. {_found(rows)}")
    if text.lstrip("+-").isdigit():
        if 0 <= int(text) < len(rows):
            return rows[int(text)]
        raise DeviceError(f"device={name!r}: there is no row {text}. {_found(rows)}")
    wanted = _ALIASES.get(text.lower(), text.lower())
    for row in rows:
        if row.kind != "reference" and (wanted in row.name.lower() or wanted in row.driver.lower()):
            return row
    if wanted == "reference" or wanted in rows[-1].driver.lower():
        return rows[-1]
    raise DeviceError(f"device={name!r}: no adapter's name or driver contains {text!r}. {_found(rows)} {_hint(text)}")


def _found(rows: Iterable[DeviceInfo]) -> str:
    return "Found: " + "; ".join(f"{row.index} = {row.name} [{row.backend}]" for row in rows) + "."


def _hint(text: str) -> str:
    if loader_library() is None:
        return "No Vulkan loader is installed: on Debian or Ubuntu, apt-get install libvulkan1 mesa-vulkan-drivers."
    if text.lower() == "swiftshader":
        return "SwiftShader comes with Chromium: on Debian, apt-get install chromium."
    return "Run `expandlab doctor` to see what is missing."
