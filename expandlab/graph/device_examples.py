"""Graphs on several devices to look at and to run: the document's case, and when no copy is needed. JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from expandlab.graph.examples import _access, _pass


class DeviceExample(NamedTuple):
    """A graph with its title and what it is there to show. document: of buffers of so many bytes."""

    title: str
    shows: str
    document: Callable[[int], dict[str, Any]]


def _graph(
    size: int, passes: list[dict[str, Any]], outputs: list[str], *, devices: int = 2, imported: str = ""
) -> dict[str, Any]:
    names = dict.fromkeys(access["resource"] for item in passes for access in item["accesses"])
    resources: dict[str, Any] = {}
    for name in names:
        resources[name] = {"kind": "buffer", "size": size} | ({"imported": True} if name == imported else {})
    return {
        "devices": {f"gpu{number}": ["compute"] for number in range(devices)},
        "resources": resources,
        "passes": passes,
        "outputs": outputs,
    }


def _readers(size: int) -> dict[str, Any]:
    return _graph(
        size,
        [
            _pass("produce", 20.0, _access("data", "write"), device="gpu0"),
            _pass("left", 80.0, _access("data", "read"), _access("left_out", "write"), device="gpu0"),
            _pass("right", 80.0, _access("data", "read"), _access("right_out", "write"), device="gpu1"),
        ],
        ["left_out", "right_out"],
    )


def _imported(size: int) -> dict[str, Any]:
    return _graph(
        size,
        [
            _pass("left", 80.0, _access("scene", "read"), _access("left_out", "write"), device="gpu0"),
            _pass("right", 80.0, _access("scene", "read"), _access("right_out", "write"), device="gpu1"),
        ],
        ["left_out", "right_out"],
        imported="scene",
    )


def _halves(size: int) -> dict[str, Any]:
    half = size // 2
    return _graph(
        size,
        [
            _pass("fill_low", 60.0, _access("data", "write", range=[0, half]), device="gpu0"),
            _pass("fill_high", 60.0, _access("data", "write", range=[half, size]), device="gpu1"),
            _pass("use", 40.0, _access("data", "read"), _access("sum", "write"), device="gpu0"),
        ],
        ["sum"],
    )


def _overwrite(size: int) -> dict[str, Any]:
    return _graph(
        size,
        [
            _pass("produce", 40.0, _access("data", "write"), device="gpu0"),
            _pass("show", 60.0, _access("data", "read"), _access("first", "write"), device="gpu0"),
            _pass("replace", 40.0, _access("data", "write"), device="gpu1"),
            _pass("show_again", 60.0, _access("data", "read"), _access("second", "write"), device="gpu1"),
        ],
        ["first", "second"],
    )


def _ping_pong(size: int) -> dict[str, Any]:
    steps = [
        _pass(f"step_{number}", 40.0, _access("data", "read_write"), device=f"gpu{number % 2}")
        for number in range(1, 4)
    ]
    return _graph(size, [_pass("step_0", 40.0, _access("data", "write"), device="gpu0"), *steps], ["data"])


def _broadcast(size: int) -> dict[str, Any]:
    readers = [
        _pass(f"use_{number}", 60.0, _access("data", "read"), _access(f"out_{number}", "write"), device=f"gpu{number}")
        for number in range(3)
    ]
    outputs = [f"out_{number}" for number in range(3)]
    return _graph(size, [_pass("produce", 30.0, _access("data", "write"), device="gpu0"), *readers], outputs, devices=3)


DEVICE_EXAMPLES: Mapping[str, DeviceExample] = MappingProxyType(
    {
        "readers": DeviceExample(
            "one writer, a reader on each of two devices", "one copy, before the reader that is elsewhere", _readers
        ),
        "imported": DeviceExample(
            "two readers of what both devices have", "no copy, no wait: what is imported is valid everywhere", _imported
        ),
        "halves": DeviceExample(
            "each device writes a half, one reads both", "half a buffer is copied, not all of it", _halves
        ),
        "overwrite": DeviceExample(
            "a buffer is written anew on the other device", "no copy of what is overwritten", _overwrite
        ),
        "ping_pong": DeviceExample(
            "a buffer that goes to and fro", "a copy and a wait before every change of device", _ping_pong
        ),
        "broadcast": DeviceExample(
            "one writer, readers on three devices", "two copies, and one way up to the host", _broadcast
        ),
    }
)  # fmt: skip
