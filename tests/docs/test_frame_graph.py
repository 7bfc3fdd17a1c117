"""The page on the frame graph says what is true: its example, its slots, and the modules that it names."""

from __future__ import annotations

import re
from pathlib import Path

import expandlab as xl

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "frame-graph.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_gives_what_the_page_says():
    names = {"xl": xl}
    exec(blocks("python")[0], names)
    assert names["plan"].edges == [("high", "use"), ("low", "use")]
    assert [barrier.before for barrier in names["plan"].barriers] == ["use"]


def test_the_slots_are_read():
    plan = xl.FrameGraph.from_slots(blocks("json")[0]).compile()
    assert [(c.source, c.target, c.kinds) for c in plan.connections] == [("a.out", "b.in", ("RAW",))]


def test_every_module_that_the_page_names_is_there():
    named = set(re.findall(r"`(\w+\.py)`", PAGE))
    assert named and all((ROOT / "expandlab" / "graph" / name).is_file() for name in named)
