"""`TopKStream`: every result after every push, what comes back from the device, and bases beyond 32 bits."""

from __future__ import annotations

import numpy as np
import pytest
from drivers import DRIVERS
from hypothesis import given, settings
from hypothesis import strategies as st
from topk_cases import CASES, scores
from topk_definition import order_of

import expandlab as xl
from expandlab.topk.prepared import Prepared

STREAMS = [pytest.param(case, id=case["id"]) for case in CASES if "stream" in case]


def assert_best(result, pushes, k, largest):
    """The definition over everything pushed so far: (values, base) in order."""
    values = np.concatenate([values for values, _ in pushes])
    indices = np.concatenate([np.uint64(base) + np.arange(len(v), dtype=np.uint64) for v, base in pushes])
    expected = order_of(values, largest, indices)[:k]
    assert result.indices.dtype == np.uint64
    assert result.indices.tolist() == indices[expected].tolist()
    assert result.values.dtype == values.dtype
    assert np.array_equal(result.values, values[expected], equal_nan=values.dtype.kind == "f")


@pytest.mark.gpu
@pytest.mark.parametrize("case", STREAMS)
def test_case(case, every_device):
    pushes = []
    with xl.TopKStream(case["k"], largest=case["largest"], device=every_device) as stream:
        for push in case["stream"]:
            values = scores(push["values"], case["dtype"])
            given = values.copy()
            stream.push(values, push["base"])
            pushes.append((values, push["base"]))
            assert_best(stream.result(), pushes, case["k"], case["largest"])
            assert values.tobytes() == given.tobytes()
        if "indices" in case["expect"]:
            assert stream.result().indices.tolist() == case["expect"]["indices"]


pushes_of = st.lists(
    st.tuples(
        st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0, np.nan, np.inf, -np.inf]), max_size=30),
        st.sampled_from([0, 1, 3, 10, 2**32 - 2, 2**63, 2**64 - 40]),
    ),
    min_size=1, max_size=5,
)  # fmt: skip


@pytest.mark.gpu
@settings(max_examples=25)
@given(pushes=pushes_of, k=st.integers(0, 40), largest=st.booleans())
def test_any_pushes_with_overlapping_bases(pushes, k, largest):
    from drivers import DRIVERS, driver

    for device in (driver(DRIVERS[0]), "reference"):
        done = []
        with xl.TopKStream(k, largest=largest, device=device) as stream:
            for values, base in pushes:
                done.append((np.array(values, np.float32), base))
                stream.push(*done[-1])
                assert_best(stream.result(), done, k, largest)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint32"])
def test_large_pushes_of_any_kind(dtype, any_device):
    rng = np.random.default_rng(6)
    n, k = 40_000, 100
    kinds = {
        "random": rng.integers(0, 60_000, n), "ascending": np.arange(n), "equal": np.full(n, 50_000),
        "descending": n - np.arange(n),
    }  # fmt: skip
    pushes = []
    with xl.TopKStream(k, device=any_device) as stream:
        for number, values in enumerate(kinds.values()):
            pushes.append((values.astype(dtype), (number * 7 % 4) * 30_000))
            stream.push(*pushes[-1])
            assert_best(stream.result(), pushes, k, True)
        assert stream.pushed == 4 * n


@pytest.fixture
def back(gpu, monkeypatch):
    """Words that each reading from the device brought back, in order."""
    words = []
    buffer_type = type(gpu.buffer(16))
    read = buffer_type.read_mapped

    # The queue's `read_buffer` maps a buffer too.
    def counted(self, *args, **kwargs):
        data = read(self, *args, **kwargs)
        words.append(memoryview(data).nbytes // 4)
        return data

    monkeypatch.setattr(buffer_type, "read_mapped", counted)
    return words


@pytest.mark.gpu
def test_no_more_than_2k_and_4_words_come_back_for_a_push(gpu, back):
    k, n = 64, 9000
    with xl.TopKStream(k, device=gpu) as stream:
        for number in range(4):
            back.clear()
            stream.push(np.random.default_rng(number).standard_normal(n).astype(np.float32), number * n)
            assert 0 < sum(back) <= 2 * k + 4
        report = stream.result().report
    assert report.words_back_per_push == 2 * k + 4 and report.words_back == 4 * (2 * k + 4) and report.chunks == 4


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("k", [1, 151, 6000])
def test_nor_for_a_push_of_several_runs(dtype, k, gpu, back):
    lowered = xl.adopt(gpu.gpu)
    lowered.limits["max_storage_buffer_binding_size"] = 65536
    rng = np.random.default_rng(1)
    pushes = [(rng.integers(0, 3000, 50_001).astype(dtype), 2**33), (rng.integers(0, 4000, 40_000).astype(dtype), 5)]
    with xl.TopKStream(k, device=lowered) as stream:
        for number, (values, base) in enumerate(pushes):
            back.clear()
            stream.push(values, base)
            assert 0 < sum(back) <= 2 * k + 4
            assert_best(stream.result(), pushes[: number + 1], k, True)
        assert stream.result().report.chunks >= 4
        assert stream.result().report.passes[-1].name == "fold"


@pytest.mark.gpu
def test_a_gpu_buffer_of_scores(gpu):
    rng = np.random.default_rng(9)
    for n, k in ((30_000, 200), (3, 2), (4097, 4097)):
        pushes = []
        with xl.TopKStream(k, device=gpu) as stream:
            for base in (0, 2**40):
                values = rng.integers(0, 9000, n).astype(np.float32)
                buffer = gpu.gpu.create_buffer(size=values.nbytes, usage="STORAGE|COPY_SRC|COPY_DST")
                gpu.gpu.queue.write_buffer(buffer, 0, values)
                stream.push(buffer, base)
                pushes.append((values, base))
                assert_best(stream.result(), pushes, k, True)
            stream.push(buffer, 7, n=2)
            pushes.append((values[:2], 7))
            assert_best(stream.result(), pushes, k, True)


@pytest.mark.gpu
def test_pushes_beyond_one_binding(gpu):
    lowered = xl.adopt(gpu.gpu)
    lowered.limits["max_storage_buffer_binding_size"] = 65536
    values = np.random.default_rng(1).integers(0, 3000, 50_000).astype(np.float32)
    buffer = gpu.gpu.create_buffer(size=values.nbytes, usage="STORAGE|COPY_SRC|COPY_DST")
    gpu.gpu.queue.write_buffer(buffer, 0, values)
    for timed in (False, True):
        with xl.TopKStream(150, device=lowered, timed=timed) as stream:
            stream.push(values, 2**33)
            stream.push(buffer, 5)
            assert_best(stream.result(), [(values, 2**33), (values, 5)], 150, True)


@pytest.mark.gpu
def test_a_push_that_fails_on_the_device_changes_nothing(lavapipe, monkeypatch):
    lowered, other = xl.adopt(lavapipe.gpu), xl.device(DRIVERS[0])
    lowered.limits["max_storage_buffer_binding_size"] = 65536
    values = np.arange(40_000, dtype=np.float32)
    theirs = other.gpu.create_buffer_with_data(data=values, usage="STORAGE|COPY_SRC")
    bare = lavapipe.gpu.create_buffer(size=400, usage="COPY_DST")
    with xl.TopKStream(3, device=lowered, timed=True) as stream:
        for buffer, text in ((theirs, "values belongs to another device"), (bare, "values lacks the usage STORAGE")):
            with pytest.raises(ValueError, match=text):
                stream.push(buffer)
        # The third of three chunks.
        run, runs = Prepared.run, []

        def failing(self, *arguments, **options):
            runs.append(self)
            if len(runs) == 3:
                raise xl.DeviceError("lost")
            return run(self, *arguments, **options)

        with monkeypatch.context() as patch:
            patch.setattr(Prepared, "run", failing)
            with pytest.raises(xl.DeviceError, match="lost"):
                stream.push(values)
        assert len(runs) == 3 and stream.pushed == 0 and len(stream.result().indices) == 0
        # Of another dtype, and then closed in the middle.
        pushes = [(np.arange(9, dtype=np.int32), 7), (np.arange(40_000, dtype=np.int32), 0), (np.full(2, 39_999), 1)]
        pushes = [(values.astype(np.int32), base) for values, base in pushes]
        for number, push in enumerate(pushes, 1):
            stream.push(*push)
            assert_best(stream.result(), pushes[:number], 3, True)
            stream.close()
        assert_best(stream.result(), pushes, 3, True)
        assert stream.pushed == 40_011


def test_fewer_than_k_are_all_of_them():
    with xl.TopKStream(10, device="reference") as stream:
        empty = stream.result()
        assert empty.values.dtype == np.float32 and empty.indices.dtype == np.uint64 and len(empty.indices) == 0
        stream.push(np.zeros(0, np.int32))
        stream.push(np.array([3, 1], np.int32), 5)
        assert stream.result().indices.tolist() == [5, 6]
        assert stream.result().values.dtype == np.int32


def test_a_bad_push_is_named_and_changes_nothing():
    stream = xl.TopKStream(2, device="reference")
    stream.push(np.array([1, 2], np.float32))
    for values, base, kind, text in (
        (np.zeros(2, np.int32), 0, TypeError, "int32"),
        (np.zeros((1, 2), np.float32), 0, ValueError, "dimensions"),
        (np.zeros(2, np.float32), -1, ValueError, "base=-1"),
        (np.zeros(2, np.float32), 0.5, TypeError, "base=0.5"),
        (np.zeros(2, np.float32), 2**64 - 1, ValueError, "2\\^64"),
    ):
        with pytest.raises(kind, match=text):
            stream.push(values, base)
    assert stream.result().indices.tolist() == [1, 0] and stream.pushed == 2
    with pytest.raises(ValueError, match="k=-1"):
        xl.TopKStream(-1, device="reference")
