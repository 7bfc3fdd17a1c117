"""The best builds against NumPy's brute force over every loadout, with sets' bonuses and minimums."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import expandlab as xl
from expandlab import relics
from expandlab.cli import app
from expandlab.relics.generate import to_optimizer, to_scanner
from expandlab.relics.goal import Goal, SetBonus

GOALS = {
    "one stat": Goal({"CRIT Rate": 2.0}),
    "several": Goal({"CRIT Rate": 2.0, "CRIT DMG": 1.0, "ATK%": 0.75, "SPD": -0.5}),
    "with minimums": Goal({"CRIT DMG": 1.0}, {"SPD": 8.0, "HP": 750.0}),
    "four pieces": Goal(
        {"ATK": 0.1, "DEF%": 1.0},
        bonuses=[SetBonus("Eagle of Twilight Line", 4, "DEF%", 100.0), SetBonus("Rutilant Arena", 2, "ATK", 50.0)],
    ),
}


def brute_force(found, goal):
    picks = np.array(list(itertools.product(*map(range, found.space))))
    return picks, goal.score(found, picks)


def test_the_definition_adds_up_relics_and_bonuses():
    made = relics.make(4, seed=9)
    goal, pick = GOALS["four pieces"], np.array([[0, 1, 2, 3, 0, 1]])
    build = [items[place] for items, place in zip(made.by_slot().values(), pick[0], strict=True)]
    total = {"ATK": 0.0, "DEF%": 0.0}
    for relic in build:
        for stat, size in (relic.main, *relic.subs):
            if stat in total:
                total[stat] += size
    sets = [relic.set_name for relic in build]
    total["DEF%"] += 100.0 * (sets.count("Eagle of Twilight Line") >= 4)
    total["ATK"] += 50.0 * (sets.count("Rutilant Arena") >= 2)
    assert goal.score(made, pick)[0] == pytest.approx(0.1 * total["ATK"] + total["DEF%"], rel=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS.keys())
def test_the_best_builds_are_those_of_the_definition(goal, gpu):
    made = relics.make((7, 6, 5, 6, 7, 4), seed=4)
    _, scores = brute_force(made, goal)
    found = relics.best_builds(made, goal, 50, devices=gpu)
    count = min(50, np.isfinite(scores).sum())
    # The same sums in another order: equal up to rounding, and no better build was missed.
    assert len(found.scores) == count
    assert np.allclose(found.scores, np.sort(scores)[::-1][:count], rtol=1e-5)
    assert np.allclose(goal.score(made, found.picks), found.scores, rtol=1e-5)
    table = found.frame()
    assert list(table["score"]) == sorted(table["score"], reverse=True) and len(table) == count


@pytest.mark.gpu
def test_minimums_that_nobody_meets_leave_no_builds(lavapipe):
    found = relics.best_builds(relics.make(3), Goal({"SPD": 1.0}, {"SPD": 1e6}), 5, devices=lavapipe)
    assert len(found.scores) == len(found.picks) == len(found.frame()) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (({},), "weights: there are none"),
        (({"Luck": 1.0},), "weights: 'Luck' is no stat"),
        (({"SPD": float("nan")},), r"weights\['SPD'\]"),
        (({"SPD": 1.0}, {"HP": "much"}), r"minimums\['HP'\]"),
        (({"SPD": 1.0}, {}, [SetBonus("A", 7, "HP", 1.0)]), "7 pieces"),
    ],
)
def test_a_bad_goal_is_named(arguments, told):
    with pytest.raises(ValueError, match=told):
        Goal(*arguments)


def test_a_slot_without_relics_is_named():
    with pytest.raises(xl.RelicsError, match="there are no relics"):
        relics.best_builds(relics.make(0), GOALS["one stat"])
    with pytest.raises(xl.RelicsError, match="no relic for Feet"):
        relics.best_builds(relics.make((1, 1, 1, 0, 1, 1)), GOALS["one stat"])


@pytest.mark.gpu
@pytest.mark.parametrize("form", [to_scanner, to_optimizer])
def test_the_command_lists_the_builds_of_a_file(form, lavapipe, tmp_path):
    made = relics.make(5, seed=6)
    path, out = tmp_path / "relics.json", tmp_path / "builds.csv"
    path.write_text(json.dumps(form(made)))
    options = ["--k", "4", "--weight", "CRIT Rate=2", "--weight", "SPD=1", "--minimum", "HP=100"]
    ran = CliRunner().invoke(app, ["search", str(path), *options, "--device", "lavapipe", "-o", str(out), "--json"])
    assert ran.exit_code == 0, ran.output
    told = json.loads(ran.stdout)
    _, scores = brute_force(made, Goal({"CRIT Rate": 2.0, "SPD": 1.0}, {"HP": 100.0}))
    assert [row["score"] for row in told["builds"]] == pytest.approx(np.sort(scores)[::-1][:4].tolist(), rel=1e-5)
    assert told["report"]["picks"] == 5**6 and out.read_text().startswith("score,Head,Hands")
    # The table: readable in the 80 columns of a narrow terminal, with names that look like markup.
    document = form(made)
    for number, entry in enumerate(document["relics"]):
        entry |= {"name": f"[/b]{number}", "id": f"[/b]{number}"}
    path.write_text(json.dumps(document))
    ran = CliRunner().invoke(app, ["search", str(path), *options, "--device", "lavapipe"])
    assert ran.exit_code == 0, ran.output
    names = {name: f"[/b]{number}" for number, name in enumerate(relic.name for relic in made.relics)}
    for row in told["builds"]:
        assert f"{row['score']:.4g} " in ran.output and f"{row['SPD']:.4g} " in ran.output
        assert all(f" {names[row[slot]]} " in ran.output for slot in relics.SLOTS)
    ran = CliRunner().invoke(app, ["search", str(path), "--minimum", "HP=1e9", "--device", "lavapipe"])
    assert ran.exit_code == 0 and "no loadout meets all minimums" in ran.output


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--weight", "CRIT Rate"], 2, "STAT=NUMBER"),
        (["--weight", "Luck=1"], 1, "is no stat"),
        (["-o", "builds.txt", "--device", "lavapipe"], 2, "in .csv or .json"),
        (["-o", "nowhere/builds.csv", "--device", "lavapipe"], 2, "there is no folder nowhere"),
    ],
)
def test_the_command_says_what_is_wrong(options, code, told, tmp_path):
    path = tmp_path / "relics.json"
    path.write_text(json.dumps(to_scanner(relics.make(2))))
    ran = CliRunner().invoke(app, ["search", str(path), *options])
    assert ran.exit_code == code and told in " ".join(ran.output.replace("│", " ").split())
    path.write_text(json.dumps({"relics": [{"slot": "Head"}]}))
    ran = CliRunner().invoke(app, ["search", str(path)])
    assert ran.exit_code == 1 and "relics[0]: rarity is missing" in ran.output
