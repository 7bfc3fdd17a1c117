"""Top-k selection: the best k of many scores by nine methods, prepared forms and streams."""

from expandlab.topk.method import Method
from expandlab.topk.methods import top_k_methods
from expandlab.topk.report import SelectionReport, TopK
from expandlab.topk.run import top_k
from expandlab.topk.steps import Step

__all__ = ["Method", "SelectionReport", "Step", "TopK", "top_k", "top_k_methods"]
