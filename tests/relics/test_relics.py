"""Relic files of both forms: what is read, and what each known fault does."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest

import expandlab as xl
from expandlab import relics
from expandlab.relics.generate import to_optimizer, to_scanner
from expandlab.relics.stats import MAIN_OF_SLOT, STATS, SUB

SCANNED = {
    "set": "Musketeer of Wild Wheat", "slot": "Planar Sphere", "rarity": 5, "level": 15, "mainstat": "ATK",
    "substats": [{"key": "HP", "value": 38}, {"key": "CRIT Rate_", "value": 2.9}, {"key": "SPD", "value": 2.3}],
    "location": "", "lock": True, "discard": False, "_id": "relic_0",
}  # fmt: skip
SAVED = {
    "part": "Body", "set": "Genius of Brilliant Stars", "enhance": 15, "grade": 5, "id": "a1", "equippedBy": "1205",
    "main": {"stat": "CRIT Rate", "value": 32.4},
    "substats": [{"stat": "ATK%", "value": 7.776}, {"stat": "DEF", "value": 19.05}],
}  # fmt: skip


def document(*entries):
    return {"source": "HSR-Scanner", "build": "v1", "version": 4, "metadata": {}, "relics": list(entries)}


def changed(entry, path, value):
    """A copy of `entry` with one field set, or removed where `value` is Ellipsis."""
    entry = copy.deepcopy(entry)
    *parents, last = path
    target = entry
    for key in parents:
        target = target[key]
    if value is ...:
        del target[last]
    else:
        target[last] = value
    return entry


def test_a_scanned_main_stat_is_a_percentage_where_the_slot_has_no_flat_one():
    found = relics.load(document(SCANNED, changed(changed(SCANNED, ["slot"], "Hands"), ["mainstat"], "ATK")))
    assert [item.main[0] for item in found.relics] == ["ATK%", "ATK"]
    assert found.relics[0].main[1] == pytest.approx(43.2, abs=1e-3)
    assert found.relics[1].main[1] == pytest.approx(352.8, abs=1e-3)
    assert found.relics[0].subs == (("HP", 38.0), ("CRIT Rate", 2.9), ("SPD", 2.3))
    assert (found.relics[0].slot, found.relics[0].set_name) == ("PlanarSphere", "Musketeer of Wild Wheat")


def test_a_saved_relic_is_read_as_it_stands():
    found = relics.load({"relics": [SAVED]}).relics[0]
    assert (found.slot, found.main, found.level) == ("Body", ("CRIT Rate", 32.4), 15)
    stats = dict(zip(STATS, found.stats().tolist(), strict=True))
    assert stats["ATK%"] == pytest.approx(7.776) and stats["DEF"] == pytest.approx(19.05) and stats["HP"] == 0.0


def test_a_relic_may_have_no_sub_stats():
    assert relics.load(document(changed(SCANNED, ["substats"], []))).relics[0].subs == ()
    assert relics.load({"relics": [changed(SAVED, ["substats"], [])]}).relics[0].subs == ()


@pytest.mark.parametrize(
    ("entry", "path", "value", "told"),
    [
        (SCANNED, ["slot"], "Planar", "slot='Planar'"),
        (SCANNED, ["mainstat"], "CRIT Rate", "cannot be on PlanarSphere"),
        (SCANNED, ["mainstat"], ..., "mainstat is missing"),
        (SCANNED, ["substats", 1, "value"], 29.0, "substats[1].value=29.0"),
        (SCANNED, ["substats", 1, "value"], "2.9%", "substats[1].value='2.9%'"),
        (SCANNED, ["substats", 1, "value"], float("nan"), "substats[1].value=nan"),
        (SCANNED, ["substats", 0, "key"], "H P", "substats[0].key='H P'"),
        (SCANNED, ["substats", 2, "key"], "HP", "stands there twice"),
        (SCANNED, ["substats"], None, "substats=None"),
        (SCANNED, ["level"], 16, "level=16"),
        (SCANNED, ["rarity"], 6, "rarity=6"),
        (SCANNED, ["set"], "", "set=''"),
        (SAVED, ["main", "value"], 324, "main.value=324"),
        (
            SAVED,
            ["main", "value"],
            -32.4,
            "main.value=-32.4: CRIT Rate of a 5-star relic lies above 0 and",
        ),
        (SAVED, ["main", "value"], 0, "main.value=0.0"),
        (SAVED, ["main", "stat"], "Wind DMG Boost", "cannot be on Body"),
        (SAVED, ["main"], "CRIT Rate", "main='CRIT Rate'"),
        (SAVED, ["part"], "Torso", "part='Torso'"),
        (SAVED, ["part"], ..., "part is missing"),
        (SAVED, ["grade"], True, "grade=True"),
        (SAVED, ["grade"], [5], "grade=[5]"),
        (SAVED, ["main", "value"], 10**400, "main.value=1000"),
        pytest.param(SAVED, ["main", "value"], 10**5000, "main.value=a number of thousands of digits", id="digits"),
        (SCANNED, ["level"], float("inf"), "level=inf"),
        (SCANNED, ["set"], "a\ud800", "set='a\\ud800' has control characters"),
        (SCANNED, ["_id"], "a\x1b[1m", "_id='a\\x1b[1m' has control characters"),
        (SCANNED, ["level"], float("nan"), "level=nan"),
        (SAVED, ["substats", 0, "value"], -1, "substats[0].value=-1"),
    ],
)
def test_a_bad_entry_is_named_with_its_position_and_the_reason(entry, path, value, told):
    form = document if entry is SCANNED else lambda *entries: {"relics": list(entries)}
    with pytest.raises(xl.RelicsError) as caught:
        relics.load(form(entry, entry, changed(entry, path, value), entry))
    assert caught.value.entry == 2
    assert str(caught.value).startswith("relics[2]: ") and told in str(caught.value)


def test_of_a_long_value_the_beginning_is_told():
    for path in (["slot"], ["mainstat"], ["rarity"], ["substats"], ["substats", 0, "key"], ["substats", 0, "value"]):
        with pytest.raises(xl.RelicsError) as caught:
            relics.load(document(changed(SCANNED, path, "x" * 9999)))
        assert "xxx..." in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("data", [{}, {"relics": {}}, {"relics": None}])
def test_other_json_is_refused(data):
    with pytest.raises(xl.RelicsError, match="no list `relics`"):
        relics.load(data)
    with pytest.raises(xl.RelicsError, match=r"relics\[0\]: is 3"):
        relics.load({"relics": [3]})


def test_files_are_read_with_and_without_a_mark_and_others_refused(tmp_path):
    path = tmp_path / "relics.json"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(json.dumps(document(SCANNED)), encoding=encoding)
        assert len(relics.load(path)) == 1
    for text in (b"\xff\xfe{", b"[" * 200_000, b'{"relics": [' + b"9" * 5000 + b"]}"):
        path.write_bytes(text)
        with pytest.raises(xl.RelicsError, match="is not JSON"):
            relics.load(path)


@pytest.mark.parametrize("form", [to_scanner, to_optimizer])
def test_generated_relics_come_back_from_either_form(form):
    made = relics.make((3, 4, 5, 6, 7, 8), seed=5)
    found = relics.load(json.loads(json.dumps(form(made))))
    assert found.space == made.space == (3, 4, 5, 6, 7, 8)
    for left, right in zip(made.relics, found.relics, strict=True):
        assert (left.slot, left.set_name, left.main[0], left.subs) == (
            right.slot, right.set_name, right.main[0], right.subs,
        )  # fmt: skip
        assert left.main[1] == pytest.approx(right.main[1], rel=1e-3)


def test_generated_relics_are_rolled_as_the_game_does():
    made = relics.make(40, seed=2)
    assert made == relics.make(40, seed=2) and made != relics.make(40, seed=3)
    for item in made.relics:
        assert item.main[0] in MAIN_OF_SLOT[item.slot]
        assert len({stat for stat, _ in item.subs} | {item.main[0]}) == 5
        # Each size is a whole number of steps above a whole number of rolls; eight or nine rolls in all.
        rolls = []
        for stat, size in item.subs:
            base, step = SUB[stat]
            found = [n for n in range(1, 7) for k in range(2 * n + 1) if abs(n * base + k * step - size) < 1e-3]
            rolls.append(found)
            assert found
        assert sum(map(min, rolls)) <= 9 and sum(map(max, rolls)) >= 8


def test_a_table_of_builds_adds_up_the_stats():
    made = relics.make(3, seed=1)
    table = made.frame([[0, 1, 2, 0, 1, 2]])
    by_slot = list(made.by_slot().values())
    expected = sum(by_slot[slot][pick].stats().astype(float) for slot, pick in enumerate([0, 1, 2, 0, 1, 2]))
    for stat, size in zip(STATS, expected, strict=True):
        if np.any(size):
            assert table[stat][0] == pytest.approx(size, rel=1e-5)
        else:
            assert stat not in table
