"""A trace of the single-pass scan: what every block publishes, and who looks back at whom.

The twin of `shaders/expansion/lookback_search/lookback.wgsl`, with the workgroups taking turns one action at a time:
`order` 0 in the order of their tickets, else in a random one with that seed. With `put_off` the workgroup that drew the
first ticket is not run again before all others have ended, as a device may do; nobody waits for it forever.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from expandlab.expansion.scan import ROW
from expandlab.expansion.strategies.lookback_search import SPINS
from expandlab.expansion.traces.trace import Trace, Tracer, listed
from expandlab.wgsl import anchor

_FILE = "expansion/lookback_search/lookback.wgsl"
# In growing order: a flag is never taken back.
_NONE, _AGGREGATE, _INCLUSIVE = "-", "A", "I"


@dataclass
class _State:
    """What all workgroups share: the sums of the blocks, what is published (flag, value), the tickets drawn."""

    t: Tracer
    threads: int
    sums: list[int]
    published: list[tuple[str, int]]
    tickets: int = 0
    # The block whose workgroup is put off.
    late: int | None = None

    def publish(self, block: int, flag: str, value: int) -> None:
        """A late writer of a smaller flag changes nothing."""
        if self.published[block][0] < flag:
            self.published[block] = (flag, value)
            self.t.put("spine", block, f"{flag} {value}", block)

    def say(self, label: str, mark: str, said: str, block: int, **touched: object) -> None:
        """Take a moment down for the workgroup of a block."""
        self.t.moment(
            f"block {block}", label, anchor(_FILE, mark), said, self.threads if mark != "publish" else 1,
            self.threads * len(self.sums), **touched,
        )  # fmt: skip


def lookback(counts: np.ndarray, threads: int, order: int, put_off: bool) -> Trace:
    """The single-pass scan over blocks of 8 counts for each thread."""
    block = ROW * threads
    blocks = -(-len(counts) // block)
    t = Tracer("lookback", "Prefix sum in a single pass: look back")
    sums = [int(counts[i * block : (i + 1) * block].sum(dtype=np.int64)) for i in range(blocks)]
    t.row("sum of block", blocks, sums, np.arange(blocks))
    t.row("spine", blocks, [_NONE] * blocks)
    t.row("end of block", blocks)
    state = _State(t, threads, sums, [(_NONE, 0)] * blocks)
    groups = [_workgroup(state) for _ in range(blocks)]
    _take_turns(state, groups, order, put_off)
    ends = np.cumsum(sums) if sums else []
    return t.done(f"Blocks of {block} counts, with sums {listed(sums)}: their ends are {listed(ends)}")


def _take_turns(state: _State, groups: list[Iterator[None]], order: int, put_off: bool) -> None:
    """Run the workgroups, one action each turn."""
    rng = np.random.default_rng(order)
    running = list(groups)
    late = None
    if put_off and len(groups) > 1:
        late = running.pop(0)
        state.late = state.tickets
        next(late)
    while running:
        for index in rng.permutation(len(running)) if order else range(len(running)):
            if next(running[index], "ended") == "ended":
                running[index] = None
        running = [group for group in running if group is not None]
    # Last of all, the one that was put off.
    for _ in late or ():
        pass


def _workgroup(state: _State) -> Iterator[None]:
    """What one workgroup does, an action at a time."""
    block = state.tickets
    state.tickets += 1
    state.say("draw a ticket", "ticket", f"The ticket says: block {block}. All lower blocks have been drawn before, so "
              "their workgroups have begun.", block, read={"sum of block": [block]})  # fmt: skip
    yield
    total = state.sums[block]
    state.publish(block, _AGGREGATE, total)
    state.say("publish the block's sum", "publish", f"It scans its own counts and publishes A {total}: the sum of "
              f"block {block} alone (aggregate).", block,
              read={"sum of block": [block]}, written={"spine": [block]})  # fmt: skip
    yield
    before, behind = 0, block
    while behind > 0:
        added, behind, ended = _look(state, block, before, behind)
        before += added
        yield
        if ended:
            break
    state.publish(block, _INCLUSIVE, before + total)
    state.say("publish the sum up to here", "publish-inclusive", f"It publishes I {before + total}: {before} before "
              f"it, and its own {total} (inclusive).", block, written={"spine": [block]})  # fmt: skip
    yield
    state.t.put("end of block", block, before + total, block)
    state.say("store the ends", "store", f"It stores the ends of its src; the last one is {before + total}.", block,
              written={"end of block": [block]})  # fmt: skip
    yield


def _look(state: _State, block: int, before: int, behind: int) -> tuple[int, int, bool]:
    """One look at the `threads` blocks before: (what to add, blocks still behind, whether it is done)."""
    window = [behind - 1 - i for i in range(min(state.threads, behind))]
    taken: list[int] = []
    done = False
    for other in window:
        flag, _ = state.published[other]
        if flag == _NONE:
            break
        taken.append(other)
        if flag == _INCLUSIVE:
            done = True
            break
    added = sum(state.published[other][1] for other in taken)
    links = [(("spine", other), ("end of block", block)) for other in taken]
    if taken:
        behind -= len(taken)
        found = "; one of them knows all that lies before it, so this is all" if done else ""
        state.say("look back", "add", f"It looks at the blocks {listed(window)} and adds {added} of {listed(taken)}: "
                  f"{before + added} so far{found}.", block, read={"spine": taken}, links=links)  # fmt: skip
        return added, behind, done or behind == 0
    blocker = window[0]
    if blocker != state.late:
        state.say("look back in vain", "look", f"Block {blocker} has published nothing yet. It looks again.", block,
                  read={"spine": [blocker]})  # fmt: skip
        return 0, behind, False
    theirs = state.sums[blocker]
    state.t.moment(
        f"block {block}", "look back in vain", anchor(_FILE, "look"), f"Block {blocker} has published nothing, "
        f"{SPINS + 1} looks long.", state.threads, state.threads * len(state.sums), read={"spine": [blocker]},
        repeats=SPINS + 1,
    )  # fmt: skip
    state.publish(blocker, _AGGREGATE, theirs)
    state.say("add its counts up instead", "fallback", f"It does not wait: it adds up the counts of block {blocker} "
              f"itself, and publishes A {theirs} for it.", block, read={"sum of block": [blocker]},
              written={"spine": [blocker]})  # fmt: skip
    return theirs, behind - 1, behind - 1 == 0
