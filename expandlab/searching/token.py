"""What a cancelled search leaves behind, so that it can go on: plain data, checked when it comes back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from expandlab.searching.leaders import Leaders
from expandlab.searching.space import joined
from expandlab.user_wgsl import checked_buffer, mapping_of

_FORMAT = "expandlab-search-1"


def digest_of(score: str, buffers: Mapping[str, Any] | None) -> str:
    """One SHA-256 over the score and the contents of its buffers."""
    digest = hashlib.sha256(score.encode())
    for name, value in mapping_of(buffers).items():
        array = checked_buffer(name, value).array
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def token_of(
    space: Sequence[int], k: int, digest: str, done: Sequence[tuple[int, int]], leaders: Leaders
) -> dict[str, Any]:
    """The token: JSON-ready. `done` are the ranges of picks that were searched."""
    return {
        "format": _FORMAT,
        "space": list(space),
        "k": k,
        "score_sha256": digest,
        "done": [list(part) for part in joined(done)],
        "leaders": [list(item) for item in leaders.items],
    }


def read_token(
    resume: Any, space: Sequence[int], k: int, digest: str, total: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]]]:
    """(ranges done, leaders) of a token. Raises ValueError naming `resume` where it belongs to another search."""
    if isinstance(resume, str):
        try:
            resume = json.loads(resume)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"resume: is not JSON ({error}); give the .token of a cancelled search") from None
    if not isinstance(resume, Mapping) or resume.get("format") != _FORMAT:
        raise ValueError("resume: is no token of a search; give the .token of a cancelled one")
    for name, mine in (("space", list(space)), ("k", k), ("score_sha256", digest)):
        if resume.get(name) != mine:
            raise ValueError(f"resume: its {name} is {resume.get(name)!r}, and this search has {mine!r}")
    done, leaders = (_rows(resume.get(name), width, name) for name, width in (("done", 2), ("leaders", 3)))
    if any(not 0 <= begin <= end <= total for begin, end in done):
        raise ValueError(f"resume: a range of done lies outside 0 .. {total}")
    if len(leaders) > k or any(
        not (0 <= key < 2**32 and 0 <= number < total and 0 <= bits < 2**32) for key, number, bits in leaders
    ):
        raise ValueError("resume: its leaders are no picks of this search")
    return done, leaders


def _rows(rows: Any, width: int, name: str) -> list[tuple[int, ...]]:
    good = isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == width and all(type(item) is int for item in row) for row in rows
    )
    if not good:
        raise ValueError(f"resume: {name} is not a list of {width} whole numbers each")
    return [tuple(row) for row in rows]
