"""What the models of threads that take several steps share: their rows, and the rounds of their loops."""

from __future__ import annotations

import numpy as np

from expandlab.expansion.thread_map import Lanes, MapBuilder
from expandlab.graph.fold import MAX_GROUPS
from expandlab.wgsl import Line


def stepped(steps: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of groups of `size` threads: (group, thread in the group, step), in the order group, step, thread.

    steps: how many each group takes, all its threads together.
    """
    rows = steps * size
    group = np.repeat(np.arange(len(steps)), rows)
    index = np.arange(len(group)) - (np.cumsum(rows) - rows)[group]
    return group, index % size, index // size


def strided(items: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of groups of `size` threads that stride their items: (group, thread in the group, item or -1 for idle).

    items: of each group. All threads of a group take equally many steps, at least one.
    """
    group, thread, step = stepped(np.maximum(1, -(-items // size)), size)
    item = step * size + thread
    return group, thread, np.where(item < items[group], item, -1)


def own_launches(m: MapBuilder, items: np.ndarray, size: int | None = None) -> tuple[np.ndarray, ...]:
    """Rows of launches of their own, each of whole groups of `size` threads: (launch, thread in it, whether it works).

    items: of each launch; its first so many threads work. size: the workgroup's by default.
    """
    size = size or m.workgroup_size
    threads = folded(-(-items.astype(np.int64) // size)) * size
    m.lanes(int(threads.sum()))
    launch = np.repeat(np.arange(len(items)), threads)
    thread = np.arange(len(launch)) - (np.cumsum(threads) - threads)[launch]
    return launch, thread, thread < items[launch]


def folded(groups: np.ndarray) -> np.ndarray:
    """How many workgroups are launched where so many are wanted, as `fold` does for one number."""
    high = np.maximum(1, -(-groups // MAX_GROUPS))
    return -(-groups // high) * high


def rounds_of(items: np.ndarray, size: int) -> np.ndarray:
    """How many items each thread has when groups of `size` threads stride theirs; one entry for each thread."""
    return np.maximum(0, -(-(items[:, None] - np.arange(size)) // size)).ravel()


def add_loop(m: MapBuilder, pass_name: str, lanes: Lanes, rounds: np.ndarray, *body: tuple[str, Line, int]) -> None:
    """Add the steps of a loop that thread t runs `rounds[t]` times; `body` is (label, line, repeats in a round)."""
    before = 0
    for level in np.unique(rounds[rounds > 0]):
        active = lanes.active(rounds > before)
        for label, line, repeats in body:
            m.step(pass_name, label, line, active, (int(level) - before) * repeats)
        before = int(level)


def search(
    keys: np.ndarray, targets: np.ndarray, side: str, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(place, probes) of the binary search of each target between its `low` and `high`, as the shaders halve.

    side: "right" goes on while the key is at most the target, "left" while it is below.
    """
    low, high = low.astype(np.int64), high.astype(np.int64)
    probes = np.zeros(len(targets), np.int64)
    while np.any(searching := low < high):
        middle = np.where(searching, low + (high - low) // 2, 0)
        beyond = keys[middle] <= targets if side == "right" else keys[middle] < targets
        low = np.where(searching & beyond, middle + 1, low)
        high = np.where(searching & ~beyond, middle, high)
        probes += searching
    return low, probes
