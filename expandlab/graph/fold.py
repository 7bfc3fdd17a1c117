"""Dispatch sizes that fit one dimension's limit; the twin of `shaders/lib/fold.wgsl`."""

from __future__ import annotations

MAX_GROUPS = 65535


def fold(groups: int) -> tuple[int, int, int]:
    """(x, y, 1) with x * y >= groups and x, y <= 65535; y is the least that will do, then x the least for that y."""
    y = max(1, -(-groups // MAX_GROUPS))
    return -(-groups // y), y, 1


def fold_threads(threads: int, workgroup_size: int) -> tuple[int, int, int]:
    """Workgroups of `workgroup_size` threads for `threads` threads, folded."""
    return fold(-(-threads // workgroup_size))
