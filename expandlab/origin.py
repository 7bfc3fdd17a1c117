"""Where an export comes from: versions, commit, device, shaders, settings. Data that never holds a time stamp."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.expansion.endings import record, store
from expandlab.expansion.passes import build
from expandlab.expansion.strategies import strategies
from expandlab.expansion.strategy import Sizes
from expandlab.results import to_plain
from expandlab.settings import PanelSettings, TopKSettings
from expandlab.topk import top_k_methods
from expandlab.topk.keys import FORMATS
from expandlab.topk.method import Sizes as SelectionSizes
from expandlab.topk.prepared import build as build_selection
from expandlab.versions import commit, versions

if TYPE_CHECKING:
    from expandlab.gpu import Device
    from expandlab.measuring import Measurements


def provenance(
    settings: PanelSettings | Mapping[str, Any] | None,
    *,
    device: Device | None = None,
    timings: Measurements | None = None,
    shaders: Mapping[str, Any] | None = None,
    counts: np.ndarray | None = None,
) -> dict[str, Any]:
    """Where an export comes from, as plain JSON-ready data without time stamps.

    settings: of the panel. device: that recorded the map; None for the model. timings: the measurement shown.
    shaders: SHA-256 by strategy and pass; None = those of the settings' strategies. counts: the N of every src, kept
    as their SHA-256, so that a changed file is noticed.
    """
    if settings is None and timings is not None:
        settings = timings.settings
    plain = settings.to_dict() if isinstance(settings, PanelSettings) else dict(settings or {})
    if shaders is None:
        shaders = dict(timings.shader_sha256) if timings is not None else _shaders_of(settings)
    found: dict[str, Any] = {
        "versions": versions(),
        "commit": commit(),
        "settings": to_plain(plain),
        "seed": plain.get("seed"),
        "device": _device(device, timings),
        "timer": timings.timer if timings is not None else None,
        "shader_sha256": to_plain(dict(shaders)),
        "counts_sha256": _digest(counts) if timings is None else timings.counts_sha256,
    }
    if isinstance(settings, TopKSettings):
        found["scores_sha256"] = hashlib.sha256(settings.scores().tobytes()).hexdigest()
    if timings is not None:
        found["timings"] = {
            name: getattr(timings, name)
            for name in ("software", "cancelled", "src_count", "total", "workgroup_size", "repeats")
        }
    return found


def _digest(counts: np.ndarray | None) -> str | None:
    return None if counts is None else hashlib.sha256(np.ascontiguousarray(counts, "<u4").tobytes()).hexdigest()


def _device(device: Device | None, timings: Measurements | None) -> dict[str, Any] | None:
    if device is not None:
        names = ("name", "kind", "backend", "driver")
        return {name: getattr(device.info, name) for name in names} | {"software": device.info.is_software}
    if timings is not None:
        return {"name": timings.device, "driver": timings.driver, "software": timings.software}
    return None


def _shaders_of(settings: Any) -> dict[str, dict[str, str]]:
    if not isinstance(settings, PanelSettings):
        return {}
    recorded = getattr(settings, "device", None) is not None
    size = getattr(settings, "workgroup_size", 64)
    found = {name: dict(shader_digests(name, size, recorded)) for name in settings.strategies}
    if isinstance(settings, TopKSettings):
        found |= {
            name: dict(method_digests(name, settings.n, settings.k, settings.largest)) for name in settings.methods
        }
    return found


@lru_cache(maxsize=64)
def shader_digests(strategy: str, workgroup_size: int, recorded: bool = False) -> tuple[tuple[str, str], ...]:
    """(pass, SHA-256 of its WGSL) of a strategy, as it runs to store a mapping, or to record a map."""
    chosen = strategies()[strategy]
    if chosen.passes is None:
        return ()
    built = build(chosen, Sizes(1, 1, workgroup_size, None), record(workgroup_size, True) if recorded else store(1))
    return tuple((name, item.kernel.source.sha256) for name, item in built.graph.passes.items())


@lru_cache(maxsize=64)
def method_digests(method: str, n: int, k: int, largest: bool) -> tuple[tuple[str, str], ...]:
    """(pass, SHA-256 of its WGSL) of a method of top-k that selects from n float32 scores."""
    built = build_selection(top_k_methods()[method], SelectionSizes(n, k, FORMATS["float32"], largest))
    return tuple((name, item.kernel.source.sha256) for name, item in built.graph.passes.items())
