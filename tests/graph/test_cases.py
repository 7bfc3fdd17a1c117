"""Every case of tests/cases/graph.json: small graphs and what their plans must contain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import expandlab as xl

CASES = json.loads((Path(__file__).parent.parent / "cases" / "graph.json").read_text())["cases"]


def compiled(case):
    graph = xl.FrameGraph.from_json(case["graph"])
    for step in case.get("insert", []):
        options = dict(step["pass"])
        name, accesses = options.pop("name"), options.pop("accesses", [])
        graph.insert(name, accesses, at_before=step.get("before"), at_after=step.get("after"), **options)
    return graph.compile(case["mode"])


def rows(values, *dropped):
    """Results as comparable rows: dictionaries with lists in place of sets and tuples, in one order."""
    plain = [{key: item for key, item in value.to_dict().items() if key not in dropped} for value in values]
    return sorted(json.dumps(row, sort_keys=True) for row in plain)


def expected(values):
    """The same from a case, whose masks are lists of names in any order."""
    masks = ("src_stages", "src_access", "dst_stages", "dst_access")
    return sorted(
        json.dumps({k: sorted(v) if k in masks else v for k, v in row.items()}, sort_keys=True) for row in values
    )


def tops(plan):
    found = {}
    for place in plan.memory:
        found[place.device] = max(found.get(place.device, 0), place.offset + place.size)
    return found


FOUND = {
    "hazards": lambda plan: sorted([h.producer, h.consumer, h.resource, list(h.range), h.kind] for h in plan.hazards),
    "edges": lambda plan: [list(edge) for edge in plan.edges],
    "barriers": lambda plan: rows(plan.barriers, "resources"),
    "waits": lambda plan: rows(plan.waits),
    "copies": lambda plan: rows(plan.copies),
    "culled": lambda plan: sorted(plan.culled),
    "barrier_count": lambda plan: len(plan.barriers),
    "wait_count": lambda plan: len(plan.waits),
    "memory": tops,
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_plan_of_a_case_contains_what_the_case_says(case):
    expect = dict(case["expect"])
    if "error" in expect:
        with pytest.raises(getattr(xl, expect.pop("error"))) as caught:
            compiled(case)
        cycle = expect.pop("cycle", None)
        if cycle is not None:
            found = [producer for producer, _, _ in caught.value.cycle]
            turns = [found[at:] + found[:at] for at in range(len(found))]
            assert cycle in turns
        assert not expect
        return
    plan = compiled(case)
    for key, value in expect.items():
        if key in ("barriers", "waits", "copies"):
            value = expected(value)
        elif key in ("hazards", "culled"):
            value = sorted(value)
        assert FOUND[key](plan) == value, key
