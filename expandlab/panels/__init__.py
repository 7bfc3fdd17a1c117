"""Interactive panels for notebooks. Each function returns a widget; show it as the last line of a cell."""

from expandlab.panels.buckets import BucketPanel, buckets
from expandlab.panels.expansion import ExpansionPanel, expansion
from expandlab.panels.machine import machine

__all__ = ["BucketPanel", "ExpansionPanel", "buckets", "expansion", "machine"]
