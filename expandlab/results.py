"""What every public result shares: a frozen dataclass that turns into JSON."""

from __future__ import annotations

import dataclasses
from typing import Any


def to_plain(value: Any) -> Any:
    """`value` as JSON-ready Python: arrays become lists, results become dicts, sets become sorted lists."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value) if f.repr or f.init}
    if isinstance(value, dict):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(to_plain(item) for item in value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "to_json_dict"):
        return value.to_json_dict()
    return value


class Result:
    """Mixin of the frozen dataclasses that the public functions return."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain Python that `json.dumps` accepts."""
        return to_plain(self)
