"""Counts: the N of every src, from a synthetic distribution, a file, or the standard library's own source."""

from expandlab.counts.checking import check
from expandlab.counts.kinds import Shape, kinds, make, shapes
from expandlab.counts.library import standard_library
from expandlab.counts.reading import load
from expandlab.counts.statistics import Statistics, statistics

__all__ = ["Shape", "Statistics", "check", "kinds", "load", "make", "shapes", "standard_library", "statistics"]
