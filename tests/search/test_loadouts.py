"""Loadouts frame by frame: any capacity, several devices, cancel and resume, and real relics against brute force."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
from drivers import driver
from loadout_definition import POOLS, brute_force, pool_of

import expandlab as xl
from expandlab.relics.goal import DAMAGE_WEIGHTS, Goal
from expandlab.relics.loadouts import FILTERS, ORDER, in_slots, relic_pool
from expandlab.searching.loadouts import search_loadouts


def same(found, pool, k):
    picks, scores = brute_force(pool, k)
    assert np.array_equal(found.values, scores) and np.array_equal(found.picks, picks)
    assert found.numbers == [pool.number(pick) for pick in picks] == sorted(found.numbers, key=lambda n: (
        -scores[found.numbers.index(n)], n))  # fmt: skip


@pytest.mark.parametrize("pool", POOLS.values(), ids=POOLS.keys())
@pytest.mark.parametrize("capacity", [125, 1000, 2**16])
def test_frames_of_any_size_find_the_same(pool, capacity):
    found = search_loadouts(pool, 15, devices="reference", capacity=capacity)
    same(found, pool, 15)
    assert found.report.scored == len(list(pool.allowed())) and not found.report.cancelled


@pytest.mark.parametrize("devices", [["reference"] * 2, ["reference"] * 4])
def test_several_parts_of_a_frame_find_the_same(devices):
    pool = pool_of((6, 5, 4, 6), 2, 11, matches={2: 0}, most=3)
    found = search_loadouts(pool, 25, devices=devices, capacity=64)
    same(found, pool, 25)
    assert sum(found.report.shares) == found.report.scored and len(found.report.shares) == len(devices)


@pytest.mark.gpu
@pytest.mark.parametrize("drivers", [("lavapipe",), ("lavapipe", "swiftshader")])
def test_a_search_on_devices_goes_on_after_a_cancel(drivers):
    pool = pool_of((8, 7, 6, 7), 2, 12, matches={3: 1}, most=3)
    devices, cancel, seen = [driver(name) for name in drivers], threading.Event(), []

    def stop(progress):
        seen.append(progress)
        if len(seen) == 2:
            cancel.set()

    part = search_loadouts(pool, 25, devices=devices, capacity=64, on_progress=stop, cancel=cancel)
    assert part.report.cancelled and 0 < part.report.scored < len(list(pool.allowed()))
    token = json.loads(json.dumps(part.token))
    found = search_loadouts(pool, 25, devices=devices, capacity=64, resume=token)
    same(found, pool, 25)
    assert found.report.scored + part.report.scored == len(list(pool.allowed()))
    assert found.report.words_back_per_frame <= 16 * len(devices) + 25 * 5


@pytest.mark.parametrize(
    "change",
    [
        {"k": 7},
        {"pool_sha256": ""},
        {"done": -1},
        {"done": 10**9},
        {"leaders": [[1]]},
        {"format": "other"},
        {"leaders": [[0x407FFFFF, 0, 2**32]]},
        {"leaders": [[0x407FFFFF, 0, 0x3F800000]] * 2},
    ],
)
def test_a_token_of_another_search_is_refused(change):
    pool, cancel = POOLS["two slots"], threading.Event()
    cancel.set()
    token = search_loadouts(pool, 5, devices="reference", cancel=cancel).token
    with pytest.raises(ValueError, match="resume"):
        search_loadouts(pool, 5, devices="reference", resume=token | change)


def test_too_small_a_capacity_says_what_is_needed():
    with pytest.raises(xl.CapacityError, match="capacity=11") as caught:
        search_loadouts(POOLS["six slots"], 5, devices="reference", capacity=11)
    assert caught.value.required == 5 * 3 * 4


GOAL = Goal(DAMAGE_WEIGHTS, {"SPD": 4.0})


@pytest.mark.parametrize("sets", FILTERS)
@pytest.mark.parametrize("drop", [0.0, 0.4])
def test_a_relic_pool_allows_what_its_filter_says(sets, drop):
    relics = xl.relics.make(4, seed=3)
    pool = relic_pool(relics, GOAL, sets=sets, drop=drop)
    by_slot = relics.by_slot()
    allowed = {tuple(in_slots(np.array([pick]))[0]) for pick in pool.allowed()}
    worth = {slot: [sum(GOAL.weights.get(stat, 0) * size for stat, size in (r.main, *r.subs)) for r in by_slot[slot]]
             for slot in by_slot}  # fmt: skip
    for pick in np.ndindex(*relics.space):
        names = [by_slot[slot][item].set_name for slot, item in zip(by_slot, pick, strict=True)]
        good = all(sorted(worth[slot])[int(drop * 4)] <= worth[slot][item] + 1e-3
                   for slot, item in zip(by_slot, pick, strict=True))  # fmt: skip
        good &= sets not in ("pair", "both") or names[4] == names[5]
        good &= sets not in ("four", "both") or len(set(names[:4])) == 1
        assert (pick in allowed) == good


@pytest.mark.gpu
@pytest.mark.parametrize("sets", ["pair", "both"])
def test_builds_of_relics_are_those_of_the_definition(sets):
    relics = xl.relics.make((8, 8, 6, 5, 6, 7), seed=4)
    devices = [driver("lavapipe"), driver("swiftshader")]
    found = xl.relics.best_loadouts(relics, GOAL, 12, sets=sets, drop=0.2, devices=devices)
    pool = relic_pool(relics, GOAL, sets=sets, drop=0.2)
    picks = in_slots(np.array(list(pool.allowed())))
    scores = GOAL.score(relics, picks)
    order = np.argsort(-scores, kind="stable")[: min(12, np.isfinite(scores).sum())]
    assert len(found.scores) == len(order) > 3 and np.allclose(found.scores, scores[order], rtol=1e-5)
    assert np.allclose(GOAL.score(relics, found.picks), scores[order], rtol=1e-5)
    assert found.frame().shape[0] == len(order) and list(ORDER) != list(relics.by_slot())


def test_without_filters_it_is_the_exhaustive_search():
    relics = xl.relics.make(3, seed=5)
    found = xl.relics.best_loadouts(relics, GOAL, 10, devices="reference")
    assert found.found.report.scored == 3**6 == found.found.report.possible
    scores = np.sort(GOAL.score(relics, np.array(list(np.ndindex(*relics.space)))))[::-1][:10]
    assert np.allclose(found.scores, scores[np.isfinite(scores)], rtol=1e-5)


@pytest.mark.parametrize(("options", "told"), [({"sets": "no"}, "sets='no'"), ({"drop": 1.0}, r"drop=1\.0")])
def test_filters_that_make_no_sense_are_named(options, told):
    with pytest.raises(ValueError, match=told):
        xl.relics.best_loadouts(xl.relics.make(2), GOAL, devices="reference", **options)
