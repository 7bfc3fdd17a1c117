"""Work expansion: the strategies, the call that runs them, and the maps of which thread works on what."""

from expandlab.expansion.body import atomic, read_only
from expandlab.expansion.expander import Expander
from expandlab.expansion.record import record_map
from expandlab.expansion.report import Expansion, PassReport, Report
from expandlab.expansion.run import expand
from expandlab.expansion.strategies import strategies
from expandlab.expansion.strategy import Strategy
from expandlab.expansion.thread_map import Memory, MemoryRow, Step, ThreadMap, thread_map

__all__ = [
    "Expander",
    "Expansion",
    "Memory",
    "MemoryRow",
    "PassReport",
    "Report",
    "Step",
    "Strategy",
    "ThreadMap",
    "atomic",
    "expand",
    "read_only",
    "record_map",
    "strategies",
    "thread_map",
]
