"""Relics of a game: files of them, a generator of realistic ones, and what a set of six adds up to."""

from expandlab.relics.files import load
from expandlab.relics.generate import make
from expandlab.relics.model import SLOTS, Relic, Relics

__all__ = ["SLOTS", "Relic", "Relics", "load", "make"]
