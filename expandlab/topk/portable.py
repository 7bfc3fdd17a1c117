"""A method as files for programs in other languages: its shaders, and how to run them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from expandlab.errors import UnsupportedError
from expandlab.graph import portable
from expandlab.topk.arguments import check_largest, whole
from expandlab.topk.keys import format_of
from expandlab.topk.method import Sizes, params_words
from expandlab.topk.methods import top_k_methods
from expandlab.topk.prepared import NO_BOUND, build

_FIELDS = ("n", "bound_key", "bound_index", "k", "list_room", "kept_room", "max_n", "unused")


def export(
    name: str, out: str | Path, *, max_n: int = 1048576, k: int = 1024, dtype: Any = "float32", largest: bool = True
) -> dict[str, Any]:
    """Write a method's WGSL and `plan.json` into the folder `out`; returns the plan.

    name: of `top_k_methods()`. max_n, k, dtype, largest: as of `Selector`; the buffers are sized for them.

    Raises ValueError and TypeError naming the argument, UnsupportedError for sizes above the method's caps and for a
    method whose last step is the host's.
    """
    known = top_k_methods()
    if name not in known:
        raise ValueError(f"name={name!r}: use one of {', '.join(known)}")
    method = known[name]
    if not whole("k", k, 1) <= whole("max_n", max_n, 1) < 2**32:
        raise ValueError(f"k={k}, max_n={max_n}: give 1 <= k <= max_n < 2^32")
    for what, value, cap in (("max_n", max_n, method.max_src), ("k", k, method.max_k)):
        if cap is not None and value > cap:
            raise UnsupportedError(f"{what}={value:,}: {name!r} takes at most {cap:,}; give that or less")
    if method.finish is not None:
        raise UnsupportedError(f"name={name!r}: its last step is the host's; there is nothing to export")
    sizes = Sizes(max_n, k, format_of(dtype, "dtype"), check_largest(largest))
    built = build(method, sizes)
    values = dict(zip(_FIELDS, params_words(0, sizes, NO_BOUND).tolist(), strict=True))
    del values["n"]
    plan = {
        "name": name,
        "title": method.title,
        "summary": method.summary,
        "max_n": max_n,
        "k": k,
        "dtype": sizes.form.name,
        "largest": sizes.largest,
        "inputs": {
            "values": f"the scores, {sizes.form.per_word} to a word of 32 bits",
            "params": {"fields": list(_FIELDS), "values": values},
        },
        "results": {
            "status": "u32: results found (k, or all where fewer count), and three more for the method",
            "out_indices": "u32 for each result, best first",
            "out_values": "the scores there, as they lie in the input",
        },
        **portable.plan_of(built.graph, built.imported),
    }
    portable.write(out, plan, portable.sources_of(built.graph))
    return plan
