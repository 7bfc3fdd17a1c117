"""The prepared form: run like `expand`, recorded into the caller's own encoder, chained without a readback."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from definition import assert_expands
from drivers import DRIVERS
from hypothesis import given
from hypothesis import strategies as st

import expandlab as xl

RUNS = [name for name, strategy in xl.strategies().items() if not strategy.modelled]
pytestmark = pytest.mark.gpu


def expander(strategy, device, **arguments):
    try:
        return xl.Expander(strategy, device=device, **arguments)
    except xl.UnsupportedError as error:
        pytest.skip(str(error))


def upload(device, array):
    array = np.ascontiguousarray(array, np.uint32)
    buffer = device.gpu.create_buffer(size=max(16, array.nbytes), usage="STORAGE|COPY_SRC|COPY_DST")
    if array.size:
        device.gpu.queue.write_buffer(buffer, 0, array)
    return buffer


def words(device, buffer, count=None):
    return np.frombuffer(device.gpu.queue.read_buffer(buffer), np.uint32)[:count]


def submit(device, *records):
    encoder = device.gpu.create_command_encoder()
    for record in records:
        record(encoder)
    device.gpu.queue.submit([encoder.finish()])


@pytest.mark.parametrize("strategy", RUNS)
def test_one_preparation_serves_many_counts(strategy, any_device):
    with expander(strategy, any_device, max_src=300, max_dst=4000, workgroup_size=64) as prepared:
        for counts in ([3, 1, 2], [], [0] * 300, [13] * 300, [4000], np.arange(80), [1, 0, 5]):
            done = prepared.run(counts)
            assert_expands(counts, done.src, done.local)
        with pytest.raises(xl.CapacityError) as caught:
            prepared.run([4001])
        assert (caught.value.required, caught.value.capacity) == (4001, 4000)
        with pytest.raises(ValueError, match="max_src=300"):
            prepared.run([0] * 301)
        assert prepared.run([2]).total == 2


def test_threads_that_share_an_expander_get_their_own_results(any_device):
    counts = [np.random.default_rng(seed).integers(0, 9, 200) for seed in range(40)]
    shared = xl.Expander("prefix_search", max_src=200, max_dst=2000, device=any_device)
    with shared, ThreadPoolExecutor(4) as threads:
        found = list(threads.map(shared.run, counts))
    for one, done in zip(counts, found, strict=True):
        assert_expands(one, done.src, done.local)


@pytest.mark.parametrize("strategy", RUNS)
def test_recorded_passes_leave_the_mapping_on_the_gpu(strategy, gpu):
    counts = xl.counts.make("geometric", 500, mean=5.0, seed=8)
    with expander(strategy, gpu, max_src=800, max_dst=5000) as prepared:
        buffer = upload(gpu, np.concatenate([counts, np.full(300, 99, np.uint32)]))
        for source in (len(counts), (upload(gpu, [7, len(counts)]), 4)):
            submit(gpu, lambda encoder, source=source: prepared.record(encoder, buffer, source))
            total, failure, required = words(gpu, prepared.total_buffer, 3)
            assert (total, failure, required) == (counts.sum(), 0, counts.sum())
            assert_expands(counts, words(gpu, prepared.src_buffer, total), words(gpu, prepared.local_buffer, total))
            assert words(gpu, prepared.indirect_buffer, 3).tolist() == [-(-int(total) // 256), 1, 1]


@pytest.mark.parametrize("strategy", RUNS)
def test_a_failure_expands_nothing_and_says_why(strategy, gpu):
    with expander(strategy, gpu, max_src=100, max_dst=50) as prepared:
        for counts, given_count, expected in (
            ([1] * 51, 51, (0, 1, 51)),
            ([2**32 - 1, 1], 2, (0, 2, None)),
            ([1] * 10, (upload(gpu, [101]), 0), (0, 16, 0)),
            ([1] * 10, 10, (10, 0, 10)),
        ):
            buffer = upload(
                gpu, np.resize(np.array(counts, np.uint32), 101 if isinstance(given_count, tuple) else len(counts))
            )
            submit(gpu, lambda encoder, b=buffer, n=given_count: prepared.record(encoder, b, n))
            total, failure, required = words(gpu, prepared.total_buffer, 3).tolist()
            assert total == expected[0] and bool(failure & expected[1]) == bool(expected[1])
            assert expected[2] is None or required == expected[2]
            assert words(gpu, prepared.indirect_buffer, 3).tolist() == [-(-total // 256), 1, 1]


def test_several_records_before_one_submission_keep_their_own_counts(gpu):
    with xl.Expander("prefix_search", max_src=10, max_dst=100, device=gpu) as prepared:
        buffers = [upload(gpu, [n] * 5) for n in (1, 2, 3)]
        kept = [upload(gpu, np.zeros(4)) for _ in buffers]
        encoder = gpu.gpu.create_command_encoder()
        for number, (buffer, keep) in enumerate(zip(buffers, kept, strict=True), 1):
            prepared.record(encoder, buffer, number)
            encoder.copy_buffer_to_buffer(prepared.total_buffer, 0, keep, 0, 12)
        gpu.gpu.queue.submit([encoder.finish()])
        assert [int(words(gpu, keep)[0]) for keep in kept] == [1, 4, 9]


@pytest.mark.parametrize("strategy", RUNS)
def test_expanders_chain_without_a_readback(strategy, gpu):
    meshlets_of = xl.counts.make("geometric", 60, mean=3.0, seed=1)
    total = int(meshlets_of.sum())
    body = "fn work(src: u32, local: u32, dst: u32) { triangles[dst] = (src + local) % 5u; owner[dst] = src; }"
    first = expander(
        strategy, gpu, max_src=60, max_dst=1000, body=body,
        buffers={"triangles": np.zeros(1000, np.uint32), "owner": np.zeros(1000, np.uint32)},
    )  # fmt: skip
    second = expander(strategy, gpu, max_src=1000, max_dst=5000)
    with first, second:
        assert first.src_buffer is None
        buffer = upload(gpu, meshlets_of)
        submit(
            gpu,
            lambda encoder: first.record(encoder, buffer, 60),
            lambda encoder: second.record(encoder, first.buffers["triangles"], (first.total_buffer, 0)),
        )
        triangles = words(gpu, first.buffers["triangles"], total)
        owner = words(gpu, first.buffers["owner"], total)
        expected = sorted((s, (s + j) % 5) for s, n in enumerate(meshlets_of) for j in range(n))
        assert sorted(zip(owner.tolist(), triangles.tolist(), strict=True)) == expected
        count = int(words(gpu, second.total_buffer)[0])
        assert_expands(triangles, words(gpu, second.src_buffer, count), words(gpu, second.local_buffer, count))


def test_a_failed_level_leaves_the_next_one_empty(gpu):
    body = "fn work(src: u32, local: u32, dst: u32) { more[dst] = 1u; }"
    first = xl.Expander(
        "append", max_src=9, max_dst=4, device=gpu, body=body, buffers={"more": np.zeros(4, np.uint32)}
    )  # fmt: skip
    with first, xl.Expander("append", max_src=4, max_dst=9, device=gpu) as second:
        buffer = upload(gpu, [5])
        submit(
            gpu,
            lambda encoder: first.record(encoder, buffer, 1),
            lambda encoder: second.record(encoder, first.buffers["more"], (first.total_buffer, 0)),
        )
        assert words(gpu, first.total_buffer, 3).tolist() == [0, 1, 5]
        assert words(gpu, second.total_buffer, 3).tolist() == [0, 0, 0]


@given(frames=st.lists(st.lists(st.integers(0, 30), max_size=40), min_size=1, max_size=4))
def test_frames_do_not_remember_each_other(frames):
    from drivers import DRIVERS, driver

    device = driver(DRIVERS[0])
    with xl.Expander("po2_range", max_src=40, max_dst=1200, device=device) as prepared:
        for counts in frames:
            done = prepared.run(np.array(counts, np.uint32))
            assert_expands(counts, done.src, done.local)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"max_src": -1}, "max_src=-1"),
        ({"max_dst": 2.5}, "max_dst=2.5"),
        ({"workgroup_size": 100}, "workgroup_size=100"),
        ({"buffers": {"a": np.zeros(1, np.uint32)}}, "body="),
        ({"strategy": "best"}, "strategy='best'"),
        ({"checked": "no"}, "checked='no'"),
        ({"body": "fn work(s: u32, l: u32, d: u32) {}", "buffers": [1]}, r"buffers=\[1\]"),
    ],
)
def test_a_bad_argument_is_named(arguments, text):
    with pytest.raises((TypeError, ValueError), match=text):
        xl.Expander(**{"strategy": "append", "max_src": 1, "max_dst": 1, "device": "reference", **arguments})


def test_too_large_a_preparation_says_which_limit(gpu):
    with pytest.raises(xl.DeviceLimitError) as caught:
        xl.Expander("append", max_src=10, max_dst=2**26, device=gpu)
    assert caught.value.limit == "max_storage_buffer_binding_size" and caught.value.required == 2**26
    assert str(caught.value).startswith("max_src=10, max_dst=67,108,864: needs 536,870,912 bytes for the buffer")


def test_other_limits_are_advised_only_where_the_adapter_has_more(lavapipe, monkeypatch):
    limit = "max_storage_buffer_binding_size"
    for available, advised in ((2**28 - 1, False), (2**28, True)):
        monkeypatch.setitem(lavapipe.info.limits, limit, available)
        with pytest.raises(xl.DeviceLimitError) as caught:
            xl.Expander("append", max_src=2**26, max_dst=1, device=lavapipe)
        assert caught.value.required_bytes == 2**28 and ("limits='adapter'" in str(caught.value)) == advised


def test_a_bad_record_is_named_and_records_nothing(gpu):
    with xl.Expander("append", max_src=10, max_dst=100, device=gpu) as prepared:
        buffer = upload(gpu, [1] * 4)
        encoder = gpu.gpu.create_command_encoder()
        for source, text in (
            (11, "max_src=10"), (5, "holds 4"), (-1, "src_count=-1"), ((buffer, 2), "multiple of 4"),
            ((buffer, 0.0), "multiple of 4"), ((buffer, None), "multiple of 4"), ((buffer, 0, 0), "3 items"),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=text):
                prepared.record(encoder, buffer, source)
        unusable, other = gpu.gpu.create_buffer(size=16, usage="COPY_DST"), xl.device(DRIVERS[0])
        for arguments, error, text in (
            ((None, buffer, 4), TypeError, "encoder=None"),
            ((encoder, np.zeros(4, np.uint32), 4), TypeError, "counts_buffer is a ndarray"),
            ((encoder, buffer, (4, 0)), TypeError, "src_count=.* is a int"),
            ((encoder, unusable, 4), ValueError, "counts_buffer lacks the usage STORAGE"),
            ((encoder, buffer, (unusable, 0)), ValueError, "src_count=.* lacks the usage COPY_SRC"),
            ((other.gpu.create_command_encoder(), buffer, 4), ValueError, "encoder belongs to another device"),
            ((encoder, upload(other, [1] * 4), 4), ValueError, "counts_buffer belongs to another device"),
            ((encoder, buffer, (upload(other, [4]), 0)), ValueError, "src_count=.* belongs to another device"),
        ):
            with pytest.raises(error, match=text):
                prepared.record(*arguments)
        prepared.record(encoder, buffer, 4)
        gpu.gpu.queue.submit([encoder.finish()])
        assert words(gpu, prepared.total_buffer)[0] == 4


def test_a_closed_expander_says_so(any_device):
    prepared = xl.Expander("append", max_src=4, max_dst=9, device=any_device)
    prepared.close()
    prepared.close()
    if any_device.is_reference:
        with pytest.raises(xl.DeviceError, match="closed"):
            prepared.run([1])
        return
    for use in (lambda: prepared.run([1]), lambda: prepared.src_buffer, lambda: prepared.record(None, None, 0)):
        with pytest.raises(xl.DeviceError, match="closed"):
            use()


def test_the_reference_runs_but_does_not_record():
    with xl.Expander("po2_merged", max_src=4, max_dst=9, device="reference") as prepared:
        assert prepared.run([3, 1]).src.tolist() == [0, 1, 0, 0]
        with pytest.raises(xl.UnsupportedError, match="encoder"):
            prepared.record(None, None, 1)
        for buffer in ("src_buffer", "local_buffer", "total_buffer", "indirect_buffer", "buffers"):
            with pytest.raises(xl.UnsupportedError, match="NumPy has no buffers"):
                getattr(prepared, buffer)
