"""What a cancelled search leaves behind, so that it can go on: plain data, checked when it comes back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from expandlab.searching.leaders import Leaders
from expandlab.searching.space import joined
from expandlab.topk.keys import keys_of
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
    done = _rows(resume.get("done"), 2, "done")
    if any(not 0 <= begin <= end <= total for begin, end in done):
        raise ValueError(f"resume: a range of done lies outside 0 .. {total}")
    return done, checked_leaders(resume.get("leaders"), k, total)


def checked_leaders(rows: Any, k: int, total: int) -> list[tuple[int, int, int]]:
    """The leaders of a token. Raises ValueError naming `resume` where a search of `total` picks cannot have them."""
    leaders = _rows(rows, 3, "leaders")
    if len(leaders) > k:
        raise ValueError(f"resume: leaders: {len(leaders):,} of them, and k={k:,}")
    seen = set()
    for key, number, bits in leaders:
        if not (0 <= number < total and 0 <= bits < 2**32):
            raise ValueError("resume: its leaders are no picks of this search")
        if key != keys_of(np.array([bits], np.uint32).view(np.float32), True)[0]:
            raise ValueError(f"resume: leaders: pick {number} has another score than its key says")
        if number in seen:
            raise ValueError(f"resume: leaders: pick {number} stands there twice")
        seen.add(number)
    return leaders


def _rows(rows: Any, width: int, name: str) -> list[tuple[int, ...]]:
    good = isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == width and all(type(item) is int for item in row) for row in rows
    )
    if not good:
        raise ValueError(f"resume: {name} is not a list of {width} whole numbers each")
    return [tuple(row) for row in rows]
