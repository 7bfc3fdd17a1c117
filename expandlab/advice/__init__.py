"""Advice: a SIMT account of every strategy, costs of its events fitted on the device at hand, and the ranking."""

from expandlab.advice.advise import Advice, Choice, advise
from expandlab.advice.learning import learn, model_of
from expandlab.advice.model import Case, CostModel, Score, cases_of, fitted, fitted_for, score

__all__ = [
    "Advice",
    "Case",
    "Choice",
    "CostModel",
    "Score",
    "advise",
    "cases_of",
    "fitted",
    "fitted_for",
    "learn",
    "model_of",
    "score",
]
