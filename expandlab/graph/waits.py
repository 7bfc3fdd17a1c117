"""Waits between queues: vector clocks find those that say something new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from expandlab.results import Result

Queue = tuple[str, str]


@dataclass(frozen=True)
class Wait(Result):
    """The pass `before` waits until the timeline of `queue` on `device` has reached `value`.

    The value of a timeline after a pass is the place, from 1, of the pass among those of its queue.
    """

    before: str
    queue: str
    device: str
    value: int

    def __repr__(self) -> str:
        return f"<Wait of {self.before} for {self.device}.{self.queue} = {self.value}>"


@dataclass(frozen=True, eq=False)
class Clocks:
    """Where each pass stands in its queue, what it waits for, and what it knows through waits.

    place: of each pass, from 1. waits: (pass, queue, value) in order. through: the place in its own queue up to which
    each pass knows the passes to be done because a wait, its own or one before it, leads from them to it.
    """

    place: list[int]
    waits: list[tuple[int, Queue, int]]
    through: list[int]


def clocks(order: Sequence[int], before: Sequence[Sequence[int]], queues: Sequence[Queue]) -> Clocks:
    """The clocks of passes in `order`; before: the edges; queues: of each pass."""
    used = list(dict.fromkeys(queues[number] for number in order))
    index = {queue: number for number, queue in enumerate(used)}
    place = [0] * len(queues)
    through = [0] * len(queues)
    counts = [0] * len(used)
    for number in order:
        at = index[queues[number]]
        counts[at] += 1
        place[number] = counts[at]
    if len(used) < 2:
        return Clocks(place, [], through)

    waits: list[tuple[int, Queue, int]] = []
    # What a queue knows of every queue through its waits so far, and what each pass knew; never changed in place.
    known: list[list[int]] = [[0] * len(used) for _ in used]
    knew: list[list[int]] = [[] for _ in queues]
    for number in order:
        at = index[queues[number]]
        now = known[at]
        largest: dict[int, int] = {}
        for other in before[number]:
            queue = index[queues[other]]
            if queue != at and now[queue] < place[other]:
                latest = largest.setdefault(queue, other)
                if place[latest] < place[other]:
                    largest[queue] = other
        # A wait goes if another one of the same pass already tells as much.
        wanted = [
            (queue, other)
            for queue, other in largest.items()
            if not any(knew[third][queue] >= place[other] for third in largest.values() if third != other)
        ]
        if wanted:
            now = list(now)
            for queue, other in wanted:
                now = [max(pair) for pair in zip(now, knew[other], strict=True)]
                waits.append((number, used[queue], place[other]))
            known[at] = now
        through[number] = now[at]
        knew[number] = list(now)
        knew[number][at] = place[number]
    return Clocks(place, waits, through)
