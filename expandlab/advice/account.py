"""The SIMT account of every strategy: what it does, counted from the counts alone, and how busy its lanes are.

A strategy's time is a sum of terms: the front end (dispatches), lanes that start, rounds that a subgroup loops while
its slowest lane is not done (divergence), the longest chain that nothing hides, words that move, dependent loads and
atomics. Each term is a number of such events; what one of them costs is a property of the device and is fitted to
measurements on it (`expandlab.advice.fit`). No term needs P2 steps to be worked out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from expandlab.advice.statistics import Statistics, halvings
from expandlab.advice.term import FRONT_POWER, LAUNCH_POWER, WORK_POWER, Launches, Term
from expandlab.expansion.buckets import BUCKETS
from expandlab.expansion.strategies.size_classes import GROUP, piece_items
from expandlab.expansion.strategies.workgroup_scan import ROUNDS
from expandlab.expansion.tiles import ITEMS, share_of_thread
from expandlab.graph.fold import fold


@dataclass(frozen=True)
class Account:
    """How a strategy is counted.

    terms: besides the fixed cost of its dispatches. rows: rows of pass 2, one for each thread or step of one, idle ones
    included, so that P2 / rows is the utilisation. steps: rounds of subgroups, for a bound of what may be measured.
    """

    terms: Callable[[Statistics], list[Term]]
    rows: Callable[[Statistics], int]


def _src(s: Statistics, says: str) -> Term:
    return Term("src", s.src, says)


def _items(s: Statistics) -> Term:
    return Term("items", s.items, f"writing {s.items:,} items")


def _probes(s: Statistics, keys: int) -> Term:
    deep = halvings(keys)
    return Term("probes", s.items * deep, f"{deep} dependent loads of a binary search for each item")


def _groups(s: Statistics, threads: int) -> int:
    """Threads of a folded dispatch for so many threads."""
    x, y, _ = fold(-(-threads // s.size))
    return x * y * s.size


def _one_each(s: Statistics) -> int:
    return _groups(s, s.items)


def _flat(s: Statistics) -> list[Term]:
    threads = s.src * s.widest
    return [
        _src(s, f"{s.src:,} atomics on one counter"), _items(s),
        Term("threads", threads, f"starting P1 x MAX_N = {threads:,} threads"),
    ]  # fmt: skip


def _append(s: Statistics) -> list[Term]:
    return [
        _src(s, f"reserving room for {s.src:,} src"), _items(s),
        Term("rounds", s.loop_rounds, "subgroups that write infos until their largest N is done"),
        Term("longest", s.widest, f"the loop over the largest N, {s.widest:,} rounds that nothing hides"),
    ]  # fmt: skip


def _append_each(s: Statistics) -> list[Term]:
    return [*_append(s), Term("torn", s.torn_src, f"{s.torn_src:,} atomics of subgroups that empty src have left")]


def _linear(s: Statistics) -> list[Term]:
    return [
        _src(s, "listing the src"), _items(s),
        Term("walk", s.walk / s.lanes, "walking the list of src from its beginning for every item"),
        Term("longest", s.busy_src, f"the walk of the last items, {s.busy_src:,} entries"),
    ]  # fmt: skip


def _prefix(s: Statistics) -> list[Term]:
    return [_src(s, "the prefix sum"), _items(s), _probes(s, s.src)]


def _atomic64(s: Statistics) -> list[Term]:
    return [
        _src(s, f"64-bit atomics of {s.src:,} src on one counter"), _items(s), _probes(s, s.busy_src),
        Term("entries", s.busy_src, "writing entries of 12 bytes"),
    ]  # fmt: skip


def _cas(s: Statistics) -> list[Term]:
    # Of the lanes that read the same value one gets in; all subgroups compete for the same word.
    tries = s.busy_src * min(s.busy_src, 4096)
    return [*_atomic64(s), Term("tries", tries, "compare-exchange tries that fail")]


def _buckets(s: Statistics) -> list[Term]:
    return [
        _src(s, "counting the bits of every N"), _items(s),
        Term("entries", s.entries, f"{s.entries:,} entries, one for each set bit"),
        Term("rounds", s.bit_rounds, "subgroups that write entries until their N with most bits is done"),
    ]  # fmt: skip


def _each_bucket(s: Statistics) -> list[Term]:
    busy = int(np.count_nonzero(s.bucket_items))
    return [
        *_buckets(s),
        Term("launches", BUCKETS, f"{BUCKETS} dispatches, one for each bucket", LAUNCH_POWER),
        Term("busy buckets", busy, f"{busy} dispatches with threads, one for each bucket in use", LAUNCH_POWER),
    ]


def _range(s: Statistics) -> list[Term]:
    pieces = int((s.range_items >> np.arange(32)).sum())
    return [_src(s, "placing every src in its bucket"), _items(s),
            Term("entries", pieces, f"{pieces:,} entries, one for each range that begins")]  # fmt: skip


def _blocks(s: Statistics) -> list[Term]:
    rounds = int((-(-s.blocks // s.size)).sum())
    longest = min(int(s.blocks.max(initial=0)) // s.size + 1, ROUNDS)
    return [
        _src(s, "scanning every block of src in workgroup memory"), _items(s),
        Term("rounds", rounds, f"{rounds:,} rounds of workgroups that stride their block's items"),
        Term("longest", longest, f"the fullest block, {longest} rounds"),
    ]  # fmt: skip


def _tile(s: Statistics) -> list[Term]:
    longest = 2 * max(s.tile_rounds, default=0)  # once for the marks, once for the owners
    return [
        _src(s, "the prefix sum"), _items(s),
        Term("marks", s.busy_src, f"marking the first items of {s.busy_src:,} src"),
        Term("sums", s.sums_read, "blocks that add up the sums before them"),
        Term("rounds", sum(s.tile_rounds), "rounds of workgroups that mark the src of their tile"),
        Term("longest", longest, f"marking the fullest tile, {longest} rounds that nothing hides"),
        Term("probes", s.searched_items * halvings(s.src), "items of tiles that span too many empty src"),
    ]  # fmt: skip


def _merge(s: Statistics) -> list[Term]:
    written = s.shares_written
    longest = int(written.max(initial=0))
    return [
        _src(s, "the prefix sum of items and entries"), _items(s),
        Term("entries", s.busy_src, f"writing and reading {s.busy_src:,} entries"),
        Term("sums", s.sums_read, "blocks that add up the sums before them"),
        Term("rounds", s.largest_sums(written, s.lanes), "subgroups that write down where the threads of pass 2 begin"),
        Term("longest", longest, f"{longest:,} of these by one thread, which nothing hides"),
        Term("giants", s.giant_rounds, f"{s.giant_rounds:,} rounds of one workgroup that does so for giants"),
    ]  # fmt: skip


def _heads(s: Statistics) -> list[Term]:
    return [_src(s, "the prefix sum"), _items(s), Term("marks", s.busy_src, f"scattering {s.busy_src:,} heads")]


def _classes(s: Statistics) -> list[Term]:
    small, medium, large = s.classes
    rounds = s.largest_sums(small, GROUP)
    strides = s.rounded(medium, GROUP) // GROUP
    wide = s.rounded(large, s.size) // s.size
    longest = int(-(-np.minimum(large, piece_items(large)).max(initial=0) // s.size)) if len(large) else 0
    return [
        _src(s, "sorting the src by size"), _items(s),
        Term("rounds", rounds, "small src that wait for the largest of their group"),
        Term("strides", strides, f"{len(medium):,} medium src, 32 threads each"),
        Term("wide", wide, f"{len(large):,} large src, a workgroup each"),
        Term("longest", longest, f"the largest piece, {longest} rounds"),
    ]  # fmt: skip


def _dispatches(s: Statistics) -> list[Term]:
    groups = -(-s.counts[s.counts > 0].astype(np.int64) // s.size)
    says = f"{s.src:,} dispatches that the front end takes up one by one, and their threads"
    # They write the same buffer, so WebGPU lets each begin when the one before has ended.
    return [Launches("launches", s.src, says, LAUNCH_POWER, groups * s.size)]


def _draws(s: Statistics) -> list[Term]:
    # A draw takes the front end about as long as the vertices of half a subgroup take; draws overlap.
    says = f"{s.busy_src:,} draws that the front end takes up one by one, and their vertices"
    draws = Launches("draws", s.busy_src, says, WORK_POWER, s.counts[s.counts > 0], True, max(1, s.lanes // 2))
    return [_src(s, "appending draws"), draws]


def _align(items: np.ndarray, width: int) -> int:
    return int((-(-items // width)).sum()) * width


def _class_rows(s: Statistics) -> int:
    small, medium, large = s.classes
    pieces = -(-large.astype(np.int64) // piece_items(large)) if len(large) else np.zeros(0, np.int64)
    whole, size = piece_items(large) if len(large) else np.zeros(0, np.int64), s.size
    # Every piece but the last is whole; the last is rounded up by itself.
    rest = large.astype(np.int64) - (pieces - 1) * whole
    strides = int(((pieces - 1) * -(-whole // size)).sum()) * size + s.rounded(rest, size)
    padding = _groups(s, len(small)) // GROUP - -(-len(small) // GROUP)
    medium_padding = _groups(s, GROUP * len(medium)) // GROUP - len(medium)
    large_padding = _groups(s, size * int(pieces.sum())) - size * int(pieces.sum())
    return (
        (s.largest_sums(small, GROUP) + padding) * GROUP
        + s.rounded(medium, GROUP) + medium_padding * GROUP + strides + large_padding
    )  # fmt: skip


def _block_rows(s: Statistics) -> int:
    if not s.items:
        return 0
    part = ROUNDS * s.size
    helpers = int((s.blocks // part).sum())
    rounds = int(np.maximum(1, -(-(s.blocks % part) // s.size)).sum()) + helpers * ROUNDS
    x, y, _ = fold(len(s.blocks) + helpers)
    return (rounds + x * y - len(s.blocks) - helpers) * s.size


def _tile_rows(s: Statistics) -> int:
    tile, row = ITEMS * s.size, 4 * s.size
    whole, rest = divmod(s.items, tile)
    groups = _groups(s, (whole + bool(rest)) * s.size) // s.size
    idle = groups - whole - bool(rest)
    return whole * tile + (-(-rest // row) + idle) * row


def _merge_rows(s: Statistics) -> int:
    share = share_of_thread(s.items, s.size)
    whole, rest = divmod(s.items, share)
    idle = _groups(s, whole + bool(rest)) - whole - bool(rest)
    return whole * share + 4 * (-(-rest // 4) + idle)


ACCOUNTS: dict[str, Account] = {
    "flat": Account(_flat, lambda s: _groups(s, s.src * s.widest)),
    "append": Account(_append_each, _one_each),
    "append_aggregated": Account(_append, _one_each),
    "linear_search": Account(_linear, _one_each),
    "prefix_search": Account(_prefix, _one_each),
    "atomic64_cas": Account(_cas, _one_each),
    "atomic64_add": Account(_atomic64, _one_each),
    "atomic64_aggregated": Account(_atomic64, _one_each),
    "lookback_search": Account(_prefix, _one_each),
    "po2_buckets": Account(_each_bucket, lambda s: sum(_groups(s, int(items)) for items in s.bucket_items if items)),
    "po2_merged": Account(_buckets, lambda s: _groups(s, _align(s.bucket_items, s.lanes))),
    "po2_range": Account(_range, lambda s: _groups(s, _align(s.range_items, s.lanes))),
    "workgroup_scan": Account(_blocks, _block_rows),
    "tile_search": Account(_tile, _tile_rows),
    "serial_merge": Account(_merge, _merge_rows),
    "head_scan": Account(_heads, _one_each),
    "size_classes": Account(_classes, _class_rows),
    "dispatch_each": Account(_dispatches, lambda s: s.rounded(s.counts, s.size)),
    "draw_indirect_count": Account(_draws, lambda s: s.rounded(s.counts, s.lanes)),
}

# The stored forms do the same with a larger entry.
ACCOUNTS |= {f"{name}_stored": ACCOUNTS[name] for name in ("po2_buckets", "po2_merged")}


def account(name: str) -> Account:
    """Of a strategy; one that has none is counted by its src and items alone."""
    return ACCOUNTS.get(name, Account(lambda s: [_src(s, "pass 1"), _items(s)], _one_each))


def terms(name: str, s: Statistics) -> list[Term]:
    """The terms of a strategy, the fixed cost of its dispatches first."""
    return [
        Term("fixed", 1.0, "the front end: dispatches and what they wait for", FRONT_POWER),
        *account(name).terms(s),
    ]


def borrows(name: str) -> bool:
    """Whether what a thread of a strategy costs is taken from others."""
    none = Statistics(np.zeros(0, np.uint32), 1, 1)
    return any(isinstance(term, Launches) and term.per_launch is None for term in account(name).terms(none))


def utilisation(name: str, s: Statistics) -> float:
    """Rows of pass 2 with an item over all rows, as `ThreadMap.utilisation`; 1.0 with no rows."""
    rows = account(name).rows(s)
    return s.items / rows if rows else 1.0
