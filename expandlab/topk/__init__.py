"""Top-k selection: the best k of many scores by nine methods, prepared forms and streams."""

from expandlab.topk.method import Method
from expandlab.topk.methods import top_k_methods
from expandlab.topk.report import SelectionReport, TopK
from expandlab.topk.run import top_k
from expandlab.topk.selector import Selector
from expandlab.topk.steps import Step
from expandlab.topk.stream import TopKStream
from expandlab.topk.trace import Push, trace, trace_stream

__all__ = [
    "Method", "Push", "SelectionReport", "Selector", "Step", "TopK", "TopKStream", "top_k", "top_k_methods", "trace",
    "trace_stream",
]  # fmt: skip
