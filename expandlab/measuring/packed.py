"""Measurements in little room: what the package ships to be browsed, and what a panel keeps among its settings.

What many share (device, versions, shaders) is written once. Of each contender all samples of the time are kept, of its
passes and of the host's clock the medians; numbers have five digits.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from expandlab.measuring.measurements import Contender, Measurements, MeasurementsError, check_format
from expandlab.results import to_plain

FORMAT, VERSION = "expandlab-timings", 1
_ORIGIN = ("device", "driver", "backend", "kind", "timer", "software", "workgroup_size", "warm_up_s", "batch_ms",
           "versions", "commit")  # fmt: skip
_OWN = ("input", "input_bytes", "output_bytes", "at_once", "repeats", "cancelled", "left_out")
_OF_CONTENDER = ("name", "role", "runs", "scratch_bytes", "threads", "dispatches", "checked", "verified")
_FOLDER = Path(__file__).parent / "data"


def pack(measured: Iterable[Measurements], **about: Any) -> dict[str, Any]:
    """Measurements as plain data. about: what else is to be said of them, such as the command."""
    origins: list[dict[str, Any]] = []
    shaders: list[str] = []
    packed = []
    for item in measured:
        origin = {name: to_plain(getattr(item, name)) for name in _ORIGIN}
        if origin not in origins:
            origins.append(origin)
        own = {name: _short(to_plain(getattr(item, name))) for name in _OWN}
        contenders = [_packed(one, shaders) for one in item.contenders if one.gpu_ms]
        packed.append(own | {"origin": origins.index(origin), "contenders": contenders})
    return {"format": FORMAT, "version": VERSION, "about": about, "origins": origins, "shaders": shaders,
            "measurements": packed}  # fmt: skip


def _packed(one: Contender, shaders: list[str]) -> dict[str, Any]:
    if one.shader_sha256 and one.shader_sha256 not in shaders:
        shaders.append(one.shader_sha256)
    return {name: getattr(one, name) for name in _OF_CONTENDER} | {
        "gpu_ms": _short(list(one.gpu_ms)),
        "wall_ms": _short(one.wall.median),
        "pass_ms": {name: _short(float(np.median(times))) for name, times in one.pass_ms.items()},
        "rounds": list(one.rounds),
        "shader": shaders.index(one.shader_sha256) if one.shader_sha256 else None,
    }


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, Mapping):
        return {key: _short(item) for key, item in value.items()}
    return [_short(item) for item in value] if isinstance(value, (list, tuple)) else value


def unpack(data: Any, where: str = "data") -> list[Measurements]:
    """What `pack` was given, but for what it leaves out. Raises MeasurementsError saying what is wrong."""
    check_format(data, FORMAT, VERSION, where)
    try:
        return [_unpacked(item, data["origins"], data["shaders"]) for item in data["measurements"]]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise MeasurementsError(f"{where}: is damaged ({error!r}); take another copy") from None


def _unpacked(item: Mapping[str, Any], origins: Sequence[Any], shaders: Sequence[str]) -> Measurements:
    contenders = tuple(
        Contender(
            **{name: one[name] for name in _OF_CONTENDER},
            gpu_ms=tuple(float(ms) for ms in one["gpu_ms"]),
            wall_ms=(float(one["wall_ms"]),),
            pass_ms={name: (float(ms),) for name, ms in one["pass_ms"].items()},
            rounds=tuple(int(at) for at in one["rounds"]),
            shader_sha256=None if one["shader"] is None else shaders[one["shader"]],
        )
        for one in item["contenders"]
    )
    if any(len(one.gpu_ms) != len(one.rounds) or not one.gpu_ms for one in contenders):
        raise ValueError("as many samples as rounds, and at least one")
    origin = origins[item["origin"]]
    return Measurements(
        contenders=contenders, **{name: origin[name] for name in _ORIGIN}, **{name: item[name] for name in _OWN}
    )


def write_packed(path: str | Path, data: Mapping[str, Any]) -> Path:
    """Write packed measurements as compressed JSON, the same bytes for the same data; returns the path."""
    target = Path(path)
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return target


def shipped() -> dict[str, Path]:
    """Name -> file of the measurements that the package carries."""
    return {path.name.removesuffix(".json.gz"): path for path in sorted(_FOLDER.glob("*.json.gz"))}


@lru_cache(maxsize=4)
def _read(path: Path) -> Any:
    try:
        return json.loads(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise MeasurementsError(f"{path.name}: cannot be read ({error}); install expandlab again") from None


@lru_cache(maxsize=4)
def _shipped(name: str) -> tuple[Measurements, ...]:
    return tuple(unpack(_read(shipped()[name]), name))


def load_shipped(name: str) -> list[Measurements]:
    """The measurements that the package carries under a name. Raises ValueError for another one, MeasurementsError."""
    if name not in shipped():
        raise ValueError(f"name={name!r}: use one of {', '.join(shipped())}")
    return list(_shipped(name))


def about_shipped(name: str) -> dict[str, Any]:
    """What was said of them when they were packed: the command, and where they come from."""
    return dict(_read(shipped()[name])["about"])
