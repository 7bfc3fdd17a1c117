"""The load of a strategy, counted round by round."""

import numpy as np

import expandlab as xl
from expandlab.figures.balance import Load, load_of
from expandlab.figures.page import make
from expandlab.settings import BalanceSettings

COUNTS = [5, 1, 0, 9, 2, 2, 40, 3] * 4


def test_the_load_counts_every_round_of_every_step():
    for name in ("append", "workgroup_scan", "size_classes"):
        made = xl.thread_map(COUNTS, name, workgroup_size=32, subgroup_size=8)
        rounds = active = running = launched = 0
        for step in made.steps:
            for _ in range(step.repeats):
                rounds += 1
                for lanes in step.active.tolist():
                    active, launched = active + lanes, launched + 8
                    running += 8 if lanes else 0
        assert load_of(made) == Load(rounds, active, running, launched)


def test_no_steps_are_no_load():
    made = xl.thread_map([], "append")
    assert load_of(made).active == sum(int(step.active.sum()) * step.repeats for step in made.steps)


def test_the_page_lists_every_step_of_every_strategy():
    settings = BalanceSettings(source="list", values=COUNTS, shown=("append", "flat"))
    page = make(settings)
    maps = [xl.thread_map(np.array(COUNTS, np.uint32), name) for name in settings.shown]
    assert len(page.rows) == sum(len(item.steps) for item in maps)
    assert page.data["steps"] == max(len(item.steps) for item in maps)
    assert "finished after" in make(settings.replace(step=10_000)).description
