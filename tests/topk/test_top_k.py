"""`top_k` against the definition: every method on every kind of input, on every driver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topk_definition import assert_top_k, order_of

import expandlab as xl

METHODS = [*xl.top_k_methods()]
DTYPES = ["float32", "float16", "int32", "uint32"]


def run(values, k, method, device, largest=True):
    """The result, or None where the method caps its input above what it must take."""
    try:
        return xl.top_k(values, k, largest=largest, method=method, device=device)
    except xl.UnsupportedError as error:
        assert method != "auto" and (len(values) > 1000 or k > 64), error
        return None


def adversarial():
    """(name, scores, k): inputs that some method is bad at."""
    rng = np.random.default_rng(11)
    n = 20_000
    finite = np.full(5000, np.inf, np.float32)
    finite[3210] = 7
    yield "ascending", np.arange(n, dtype=np.float32), 700
    yield "descending", -np.arange(n, dtype=np.float32), 700
    yield "all equal", np.full(n, -3, np.float32), 1000
    yield "one radix bucket", rng.integers(0x3F800000, 0x3F900000, n).astype(np.uint32).view(np.float32), 300
    yield "shared leading 24 bits", (0x3F800000 + rng.integers(0, 256, n)).astype(np.uint32).view(np.float32), 900
    yield "two values", rng.integers(0, 2, n).astype(np.int32), 999
    yield "16384 of 16385", rng.standard_normal(16385).astype(np.float32), 64
    yield "16384", rng.standard_normal(16384).astype(np.float32), 64
    yield "k is n", rng.standard_normal(3000).astype(np.float32), 3000
    yield "k is n - 1 with ties", rng.integers(0, 9, 2500).astype(np.float32), 2499
    yield "one finite among infinities", finite, 50
    yield "all NaN", np.full(3000, np.nan, np.float32), 40
    yield "between one and two blocks", rng.permutation(384).astype(np.float32), 5
    yield "best at the end of each tile", np.where(np.arange(n) % 4096 == 4095, 1, 0).astype(np.float32), 20
    yield "k = 1", rng.standard_normal(n).astype(np.float32), 1


ADVERSARIAL = [pytest.param(values, k, id=name.replace(" ", "-")) for name, values, k in adversarial()]


@pytest.mark.gpu
@pytest.mark.parametrize(("values", "k"), ADVERSARIAL)
@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_adversarial_inputs(values, k, method, any_device):
    for largest in (True, False):
        result = run(values, k, method, any_device, largest)
        if result is not None:
            assert_top_k(values, k, largest, result)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("method", METHODS)
def test_every_dtype(method, dtype, any_device):
    rng = np.random.default_rng(4)
    if dtype.startswith("float"):
        values = (rng.standard_normal(3001) * 50).astype(dtype)
        values[::97] = np.nan
        values[5::211] = -0.0
        values[6::211] = 0.0
    else:
        values = rng.integers(0, 2**32, 3001, dtype=np.uint64).astype(np.uint32).view(dtype)
    for n, k in ((3001, 777), (2, 1), (1, 1), (258, 64)):
        for largest in (True, False):
            result = run(values[:n], k, method, any_device, largest)
            if result is not None:
                assert_top_k(values[:n], k, largest, result)


few = st.lists(st.sampled_from([0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 3e-45]), max_size=300)
many = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).standard_normal(700).tolist())


@pytest.mark.gpu
@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=12)
@given(values=few | many, part=st.floats(0, 1), largest=st.booleans())
def test_any_scores(method, values, part, largest):
    from drivers import DRIVERS, driver

    values = np.array(values, np.float32)
    k = round(part * len(values))
    for device in (driver(DRIVERS[0]), "reference"):
        result = run(values, k, method, device, largest)
        if result is not None:
            assert_top_k(values, k, largest, result)


@pytest.mark.gpu
@pytest.mark.parametrize("method", METHODS)
def test_the_same_in_every_run(method, gpu):
    values = np.random.default_rng(2).integers(0, 40, 9000).astype(np.float32)
    results = [run(values, 300, method, gpu) for _ in range(4)]
    if results[0] is None:
        return
    for result in results:
        assert_top_k(values, 300, True, result)


@pytest.mark.parametrize(
    ("values", "k", "kind", "text"),
    [
        (np.zeros((2, 2), np.float32), 1, ValueError, "2 dimensions"),
        (np.float32(3), 1, ValueError, "0 dimensions"),
        (np.zeros(3, np.float32), 4, ValueError, "k=4: values has 3 scores; give k from 0 to 3"),
        (np.zeros(1, np.float32), 2, ValueError, "k=2: values has 1 score; give k from 0 to 1"),
        (np.zeros(0, np.float32), 1, ValueError, "k=1: values has no scores, so only k=0 can be had"),
        (np.zeros(3, np.float32), -1, ValueError, "k=-1"),
        (np.zeros(3, np.float32), 1.0, TypeError, "k=1.0"),
        (np.zeros(3, np.float32), True, TypeError, "k=True"),
        (np.ma.masked_greater(np.arange(3, dtype=np.float32), 1), 1, ValueError, "values: some are masked"),
        (np.zeros(3, np.float64), 1, TypeError, "float64"),
        ([1, 2, 3], 1, TypeError, "int64"),
        (np.array(["a"]), 1, TypeError, "dtype"),
        (np.zeros(3, bool), 1, TypeError, "bool"),
    ],
)
def test_a_bad_argument_is_named(values, k, kind, text):
    with pytest.raises(kind, match=text):
        xl.top_k(values, k, device="reference")


def test_bad_options_are_named():
    values = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="method='best'"):
        xl.top_k(values, 1, method="best", device="reference")
    with pytest.raises(TypeError, match="largest=1"):
        xl.top_k(values, 1, largest=1, device="reference")
    with pytest.raises(xl.DeviceError, match="no such card"):
        xl.top_k(values[:0], 0, device="no such card")


def test_views_and_byte_orders_are_accepted_and_kept():
    values = np.arange(50, dtype=">f4")[::-2]
    result = xl.top_k(values, 3, device="reference")
    assert result.indices.tolist() == [0, 1, 2] and result.values.tolist() == [49, 47, 45]
    assert xl.top_k(np.ma.array(values), 1, device="reference").indices.tolist() == [0]
    values = np.arange(10, dtype=np.float32)
    values.flags.writeable = False
    assert xl.top_k(values, 1, device="reference").indices.tolist() == [9]


def test_nothing_of_nothing():
    result = xl.top_k(np.zeros(0, np.int32), 0, device="reference")
    assert result.values.dtype == np.int32 and result.indices.dtype == np.uint32 and len(result.indices) == 0
    assert result.report.passes == ()


def test_methods_say_what_they_are():
    for name, method in xl.top_k_methods().items():
        told = method.to_dict()
        assert told["name"] == name and told["title"] and told["summary"].endswith(".")
        assert set(told) == {
            "name", "title", "solution", "summary", "needs", "max_src", "max_dst", "max_k", "modelled"
        }  # fmt: skip
        assert not method.needs and method.max_dst == method.max_k


@pytest.mark.gpu
def test_the_report_tells_of_every_pass(lavapipe):
    values = np.random.default_rng(3).standard_normal(30_000).astype(np.float32)
    result = xl.top_k(values, 100, method="radix_select", device=lavapipe)
    report = result.report
    assert [item.name for item in report.passes][:2] == ["reset", "digit_0"]
    assert report.passes[-1].name == "rank" and report.method == "radix_select" and report.chunks == 1
    assert report.words_back == 2 * 100 + 4
    assert all(item.threads_idle <= item.threads_launched for item in report.passes)
    if report.timer != "none":
        assert report.gpu_ms == pytest.approx(sum(item.gpu_ms for item in report.passes))
    told = result.to_dict()
    assert told["indices"] == order_of(values, True)[:100].tolist() and told["report"]["words_back"] == 204
    assert "radix_select" in repr(result) and "<table>" in result._repr_html_()


@pytest.mark.gpu
@pytest.mark.parametrize("method", [*METHODS, "auto"])
def test_scores_beyond_one_binding_are_cut_in_chunks(method, gpu):
    lowered = xl.adopt(gpu.gpu)
    # Its own limits stay, ours are lowered: 131072 bytes hold 32768 scores.
    lowered.limits["max_storage_buffer_binding_size"] = 131072
    values = np.random.default_rng(8).integers(0, 500, 70_000).astype(np.float32)
    for k in (60, 5000):
        result = run(values, k, method, lowered)
        if result is not None:
            assert_top_k(values, k, True, result)
            assert result.report.chunks > 2
