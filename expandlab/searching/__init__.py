"""Exhaustive search of a mixed-radix product: score every pick on the GPU, keep the k best."""

from expandlab.searching.run import search

__all__ = ["search"]
