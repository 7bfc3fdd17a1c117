"""Graphs to look at: the examples of the document on frame graphs for several devices, as JSON documents."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Example(NamedTuple):
    """A graph with its title. document: as `documents.read` takes it."""

    title: str
    document: Mapping[str, Any]


def _buffers(size: int, *names: str) -> dict[str, Any]:
    return {name: {"kind": "buffer", "size": size} for name in names}


def _pass(name: str, cost_us: float, *accesses: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    return {"name": name, **options, "cost_us": cost_us, "accesses": [dict(access) for access in accesses]}


def _access(resource: str, mode: str, **options: Any) -> dict[str, Any]:
    return {"resource": resource, "mode": mode, **options}


_QUEUES = {"gpu0": ["compute", "async"]}
_TWO_WRITERS = {
    "devices": _QUEUES,
    "resources": _buffers(4096, "data", "sum"),
    "passes": [
        _pass("fill_low", 40.0, _access("data", "write", range=[0, 2048])),
        _pass("fill_high", 40.0, _access("data", "write", range=[2048, 4096]), queue="async"),
        _pass("use", 20.0, _access("data", "read"), _access("sum", "write")),
    ],
    "outputs": ["sum"],
}
_TAGGED = {
    "devices": _QUEUES,
    "resources": {"histogram": {"kind": "buffer", "size": 1024, "imported": True}, **_buffers(1024, "ranks")},
    "passes": [
        _pass("count_left", 40.0, _access("histogram", "read_write", independent="atomic add")),
        _pass("count_right", 40.0, _access("histogram", "read_write", independent="atomic add"), queue="async"),
        _pass("rank", 20.0, _access("histogram", "read"), _access("ranks", "write")),
    ],
    "outputs": ["ranks"],
}
_READERS = [
    _pass("left", 40.0, _access("data", "read"), _access("left_out", "write")),
    _pass("right", 40.0, _access("data", "read"), _access("right_out", "write"), queue="async"),
]
_PRODUCE = _pass("produce", 20.0, _access("data", "write"))
_TWO_READERS = {
    "devices": _QUEUES,
    "resources": _buffers(4096, "data", "left_out", "right_out"),
    "passes": [_PRODUCE, *_READERS],
    "outputs": ["left_out", "right_out"],
}
_INJECTED = {
    **_TWO_READERS,
    "passes": [_PRODUCE, _pass("inject", 20.0, _access("data", "read_write")), *_READERS],
}
_BOTH = (_access("work", "read_write"), _access("picture", "read_write"))
_COMPUTE = {
    "resources": {
        "work": {"kind": "buffer", "size": 256, "imported": True},
        "picture": {"kind": "image", "mips": 1, "layers": 1, "imported": True},
        "swap_chain": {"kind": "image", "mips": 1, "layers": 1, "imported": True},
    },
    "passes": [
        _pass("CP1", 10.0, *_BOTH),
        _pass("CP2", 10.0, *_BOTH),
        _pass("CP3", 10.0, *_BOTH),
        _pass("user_interface", 5.0, _access("picture", "read_write", usage="color")),
        _pass("copy", 5.0, _access("picture", "read", usage="copy"), _access("swap_chain", "write", usage="copy")),
    ],
    "outputs": ["swap_chain"],
}
_DEVICES = {
    "devices": {"gpu0": ["compute"], "gpu1": ["compute"]},
    "resources": _buffers(65536, "data", "left_out", "right_out"),
    "passes": [
        _pass("produce", 20.0, _access("data", "write"), device="gpu0"),
        _pass("left", 80.0, _access("data", "read"), _access("left_out", "write"), device="gpu0"),
        _pass("right", 80.0, _access("data", "read"), _access("right_out", "write"), device="gpu1"),
    ],
    "outputs": ["left_out", "right_out"],
}
# The document's first figure: both writers and the reader use one buffer. Two connections are dependencies; the dashed
# one only says that the second writer uses the buffer of the first.
_SLOTS = {
    "devices": _QUEUES,
    "passes": [
        {"name": "CP1", "cost_us": 40.0, "slots": [{"name": "data", "type": "Output", "range": [0, 2048]}]},
        {"name": "CP2", "cost_us": 40.0, "queue": "async",
         "slots": [{"name": "data", "type": "Output", "range": [2048, 4096]}]},
        {"name": "CP3", "cost_us": 20.0, "slots": [{"name": "data", "type": "Input", "size": 4096},
                                                   {"name": "picture", "type": "Output", "size": 1024}]},
        {"name": "interface", "cost_us": 5.0, "slots": [{"name": "picture", "type": "InputOutput"}]},
    ],
    "connections": [
        {"from": "CP1.data", "to": "CP2.data", "dependency": False},
        {"from": "CP2.data", "to": "CP3.data", "dependency": True},
        {"from": "CP3.picture", "to": "interface.picture", "dependency": True},
    ],
}  # fmt: skip
EXAMPLES: Mapping[str, Example] = MappingProxyType(
    {
        "two_writers": Example("two writers, then a reader", _TWO_WRITERS),
        "tagged_writers": Example("two writers of the same bytes, declared independent", _TAGGED),
        "two_readers": Example("one writer, two readers", _TWO_READERS),
        "injected": Example("one writer, an injected pass, two readers", _INJECTED),
        "compute_chain": Example("three compute passes, user interface, copy to the swap chain", _COMPUTE),
        "slots": Example("two writers, then a reader, as slots and connections", _SLOTS),
        "two_devices": Example("one writer, a reader on each of two devices", _DEVICES),
    }
)
