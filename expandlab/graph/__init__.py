"""The frame graph: passes with declared accesses, planned and run. Everything that runs on a device is a pass here."""

from expandlab.graph.declare import Access, Image, Pass, Resource
from expandlab.graph.frame_graph import FrameGraph
from expandlab.graph.kernel import Kernel
from expandlab.graph.launch import Draws, Repeat
from expandlab.graph.plan import PassRun, Plan, PlanRun

__all__ = [
    "Access",
    "Draws",
    "FrameGraph",
    "Image",
    "Kernel",
    "Pass",
    "PassRun",
    "Plan",
    "PlanRun",
    "Repeat",
    "Resource",
]
