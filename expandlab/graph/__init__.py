"""The frame graph: passes with declared accesses, planned and run. Everything that runs on a device is a pass here."""

from expandlab.graph.frame_graph import Access, FrameGraph, Kernel, Pass, Resource
from expandlab.graph.launch import Draws, Repeat
from expandlab.graph.plan import PassRun, Plan, PlanRun

__all__ = ["Access", "Draws", "FrameGraph", "Kernel", "Pass", "PassRun", "Plan", "PlanRun", "Repeat", "Resource"]
