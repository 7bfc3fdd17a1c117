"""Exhaustive search against NumPy's brute force, and everything that a large space can go wrong in."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading

import numpy as np
import pytest
from drivers import driver

import expandlab as xl
from expandlab.searching.leaders import Leaders
from expandlab.searching.space import digits_of, joined, parts_of

pytestmark = pytest.mark.gpu

SPACES = [(7,), (1, 1, 1), (2, 3, 4), (5, 7, 1, 9, 11), (300, 2, 150), (2,) * 14]


def weighted(space, seed=0, most=50):
    """A score that adds up one weight of each slot: (WGSL, weights)."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(-most, most, sum(space)).astype(np.float32)
    firsts = np.cumsum([0, *space[:-1]])
    terms = " + ".join(f"weights[{first}u + pick[{slot}]]" for slot, first in enumerate(firsts))
    return f"fn score(pick: array<u32, {len(space)}>) -> f32 {{ return {terms}; }}", weights


@pytest.mark.parametrize("name", ["params", "state", "sum", "pick_at", "TILE", "SLOTS"])
def test_a_score_may_call_its_own_as_the_shaders_call_theirs(name, lavapipe):
    score = f"""
struct Row {{ {name}: u32, }}
fn {name}(row: Row) -> f32 {{ return f32(row.{name}); }}
fn score(pick: array<u32, 2>) -> f32 {{ let length = Row(3u * pick[0] + pick[1]); return {name}(length); }}
"""
    found = xl.search((3, 3), score, k=2, devices=[lavapipe])
    assert found.values.tolist() == [8.0, 7.0]


def brute_force(space, weights, k):
    """(numbers, scores, picks) of the k best, by the definition."""
    picks = np.indices(space).reshape(len(space), -1).T
    if len(picks) < 10_000:
        assert picks.tolist() == [list(pick) for pick in itertools.product(*map(range, space))]
    firsts = np.cumsum([0, *space[:-1]])
    scores = sum(weights[firsts[slot] + picks[:, slot]] for slot in range(len(space)))
    order = np.lexsort((np.arange(len(scores)), -scores))[:k]
    return order.astype(np.uint64), scores[order], picks[order]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("k", [0, 1, 7, 5000])
def test_every_pick_is_scored_and_the_best_are_kept(space, k, gpu):
    k = min(k, int(np.prod(space)))
    score, weights = weighted(space)
    found = xl.search(space, score, k, buffers={"weights": weights}, devices=gpu)
    numbers, scores, picks = brute_force(space, weights, k)
    assert found.indices.dtype == np.uint64 and np.array_equal(found.indices, numbers)
    assert found.values.dtype == np.float32 and np.array_equal(found.values, scores)
    assert found.picks.shape == (k, len(space)) and np.array_equal(found.picks, picks)
    assert not found.report.cancelled


LAST = {
    "ascending": "f32(pick[0] * 500u + pick[1])",
    "descending": "-f32(pick[0] * 500u + pick[1])",
    "all equal": "1.5",
    "negative": "-1.0 - f32((pick[0] * 500u + pick[1]) * 40503u % 65536u)",
    "ties in blocks": "f32(pick[1] % 3u)",
}


@pytest.mark.parametrize("expression", LAST.values(), ids=LAST.keys())
def test_any_order_of_scores_is_exact(expression, gpu):
    place = np.arange(200 * 500, dtype=np.uint32)
    with np.errstate(over="ignore"):
        scores = {
            "ascending": place.astype(np.float32),
            "descending": -place.astype(np.float32),
            "all equal": np.full(len(place), 1.5, np.float32),
            "negative": -1 - (place * np.uint32(40503) % np.uint32(65536)).astype(np.float32),
            "ties in blocks": (place % 500 % 3).astype(np.float32),
        }[next(name for name, text in LAST.items() if text == expression)]
    order = np.lexsort((place, -scores))[:1500]
    text = f"fn score(pick: array<u32, 2>) -> f32 {{ return {expression}; }}"
    found = xl.search((200, 500), text, 1500, devices=gpu)
    assert np.array_equal(found.indices, order.astype(np.uint64)) and np.array_equal(found.values, scores[order])
    assert found.report.picks == len(place)


def test_nan_is_last_and_infinity_first(lavapipe):
    bits = np.array([0x7FC00000, 0x3F800000, 0x7F800000, 0xFFC00001, 0xFF800000, 0x80000000, 0], np.uint32)
    text = "fn score(pick: array<u32, 1>) -> f32 { return scores[pick[0]]; }"
    found = xl.search((7,), text, 7, buffers={"scores": bits.view(np.float32)}, devices=lavapipe)
    assert found.indices.tolist() == [2, 1, 5, 6, 4, 0, 3]


HUGE = (2**32 - 1, 3, 2**31, 17, 5)


@pytest.mark.parametrize("begin", [0, 2**32 - 500, 2**64 - 500, 3 * (2**32 - 1) * 2**31 * 17 * 5 - 1000])
def test_numbers_beyond_64_bits_are_exact(begin, gpu):
    total = 3 * (2**32 - 1) * 2**31 * 17 * 5
    end = min(begin + 1000, total)
    text = "fn score(pick: array<u32, 5>) -> f32 { return f32(pick[3] * 5u + pick[4]) + f32(pick[2] % 4u) * 100.0; }"
    first = xl.search(HUGE, text, 10, devices=gpu, cancel=cancelled())
    token = {**first.token, "done": [[0, begin], [end, total]]}
    found = xl.search(HUGE, text, 10, devices=gpu, resume=token)
    digits = [digits_of(number, HUGE) for number in range(begin, end)]
    scores = np.array([d[3] * 5 + d[4] + d[2] % 4 * 100 for d in digits], np.float32)
    order = np.lexsort((np.arange(len(scores)), -scores))[:10]
    assert [int(number) for number in found.indices] == [begin + int(place) for place in order]
    assert found.picks.tolist() == [digits[place] for place in order]
    assert found.indices.dtype == (object if begin >= 2**64 - 500 and max(found.indices) >= 2**64 else np.uint64)


def cancelled():
    event = threading.Event()
    event.set()
    return event


def test_a_cancelled_search_goes_on_from_its_token_to_the_same_result(lavapipe):
    space = (60, 50, 40)
    score, weights = weighted(space, seed=1)
    cancel, seen = threading.Event(), []

    def stop_early(progress):
        seen.append(progress)
        if len(seen) % 2 == 0:
            cancel.set()

    options = {"buffers": {"weights": weights}, "devices": lavapipe}
    part = xl.search(space, score, 500, on_progress=stop_early, cancel=cancel, **options)
    assert part.report.cancelled and 0 < part.report.picks < part.report.total
    runs = 1
    while part.report.cancelled:
        cancel.clear()
        token = json.loads(json.dumps(part.token))
        part = xl.search(space, score, 500, on_progress=stop_early, cancel=cancel, resume=token, **options)
        runs += 1
    whole = xl.search(space, score, 500, **options)
    assert runs > 2
    assert np.array_equal(part.indices, whole.indices) and np.array_equal(part.values, whole.values)
    numbers, scores, _ = brute_force(space, weights, 500)
    assert np.array_equal(whole.indices, numbers) and np.array_equal(whole.values, scores)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert seen[-1].total == 60 * 50 * 40


def test_what_a_progress_function_raises_comes_back_and_leaves_the_event_alone(lavapipe):
    cancel, text = threading.Event(), "const D = 2u; fn score(pick: array<u32, D>) -> f32 { return f32(pick[1]); }"

    def fail(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        xl.search((9, 8), text, 2, devices=lavapipe, on_progress=fail, cancel=cancel)
    assert xl.search((9, 8), text, 2, devices=lavapipe, cancel=cancel).indices.tolist() == [7, 15]


def test_several_devices_find_what_one_does(lavapipe):
    space = (50, 40, 30, 20)
    score, weights = weighted(space, seed=2)
    one = xl.search(space, score, 300, buffers={"weights": weights}, devices=lavapipe)
    for devices in ([lavapipe, driver("swiftshader")], [lavapipe, "lavapipe", "lavapipe"]):
        several = xl.search(space, score, 300, buffers={"weights": weights}, devices=devices)
        assert np.array_equal(one.indices, several.indices) and np.array_equal(one.values, several.values)
        assert several.report.picks == 50 * 40 * 30 * 20


def test_a_lost_device_costs_only_what_the_others_do_again(lavapipe):
    space = (50, 40, 30, 20)
    score, weights = weighted(space, seed=2)
    numbers, scores, _ = brute_force(space, weights, 300)
    lost = xl.device("lavapipe")

    def lose(progress):
        # Between two of its passes, as far as it can be told from outside.
        if progress.done > 100_000:
            with lost.lock:
                lost.gpu.destroy()

    options = {"buffers": {"weights": weights}}
    found = xl.search(space, score, 300, devices=[lost, lavapipe], on_progress=lose, **options)
    assert np.array_equal(found.indices, numbers) and np.array_equal(found.values, scores)
    first, second = found.report.shares
    assert first.picks + second.picks == 50 * 40 * 30 * 20 == found.report.picks
    assert second.failure is None and not found.report.cancelled


def test_a_search_that_loses_its_only_device_goes_on_from_the_error(lavapipe):
    space = (50, 40, 30, 20)
    score, weights = weighted(space, seed=2)
    lost, seen = xl.device("lavapipe"), []

    def lose(progress):
        seen.append(progress.done)
        if len(seen) == 2:
            lost.gpu.destroy()

    options = {"buffers": {"weights": weights}}
    with pytest.raises(xl.DeviceError, match="lost") as caught:
        xl.search(space, score, 300, devices=[lost], on_progress=lose, **options)
    found = xl.search(space, score, 300, devices=lavapipe, resume=caught.value.token, **options)
    assert found.report.picks == 50 * 40 * 30 * 20 - seen[1] > 0
    numbers, scores, _ = brute_force(space, weights, 300)
    assert np.array_equal(found.indices, numbers) and np.array_equal(found.values, scores)


def test_devices_take_work_as_fast_as_they_get_done_with_it(lavapipe, monkeypatch):
    from expandlab.searching.scorer import Scorer

    slow, search, turns = xl.device("lavapipe"), Scorer.search, threading.Barrier(2)
    monkeypatch.setattr(Scorer, "size", property(lambda scorer: 4096))

    def paced(scorer, begin, end, leaders):
        # The fast one does four ranges for one of the slow one's, whatever the machine is doing.
        search(scorer, begin, end, leaders)
        if scorer.device is slow or scorer.passes % 4 == 0:
            turns.wait(20) if end < 4096 * 60 else turns.abort()

    def patient(scorer, begin, end, leaders):
        with contextlib.suppress(threading.BrokenBarrierError):
            paced(scorer, begin, end, leaders)

    monkeypatch.setattr(Scorer, "search", patient)
    space = (64, 64, 64)
    score, weights = weighted(space, seed=5)
    found = xl.search(space, score, 50, buffers={"weights": weights}, devices=[slow, lavapipe])
    shares = found.report.shares
    assert sum(share.picks for share in shares) == 64**3
    assert shares[1].picks > 2 * shares[0].picks > 0
    numbers, scores, _ = brute_force(space, weights, 50)
    assert np.array_equal(found.indices, numbers) and np.array_equal(found.values, scores)


def test_few_words_come_back_after_a_pass(lavapipe):
    score, weights = weighted((100, 100, 100))
    found = xl.search((100, 100, 100), score, 1024, buffers={"weights": weights}, devices=lavapipe)
    assert found.report.words_back_per_pass <= 2 * max(4096, 4 * 1024) + 4


GOOD = "fn score(pick: array<u32, 2>) -> f32 { return 1.0; }"


@pytest.mark.parametrize(
    ("arguments", "options", "error", "told"),
    [
        (((), GOOD, 1), {}, ValueError, "space: 0 slots"),
        ((3, GOOD, 1), {}, TypeError, "space=3"),
        (((2, 1.5), GOOD, 1), {}, TypeError, r"space\[1\]=1.5"),
        (((2, -1), GOOD, 1), {}, ValueError, r"space\[1\]=-1"),
        (((2, 2**32), GOOD, 1), {}, ValueError, r"space\[1\]=4294967296"),
        (((2, 3), GOOD, 7), {}, ValueError, "k=7: the space has 6 picks; give k from 0 to 6"),
        (((2, 3), GOOD, -1), {}, ValueError, "k=-1"),
        (((2, 0), GOOD, 1), {}, ValueError, "k=1: the space has no picks, so only k=0 can be had"),
        (((2, 3), 5, 1), {}, TypeError, "score=5"),
        (((2, 3), "fn scores() {}", 1), {}, xl.ShaderError, "score: defines no fn score"),
        (((2, 3), "\nfn score(pick: u32) -> f32 { return 1.0; }", 1), {}, xl.ShaderError, "score:2:16: .*no array"),
        (((2, 3), GOOD.replace("2>", "2 + 1>"), 1), {}, xl.ShaderError, "score:1:16: .*given 3 elements"),
        (((2, 3), GOOD.replace("f32", "u32"), 1), {}, xl.ShaderError, "score:1:31: .*another result"),
        (((2, 3), GOOD + GOOD, 1), {}, xl.ShaderError, "score:1:.*redefinition"),
        (
            ((2, 3), "@ group(1) @binding(0) var<storage> x: f32;" + GOOD, 1),
            {},
            xl.ShaderError,
            "score:1: .*no bindings",
        ),
        (((2, 3), GOOD.replace("1.0", "f32(SLOTS + task[0])"), 1), {}, xl.ShaderError, "no definition.*`SLOTS`"),
        (((2, 3), GOOD.replace("u32, 2", "u32"), 1), {}, xl.ShaderError, "score:1:16: .*without a size"),
        (((2, 3), GOOD.replace("u32, 2", "f32, 2"), 1), {}, xl.ShaderError, "score:1:16: .*elements of f32"),
        (((2, 3), GOOD.replace(")", ", b: u32)", 1), 1), {}, xl.ShaderError, "score:1:4: .*has 2 arguments"),
        (
            ((2, 3), "\nalias P = u32; " + GOOD.replace("u32,", "P,"), 1),
            {},
            xl.ShaderError,
            r"score:2:1: .*where it is used, search/score.wgsl:\d+\); give it the types",
        ),
        (
            ((2, 3), "\nconst D: u32 = 3u;\n" + GOOD.replace("2>", "D>"), 1),
            {},
            xl.ShaderError,
            "score:3:16: score must be .*given 3 elements",
        ),
        (((2, 3), GOOD, 1), {"on_progress": 5}, TypeError, "on_progress=5"),
        (((2, 3), GOOD, 1), {"cancel": True}, TypeError, "cancel=True"),
        (((2, 3), GOOD.replace("1.0", "nonsense"), 1), {}, xl.ShaderError, "score:1:"),
        (((2, 3), GOOD.replace("return", "\ndiscard; return"), 1), {}, xl.ShaderError, "score:2:1: discard belongs"),
        (
            ((2, 3), "override A: f32;\n" + GOOD.replace("1.0", "A"), 1),
            {},
            xl.ShaderError,
            "score:1:10: override A",
        ),
        (((2, 3), GOOD, 1), {"buffers": {"w": xl.atomic(np.zeros(3, np.uint32))}}, ValueError, "only reads"),
        (((2, 3), GOOD, 1), {"buffers": {"w": np.zeros(3)}}, TypeError, "float64"),
        (((2, 3), GOOD, 1), {"devices": []}, ValueError, r"devices=\[\]"),
        (((2, 3), GOOD, 1), {"devices": "reference"}, xl.UnsupportedError, "reference"),
        (((2, 3), GOOD, 1), {"resume": "{"}, ValueError, "resume: is not JSON"),
        (((2, 3), GOOD, 1), {"resume": "[" * 200_000}, ValueError, "resume: is not JSON"),
        (((2, 3), GOOD, 1), {"resume": {"format": "other"}}, ValueError, "resume: is no token"),
    ],
)
def test_bad_arguments_are_named(arguments, options, error, told, lavapipe):
    with pytest.raises(error, match=told):
        xl.search(*arguments, **{"devices": lavapipe, **options})
    assert xl.search((2, 3), GOOD, 2, devices=lavapipe).indices.tolist() == [0, 1]


# The key of a score of 1.0: its bits with the sign's turned over, and all turned over for the largest.
ONE = 0x407FFFFF


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"space": [3, 2]}, "its space"),
        ({"k": 4}, "its k"),
        ({"score_sha256": "0"}, "its score_sha256"),
        ({"done": [[0, 7]]}, "outside"),
        ({"done": [[0]]}, "done is not"),
        ({"done": "all"}, "done is not"),
        ({"leaders": [[0, 6, 0]]}, "leaders are no picks"),
        ({"leaders": [[0, 1.5, 0]]}, "leaders is not"),
        ({"leaders": [[ONE, 0, 0x3F800001]]}, "pick 0 has another score"),
        ({"leaders": [[ONE, 4, 0x3F800000], [ONE, 4, 0x3F800000]]}, "pick 4 stands there twice"),
        ({"leaders": [[ONE, 4, 0x3F800000], [ONE + 1, 4, 0x3F7FFFFF]]}, "pick 4 stands there twice"),
        ({"leaders": [[ONE, pick, 0x3F800000] for pick in range(4)]}, "4 of them, and k=3"),
    ],
)
def test_a_token_of_another_search_is_refused(change, told, lavapipe):
    token = xl.search((2, 3), GOOD, 3, devices=lavapipe).token
    with pytest.raises(ValueError, match=told):
        xl.search((2, 3), GOOD, 3, devices=lavapipe, resume={**token, **change})


def test_a_pick_that_devices_score_differently_leads_once():
    leaders = Leaders(3, [(ONE, 4, 0x3F800000), (ONE, 5, 0x3F800000)])
    leaders.merge([(ONE + 1, 4, 0x3F7FFFFF), (ONE + 2, 9, 0x3F7FFFFE)])
    assert leaders.numbers().tolist() == [4, 5, 9] and leaders.bound(0) == (ONE + 2, 9)


@pytest.mark.parametrize(
    ("before", "kind"),
    [("", "array<u32, 0x2>"), ("", "array<u32, 2u,>"), ("", "array<u32, (1 + 1)>"),
     ("const D = 4u;", "array<u32, D / 2>"), ("alias P = array<u32, 2>; alias F = f32;", "P,"),
     ("const SLOTS = 2;", "array<u32, SLOTS>")],
)  # fmt: skip
def test_the_size_of_a_pick_is_what_wgsl_takes_it_for(before, kind, lavapipe):
    result = "F" if "alias F" in before else "f32"
    text = f"{before} fn score(pick: {kind}) -> {result} {{ return f32(pick[0] + 10 * pick[1]); }}"
    assert xl.search((2, 3), text, 3, devices=lavapipe).values.tolist() == [21, 20, 11]


def test_functions_of_the_language_can_be_called_in_a_score(lavapipe):
    text = "fn score(pick: array<u32, 1>) -> f32 { return round(1.4) + step(0.0, 1.0) + length(vec2f(3.0, 4.0)); }"
    assert xl.search((1,), text, 1, devices=lavapipe).values.tolist() == [7]


def test_names_of_ours_are_free_in_a_score(lavapipe):
    text = """
    struct Task { place: u32 }
    const TASK = 2u;
    fn pick_at(place: u32) -> u32 { return place * TASK; }
    fn score(pick: array<u32, 2>) -> f32 { return found[pick_at(pick[1])] + f32(Task(pick[0]).place); }
    """
    found = xl.search((2, 2), text, 4, buffers={"found": np.array([5, 0, 9], np.float32)}, devices=lavapipe)
    assert found.values.tolist() == [10, 9, 6, 5]


def test_ranges_are_put_together_and_what_is_left_is_found():
    assert joined([(5, 7), (0, 3), (3, 5), (9, 9), (8, 10)]) == [(0, 7), (8, 10)]
    assert parts_of(12, [(8, 10), (0, 7)]) == [(7, 8), (10, 12)]
    assert parts_of(0, []) == [] and parts_of(3, []) == [(0, 3)]
