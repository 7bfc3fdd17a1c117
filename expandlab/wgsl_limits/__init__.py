"""What a compiler need not survive: WGSL of the caller's is held to limits before a compiler sees it."""

from expandlab.wgsl_limits.limits import check

__all__ = ["check"]
