"""Selection by digits: a histogram of the leading digit says where the k-th score lies, and so on digit by digit.

Wins in general: two or three reads of the scores whatever k is, nothing is sorted but what is left, and no input is
bad for it. Ties cost up to two further reads, for the digits of the index. Loses to `delegate` where k is small, which
reads the scores once.
Source: `select_k` of RAFT (11/11/10 bits), after J. Zhang and others, "Parallel Top-K Algorithms on GPU" (2023).
"""

from __future__ import annotations

from expandlab.topk.method import Method, Selection
from expandlab.topk.radix import add_last, add_rounds, rounds_of


def passes(p: Selection) -> None:
    """reset -> a round for each digit -> collect -> the last step."""
    p.reset(histograms=rounds_of(p.sizes))
    add_rounds(p)
    add_last(p)


METHOD = Method(
    name="radix_select",
    title="Radix select",
    solution="top-k selection",
    summary="Chooses the k-th score digit by digit with histograms; sorts only what is left. The general choice.",
    passes=passes,
)
