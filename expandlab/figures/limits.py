"""How much a picture can show."""

from __future__ import annotations

from expandlab.errors import UnsupportedError

# More threads or src than this are finer than the pixels of a screen.
MAX_DRAWN = 65_536


class TooLargeToDraw(UnsupportedError):
    """More threads than a picture can show; the message says what to lower."""


def refuse(count: int, what: str, more: str = "", most: int = MAX_DRAWN, lower: str = "items or mean N") -> None:
    """Raise TooLargeToDraw where `count` is more than a picture shows."""
    if count > most:
        raise TooLargeToDraw(
            f"{what}, and a picture shows at most {most:,}: lower {lower}{more}. "
            "(Run and expandlab's functions take far more.)"
        )
