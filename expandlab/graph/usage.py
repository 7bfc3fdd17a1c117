"""What a usage means to a GPU: pipeline stages, access bits and image layouts, named as in Vulkan synchronization 2.

Inside the planner a set of stages or of access bits is a bit mask; `names` turns one into the names.
"""

from __future__ import annotations

from typing import NamedTuple

_STAGES = (
    "DRAW_INDIRECT", "INDEX_INPUT", "COMPUTE_SHADER", "EARLY_FRAGMENT_TESTS", "LATE_FRAGMENT_TESTS",
    "COLOR_ATTACHMENT_OUTPUT", "COPY", "BOTTOM_OF_PIPE",
)  # fmt: skip
_ACCESSES = (
    "INDIRECT_COMMAND_READ", "INDEX_READ", "UNIFORM_READ", "SHADER_READ", "SHADER_WRITE", "COLOR_ATTACHMENT_READ",
    "COLOR_ATTACHMENT_WRITE", "DEPTH_STENCIL_ATTACHMENT_READ", "DEPTH_STENCIL_ATTACHMENT_WRITE", "TRANSFER_READ",
    "TRANSFER_WRITE",
)  # fmt: skip
_BIT = {name: 1 << place for names in (_STAGES, _ACCESSES) for place, name in enumerate(names)}

BUFFER_USAGES = {
    "read": ("storage", "copy", "uniform", "indirect", "index"),
    "write": ("storage", "copy"),
    "read_write": ("storage", "copy"),
}
IMAGE_USAGES = {
    "read": ("storage", "copy", "sampled", "color", "depth", "present"),
    "write": ("storage", "copy", "color", "depth"),
    "read_write": ("storage", "copy", "color", "depth"),
}


def _mask(text: str) -> int:
    return sum(_BIT[name] for name in text.split())


class Meaning(NamedTuple):
    """Stages of a usage, and its access bits when it reads and when it writes."""

    stages: int
    read: int
    write: int


MEANING = {
    "storage": Meaning(_mask("COMPUTE_SHADER"), _mask("SHADER_READ"), _mask("SHADER_WRITE")),
    "copy": Meaning(_mask("COPY"), _mask("TRANSFER_READ"), _mask("TRANSFER_WRITE")),
    "uniform": Meaning(_mask("COMPUTE_SHADER"), _mask("UNIFORM_READ"), 0),
    "indirect": Meaning(_mask("DRAW_INDIRECT"), _mask("INDIRECT_COMMAND_READ"), 0),
    "index": Meaning(_mask("INDEX_INPUT"), _mask("INDEX_READ"), 0),
    "sampled": Meaning(_mask("COMPUTE_SHADER"), _mask("SHADER_READ"), 0),
    "color": Meaning(_mask("COLOR_ATTACHMENT_OUTPUT"), _mask("COLOR_ATTACHMENT_READ"), _mask("COLOR_ATTACHMENT_WRITE")),
    "depth": Meaning(
        _mask("EARLY_FRAGMENT_TESTS LATE_FRAGMENT_TESTS"),
        _mask("DEPTH_STENCIL_ATTACHMENT_READ"),
        _mask("DEPTH_STENCIL_ATTACHMENT_WRITE"),
    ),
    # The presentation engine waits for a semaphore: there is nothing behind the barrier to make the image visible to.
    "present": Meaning(_mask("BOTTOM_OF_PIPE"), 0, 0),
}

COMPUTE = _mask("COMPUTE_SHADER")

_LAYOUTS = {
    "storage": "GENERAL",
    "sampled": "SHADER_READ_ONLY_OPTIMAL",
    "color": "COLOR_ATTACHMENT_OPTIMAL",
    "depth": "DEPTH_STENCIL_ATTACHMENT_OPTIMAL",
    "present": "PRESENT_SRC",
}
UNDEFINED = "UNDEFINED"
COPIED = "TRANSFER_DST_OPTIMAL"


def layout(usage: str, mode: str) -> str:
    """The layout that an access needs. A copy within one image has to have it GENERAL."""
    if usage == "copy":
        return {"read": "TRANSFER_SRC_OPTIMAL", "write": "TRANSFER_DST_OPTIMAL"}.get(mode, "GENERAL")
    return _LAYOUTS.get(usage, "GENERAL")


def names(mask: int, *, stages: bool = False) -> frozenset[str]:
    """The names in a mask of access bits, or of stages."""
    return frozenset(name for name in (_STAGES if stages else _ACCESSES) if mask & _BIT[name])
