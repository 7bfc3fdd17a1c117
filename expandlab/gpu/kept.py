"""A cache that forgets what was not asked for longest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Kept:
    """At most `most` things by their keys. What it forgets lives on where it is still held."""

    def __init__(self, most: int):
        self._most = most
        self._things: OrderedDict[Hashable, Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._things)

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The thing of this key, made now if there is none. What `make` raises leaves everything as it was."""
        if key not in self._things:
            self._things[key] = make()
            if len(self._things) > self._most:
                self._things.popitem(last=False)
        self._things.move_to_end(key)
        return self._things[key]
