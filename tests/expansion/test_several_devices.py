"""Expansion on several devices: the result of one, shares in proportion to speed, and devices that fail on the way."""

from __future__ import annotations

import numpy as np
import pytest
from drivers import driver

import expandlab as xl
from expandlab.expansion import several

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def pair():
    """Two devices on one software adapter."""
    driver("lavapipe")
    return [xl.device("lavapipe") for _ in range(2)]


def defined(counts):
    """(src, local) of every dst where these are in order of the src, by the definition."""
    src = np.repeat(np.arange(len(counts), dtype=np.uint32), counts)
    ends = np.cumsum(counts)
    return src, (np.arange(len(src)) - (ends - counts)[src]).astype(np.uint32)


CASES = {
    "empty": np.zeros(0, np.uint32),
    "zeros": np.zeros(9, np.uint32),
    "one item": np.array([0, 1, 0], np.uint32),
    "one giant": np.array([0, 3, 40_000, 0, 2], np.uint32),
    "zipf": xl.counts.make("zipf", 4000, mean=8.0, seed=3),
    "few": np.array([5, 0, 7, 1], np.uint32),
}


@pytest.mark.parametrize("counts", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("strategy", ["prefix_search", "tile_search"])
def test_two_devices_give_what_one_does(counts, strategy, pair):
    found = xl.expand(counts, strategy, devices=pair)
    src, local = defined(counts)
    assert np.array_equal(found.src, src) and np.array_equal(found.local, local)
    assert sum(share.items for share in found.report.shares) == found.total == len(src)


@pytest.mark.parametrize("strategy", ["append", "po2_merged", "size_classes"])
def test_strategies_that_order_by_atomics_keep_every_item_once(strategy, pair):
    counts = xl.counts.make("lognormal", 3000, mean=7.0, seed=5)
    found = xl.expand(counts, strategy, devices=[*pair, driver("swiftshader")])
    order = np.lexsort((found.local, found.src))
    src, local = defined(counts)
    assert np.array_equal(found.src[order], src) and np.array_equal(found.local[order], local)


def test_a_body_sees_the_numbers_that_it_sees_on_one_device(pair):
    counts = xl.counts.make("uniform", 3000, mean=9.0, seed=1)
    src, local = defined(counts)
    body = """fn work(src: u32, local: u32, dst: u32) {
        seen[3u * dst] = src + 1u; seen[3u * dst + 1u] = local; seen[3u * dst + 2u] = dst * scale[0];
    }"""
    start = np.full(3 * len(src) + 5, 7, np.uint32)
    buffers = {"seen": start, "scale": xl.read_only(np.array([3], np.uint32))}
    found = xl.expand(counts, "prefix_search", body=body, buffers=buffers, devices=[*pair, driver("swiftshader")])
    expected = np.stack([src + 1, local, 3 * np.arange(len(src), dtype=np.uint32)], 1).ravel()
    assert np.array_equal(found.buffers["seen"][:-5], expected)
    assert np.array_equal(found.buffers["seen"][-5:], start[-5:]) and np.all(start == 7)
    assert found.src is None


def test_shares_are_in_proportion_to_the_measured_speed(pair):
    counts = np.full(20_000, 10, np.uint32)
    report = xl.expand(counts, "prefix_search", devices=[pair[0], driver("swiftshader")]).report
    trial = 200_000 // 16
    rest = [share.items - trial for share in report.shares]
    speeds = [share.items_per_ms for share in report.shares]
    assert sum(rest) == 200_000 - 2 * trial
    assert rest[0] == pytest.approx(sum(rest) * speeds[0] / sum(speeds), abs=1)
    assert report.shares[0].device != report.shares[1].device and report.device.count("; ") == 1


def test_unequal_speeds_divide_whatever_is_left():
    left = [(0, 10), (20, 110)]
    parts = several.divide(left, {4: 3.0, 1: 1.0})
    assert parts == [(4, 0, 10), (4, 20, 85), (1, 85, 110)]
    rng = np.random.default_rng(1)
    for _ in range(200):
        cuts = np.unique(rng.integers(0, 500, 6))
        left = [(int(a), int(b)) for a, b in zip(cuts[:-1:2], cuts[1::2], strict=False)]
        speeds = {number: float(speed) for number, speed in enumerate(rng.uniform(0.1, 9, rng.integers(1, 5)))}
        parts = several.divide(left, speeds)
        items = [item for _, low, high in parts for item in range(low, high)]
        assert items == [item for low, high in left for item in range(low, high)]
        for number, speed in speeds.items():
            mine = sum(high - low for who, low, high in parts if who == number)
            assert abs(mine - len(items) * speed / sum(speeds.values())) <= 1


def test_pieces_hold_exactly_their_items():
    rng = np.random.default_rng(2)
    for _ in range(300):
        counts = (rng.integers(0, 6, rng.integers(1, 12)) * rng.integers(0, 2)).astype(np.uint32)
        src, local = defined(counts)
        ends = np.cumsum(counts, dtype=np.int64)
        low, high = sorted(rng.integers(0, len(src) + 1, 2).tolist())
        if low == high:
            continue
        part = several.piece(counts, ends, low, high)
        mine, place = defined(part.counts)
        place = place + np.where(mine == 0, part.local_base, 0)
        assert np.array_equal(mine + part.src_base, src[low:high]) and np.array_equal(place, local[low:high])
        assert part.dst_base == low


def test_what_a_lost_device_had_to_do_goes_to_the_others(pair):
    counts = xl.counts.make("zipf", 4000, mean=8.0, seed=3)
    lost = xl.device("lavapipe")
    lost.gpu.destroy()
    found = xl.expand(counts, "prefix_search", devices=[lost, *pair])
    src, local = defined(counts)
    assert np.array_equal(found.src, src) and np.array_equal(found.local, local)
    first, *others = found.report.shares
    assert first.items == 0 and "lost" in first.failure
    assert all(share.failure is None and share.items for share in others)
    assert sum(share.items for share in others) == len(src)


def test_a_device_lost_between_its_parts_loses_nothing(pair, monkeypatch):
    counts = xl.counts.make("poisson", 4000, mean=8.0, seed=4)
    lost = xl.device("lavapipe")
    run = several.run_in_chunks

    def breaks(strategy, part, device, *rest):
        # Its third run: after the trial, which runs twice.
        if device is lost:
            runs.append(1)
            if len(runs) == 3:
                device.gpu.destroy()
        return run(strategy, part, device, *rest)

    runs = []
    monkeypatch.setattr(several, "run_in_chunks", breaks)
    found = xl.expand(counts, "prefix_search", devices=[pair[0], lost])
    src, local = defined(counts)
    assert np.array_equal(found.src, src) and np.array_equal(found.local, local)
    assert found.report.shares[1].items == len(src) // 16 and found.report.shares[1].failure


def test_when_every_device_is_lost_the_error_names_them_all():
    driver("lavapipe")
    lost = [xl.device("lavapipe") for _ in range(2)]
    for device in lost:
        device.gpu.destroy()
    with pytest.raises(xl.DeviceError, match=r"none is left.*llvmpipe.*; llvmpipe"):
        xl.expand(np.full(3000, 8, np.uint32), devices=lost)


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"devices": []}, ValueError, r"devices=\[\]"),
        ({"devices": "lavapipe"}, TypeError, "give a list"),
        ({"devices": ["lavapipe"], "device": "lavapipe"}, ValueError, "give one of them"),
        ({"devices": ["lavapipe", "no such"]}, xl.DeviceError, "no such"),
    ],
)
def test_devices_that_make_no_sense_are_named(options, error, told):
    driver("lavapipe")
    with pytest.raises(error, match=told):
        xl.expand([1, 2], **options)


def test_atomics_on_several_devices_are_refused(pair):
    body = "fn work(src: u32, local: u32, dst: u32) { atomicAdd(&sum[0], 1u); }"
    with pytest.raises(ValueError, match=r"buffers\['sum'\].*atomics"):
        xl.expand([1, 2], body=body, buffers={"sum": xl.atomic(np.zeros(1, np.uint32))}, devices=pair)


def test_too_little_capacity_and_faults_of_a_body_are_errors_as_on_one_device(pair):
    with pytest.raises(xl.CapacityError) as caught:
        xl.expand(np.full(100, 9, np.uint32), devices=pair, capacity=10)
    assert caught.value.required == 900
    with pytest.raises(xl.ShaderError, match="body:1"):
        xl.expand([1, 2], body="fn work(src: u32, local: u32, dst: u32) { let x = nothing; }", devices=pair)
