"""What the cost model looks at: sums over the counts, O(P1) time whatever P2 is."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from expandlab.expansion.tiles import ITEMS, LONGEST_ROUNDS, owners_of_tiles, row_of, share_of_thread


class Statistics:
    """Numbers about counts, each worked out when it is first asked for.

    counts: uint32 (P1,). lanes: of a subgroup, as the device runs it. size: threads in a workgroup.
    """

    def __init__(self, counts: np.ndarray, lanes: int, size: int):
        self.counts = counts
        self.lanes, self.size = max(1, min(lanes, size)), size
        self.src = len(counts)
        self.items = int(counts.sum(dtype=np.uint64))
        self.widest = int(counts.max(initial=0))
        self.busy_src = int(np.count_nonzero(counts))

    @cached_property
    def ends(self) -> np.ndarray:
        """Inclusive prefix sum: int64 (P1,)."""
        return np.cumsum(self.counts, dtype=np.int64)

    def largest_sums(self, values: np.ndarray, width: int) -> int:
        """Rounds that groups of `width` neighbours take together when each waits for its largest value."""
        starts = np.arange(0, len(values), width)
        return int(np.maximum.reduceat(values, starts).sum(dtype=np.int64)) if len(values) else 0

    def rounded(self, values: np.ndarray, width: int) -> int:
        """Sum of the values, each rounded up to whole groups of `width`."""
        return int((-(-values.astype(np.int64) // width)).sum()) * width

    @cached_property
    def loop_rounds(self) -> int:
        """Rounds of all subgroups whose lanes loop over N: each waits for its largest."""
        return self.largest_sums(self.counts, self.lanes)

    @cached_property
    def torn_src(self) -> int:
        """Src with items in subgroups that have others without, whose lanes leave before."""
        starts = np.arange(0, self.src, self.lanes)
        busy = np.add.reduceat(self.counts > 0, starts, dtype=np.int64) if self.src else starts
        whole = np.minimum(self.lanes, self.src - starts)
        return int(busy[busy < whole].sum())

    @cached_property
    def bits(self) -> np.ndarray:
        """Set bits of every N."""
        return np.bitwise_count(self.counts)

    @cached_property
    def entries(self) -> int:
        """Set bits of all N together."""
        return int(self.bits.sum(dtype=np.int64))

    @cached_property
    def bit_rounds(self) -> int:
        """Rounds of all subgroups whose lanes loop over the set bits of N."""
        return self.largest_sums(self.bits, self.lanes)

    @cached_property
    def bucket_items(self) -> np.ndarray:
        """Items of each of the 32 buckets with an entry for each set bit: int64 (32,)."""
        return np.array([int(np.count_nonzero(self.counts >> np.uint32(b) & 1)) << b for b in range(32)], np.int64)

    @cached_property
    def range_items(self) -> np.ndarray:
        """Items of each of the 32 buckets where a src is in bucket floor(log2 N): int64 (32,)."""
        some = self.counts[self.counts > 0]
        bucket = np.frexp(some.astype(np.float64))[1] - 1
        return np.bincount(bucket, weights=some.astype(np.float64), minlength=32).astype(np.int64)

    @cached_property
    def blocks(self) -> np.ndarray:
        """Items of each block of a workgroup's src: int64."""
        starts = np.arange(0, self.src, self.size)
        return np.add.reduceat(self.counts, starts, dtype=np.int64) if self.src else np.zeros(0, np.int64)

    @cached_property
    def walk(self) -> int:
        """Entries that all items read when each walks the list of src from its beginning."""
        some = self.counts[self.counts > 0].astype(np.float64)
        return int((some * np.arange(1, len(some) + 1)).sum())

    @cached_property
    def tile_spans(self) -> np.ndarray:
        """How many src each tile of `tile_search` looks at besides its first: int64."""
        owners = owners_of_tiles(self.ends, ITEMS * self.size)
        return np.append(owners[1:], self.src - 1)[: len(owners)] - owners

    @cached_property
    def tile_rounds(self) -> list[int]:
        """Rounds in which each tile of `tile_search` that marks its src does so."""
        spans = self.tile_spans
        return (-(-spans[spans <= LONGEST_ROUNDS * self.size] // self.size)).tolist()

    @cached_property
    def searched_items(self) -> int:
        """Items in tiles that span too many src to be marked, so that each searches for itself."""
        tile = ITEMS * self.size
        far = np.flatnonzero(self.tile_spans > LONGEST_ROUNDS * self.size)
        return int(np.minimum(self.items - far * tile, tile).sum()) if len(far) else 0

    @cached_property
    def sums_read(self) -> int:
        """Sums that the blocks of `tile_search` read of each other, in rounds of a workgroup."""
        blocks = max(1, -(-self.src // (row_of(self.src, self.size) * self.size)))
        return blocks * -(-blocks // (2 * self.size))

    @cached_property
    def shares(self) -> np.ndarray:
        """Threads of `serial_merge` whose first item is of each src: int64 (P1,)."""
        return np.diff(-(-self.ends // share_of_thread(self.items, self.size)), prepend=0)

    @cached_property
    def shares_written(self) -> np.ndarray:
        """How many of these each thread of pass 1 writes down by itself: int64."""
        starts = np.arange(0, self.src, row_of(self.src, self.size))
        alone = np.where(self.shares > self.size, 0, self.shares)
        return np.add.reduceat(alone, starts) if self.src else alone

    @cached_property
    def giant_rounds(self) -> int:
        """Rounds of the workgroup of pass 1 that writes down most of the others, for giants, with all its threads."""
        starts = np.arange(0, self.src, row_of(self.src, self.size) * self.size)
        rounds = np.where(self.shares > self.size, -(-self.shares // self.size), 0)
        return int(np.add.reduceat(rounds, starts).max()) if self.src else 0

    @cached_property
    def classes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """N of the small, medium and large src of `size_classes`."""
        from expandlab.expansion.strategies.size_classes import LARGE_N, MEDIUM_N

        n = self.counts
        return n[(n > 0) & (n < MEDIUM_N)], n[(n >= MEDIUM_N) & (n < LARGE_N)], n[n >= LARGE_N]


def halvings(count: int) -> int:
    """Probes of a binary search among `count` keys."""
    return max(1, count).bit_length()
