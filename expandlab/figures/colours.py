"""The colours that every picture and the canvas widget share. Pure NumPy."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

# petroff10: ten colours that stay apart for the common kinds of colour blindness (Petroff, arXiv:2107.02270).
PETROFF10 = ("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd")  # fmt: skip  # noqa: E501

BACKGROUND = "#ffffff"
INK = "#1b1f24"  # text, outlines
MUTED = "#5b6470"  # secondary text: 6:1 on white
RULE = "#cfd5dc"  # hair lines, frames
SHADE = "#f3f5f7"  # bands behind groups
IDLE = "#eceff2"  # an idle lane's ground
IDLE_HATCH = "#9aa4af"  # and the lines over it
FREE = "#ffffff"  # memory set aside, not written
WASTED = "#dfe4e9"  # written, but no thread is led anywhere by it
ACCENT = "#0b5cad"  # the selected step

# Which of the ten move to white in later cycles; the others, light or grey, move to black.
_TINTED = (True, False, True, False, True, True, True, False, False, False)
# How far a cycle's colours move. Neighbours in this list differ most,
# as items that are ten apart stand side by side in the bucket strategies.
_MIX = (0.0, 0.42, 0.2, 0.52, 0.31, 0.1)


def rgb(hex_colour: str) -> tuple[int, int, int]:
    """`#rrggbb` as three bytes."""
    return tuple(bytes.fromhex(hex_colour.lstrip("#")))  # type: ignore[return-value]


def luminance(colours: np.ndarray) -> np.ndarray:
    """Relative luminance (WCAG 2) of uint8 (..., 3) colours: 0 = black, 1 = white."""
    value = np.asarray(colours, float) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def ink_on(colours: np.ndarray) -> np.ndarray:
    """Whether black text (True) or white text (False) has the better contrast on each colour."""
    return luminance(colours) > 0.179


@lru_cache(maxsize=1)
def _cycle() -> np.ndarray:
    base = np.array([rgb(colour) for colour in PETROFF10], float)
    towards = np.where(np.array(_TINTED)[:, None], 255.0, 0.0)
    # Saturated light colours turn muddy when mixed with much black, so they go half as far.
    reach = np.where(towards == 0, 0.7, 1.0)
    blocks = [base + (towards - base) * reach * mix for mix in _MIX]
    # Each block starts elsewhere in the ten, so that the blocks' columns do not line up in a grid of 10, 20 or 60.
    rolled = [np.roll(block, -3 * index, axis=0) for index, block in enumerate(blocks)]
    return np.concatenate(rolled).round().astype(np.uint8)


def src_colours(count: int) -> np.ndarray:
    """The identity colour of each of `count` src: uint8 (count, 3). The first ten are petroff10 itself."""
    cycle = _cycle()
    return cycle[np.arange(count) % len(cycle)]
