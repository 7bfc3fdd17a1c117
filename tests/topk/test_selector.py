"""The prepared form: run many times, and recorded into the caller's own encoder."""

from __future__ import annotations

import numpy as np
import pytest
from drivers import DRIVERS
from topk_definition import assert_top_k, order_of

import expandlab as xl
from expandlab.topk.keys import words_of

METHODS = [*xl.top_k_methods()]


def upload(device, values, least=4):
    words = words_of(values)
    buffer = device.gpu.create_buffer(size=max(least, words.nbytes), usage="STORAGE|COPY_SRC|COPY_DST")
    if words.size:
        device.gpu.queue.write_buffer(buffer, 0, words)
    return buffer


def read(device, buffer, dtype=np.uint32):
    return np.frombuffer(device.gpu.queue.read_buffer(buffer), dtype)


def submit(device, record):
    encoder = device.gpu.create_command_encoder()
    record(encoder)
    device.gpu.queue.submit([encoder.finish()])


@pytest.mark.gpu
@pytest.mark.parametrize("method", METHODS)
def test_one_preparation_serves_many_runs(method, any_device):
    rng = np.random.default_rng(1)
    with xl.Selector(20, max_n=900, method=method, device=any_device, largest=False) as prepared:
        for values in (rng.standard_normal(900), np.zeros(20), np.arange(500), rng.integers(0, 3, 899)):
            values = values.astype(np.float32)
            assert_top_k(values, 20, False, prepared.run(values))
        for n in (19, 901):
            with pytest.raises(ValueError, match="max_n=900"):
                prepared.run(np.zeros(n, np.float32))
        with pytest.raises(TypeError, match="int32"):
            prepared.run(np.zeros(50, np.int32))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint32"])
@pytest.mark.parametrize("method", METHODS)
def test_recorded_passes_leave_the_result_on_the_gpu(method, dtype, gpu):
    rng = np.random.default_rng(2)
    k = 33
    with xl.Selector(k, max_n=1000, method=method, device=gpu, dtype=dtype) as prepared:
        if prepared.method.finish is not None:
            with pytest.raises(xl.UnsupportedError, match="host"):
                prepared.record(None, None, 1)
            return
        for n in (1000, 777, 33):
            values = rng.integers(0, 300, n).astype(dtype)
            expected = order_of(values, True)[:k]
            buffer = upload(gpu, values)
            for count in (n, (upload(gpu, np.array([9, n], np.uint32)), 4)):
                submit(gpu, lambda encoder, b=buffer, c=count: prepared.record(encoder, b, c))
                assert read(gpu, prepared.status_buffer)[0] == k
                assert read(gpu, prepared.indices_buffer)[:k].tolist() == expected.tolist()
                assert np.array_equal(read(gpu, prepared.values_buffer, dtype)[:k], values[expected])


@pytest.mark.gpu
@pytest.mark.parametrize("method", METHODS)
def test_a_number_from_the_gpu_beyond_max_n_means_the_first_ones(method, gpu):
    values = np.arange(2000, dtype=np.float32)
    many = upload(gpu, np.array([1500], np.uint32))
    with xl.Selector(3, max_n=999, method=method, device=gpu) as prepared:
        if prepared.method.finish is not None:
            return
        submit(gpu, lambda encoder: prepared.record(encoder, upload(gpu, values), (many, 0)))
        assert read(gpu, prepared.indices_buffer)[:3].tolist() == [998, 997, 996]


@pytest.mark.gpu
def test_small_buffers_and_fewer_scores_than_k(gpu):
    with xl.Selector(2, max_n=100, device=gpu) as prepared:
        buffer = upload(gpu, np.array([4, 9, 7], np.float32))
        submit(gpu, lambda encoder: prepared.record(encoder, buffer, 3))
        assert read(gpu, prepared.indices_buffer).tolist() == [1, 2]
        one = upload(gpu, np.array([1], np.uint32))
        submit(gpu, lambda encoder: prepared.record(encoder, upload(gpu, np.zeros(50, np.float32)), (one, 0)))
        assert read(gpu, prepared.status_buffer)[0] == 1 and read(gpu, prepared.indices_buffer)[0] == 0
        # More than the buffer holds, as the GPU says: those that are there.
        many = upload(gpu, np.array([2**31], np.uint32))
        five = upload(gpu, np.array([1, 2, 3, 4, 5], np.float32))
        submit(gpu, lambda encoder: prepared.record(encoder, five, (many, 0)))
        assert read(gpu, prepared.indices_buffer).tolist() == [4, 3]


@pytest.mark.gpu
def test_several_records_before_one_submission_keep_their_own_counts(gpu):
    with xl.Selector(1, max_n=10, device=gpu) as prepared:
        buffer = upload(gpu, np.arange(10, dtype=np.float32))
        kept = [upload(gpu, np.zeros(1, np.uint32)) for _ in range(3)]
        encoder = gpu.gpu.create_command_encoder()
        for n, keep in zip((3, 10, 7), kept, strict=True):
            prepared.record(encoder, buffer, n)
            encoder.copy_buffer_to_buffer(prepared.indices_buffer, 0, keep, 0, 4)
        gpu.gpu.queue.submit([encoder.finish()])
        assert [int(read(gpu, keep)[0]) for keep in kept] == [2, 9, 6]


@pytest.mark.gpu
def test_a_bad_record_is_named(gpu):
    with xl.Selector(5, max_n=50, device=gpu) as prepared:
        buffer = upload(gpu, np.zeros(10, np.float32))
        for n, kind, text in (
            (51, ValueError, "max_n=50"), (4, ValueError, "k=5"), (11, ValueError, "holds 10"),
            (2.0, TypeError, "n=2.0"), ((buffer, 3), ValueError, "multiple of 4"),
        ):  # fmt: skip
            with pytest.raises(kind, match=text):
                prepared.record(gpu.gpu.create_command_encoder(), buffer, n)
    with pytest.raises(xl.DeviceError, match="closed"):
        _ = prepared.values_buffer
    lowered = xl.adopt(gpu.gpu)
    lowered.limits["max_storage_buffer_binding_size"] = 65536
    with xl.Selector(5, max_n=20_000, device=lowered) as prepared:
        values = np.arange(20_000, dtype=np.float32)
        assert prepared.run(values).indices.tolist() == [19999, 19998, 19997, 19996, 19995]
        with pytest.raises(xl.DeviceLimitError, match="max_n=20,000"):
            prepared.record(gpu.gpu.create_command_encoder(), upload(gpu, values), 20_000)


@pytest.mark.gpu
def test_what_is_another_devices_or_lacks_a_usage_is_named(lavapipe):
    other, values = xl.device(DRIVERS[0]), np.arange(50, dtype=np.float32)
    mine, theirs, few = upload(lavapipe, values), upload(other, values), np.array([9], np.uint32)
    bare = lavapipe.gpu.create_buffer(size=200, usage="COPY_DST")
    small = lavapipe.gpu.create_buffer(size=8, usage="STORAGE")
    with xl.Selector(2, max_n=50, device=lavapipe) as prepared:
        encoder = lavapipe.gpu.create_command_encoder()
        for arguments, kind, text in (
            ((other.gpu.create_command_encoder(), mine, 50), ValueError, "encoder belongs to another device"),
            ((encoder, theirs, 50), ValueError, "values_buffer belongs to another device"),
            ((encoder, mine, (upload(other, few), 0)), ValueError, r"n=\(buffer, offset\): buffer belongs"),
            ((None, mine, 50), TypeError, "encoder=None"),
            ((encoder, values, 50), TypeError, "values_buffer is a ndarray"),
            ((encoder, bare, 50), ValueError, "values_buffer lacks the usage STORAGE"),
            ((encoder, small, 2), ValueError, "values_buffer lacks the usage COPY_SRC"),
            ((encoder, mine, (bare, 0)), ValueError, "buffer lacks the usage COPY_SRC"),
            ((encoder, mine, (9, 0)), TypeError, "buffer is a int"),
            ((encoder, mine, (mine,)), ValueError, "n: 1 items"),
            ((encoder, mine, (mine, 1.0)), ValueError, r"n=\(buffer, 1.0\)"),
        ):
            with pytest.raises(kind, match=text):
                prepared.record(*arguments)
        prepared.record(encoder, mine, 50)
        lavapipe.gpu.queue.submit([encoder.finish()])
        assert read(lavapipe, prepared.indices_buffer).tolist() == [49, 48]


@pytest.mark.gpu
def test_a_closed_selector_says_so(any_device):
    prepared, values = xl.Selector(2, max_n=9, device=any_device), np.zeros(9, np.float32)
    prepared.close()
    prepared.close()
    with pytest.raises(xl.DeviceError, match="closed"):
        prepared.run(values)
    if not any_device.is_reference:
        with pytest.raises(xl.DeviceError, match="closed"):
            prepared.record(any_device.gpu.create_command_encoder(), upload(any_device, values), 9)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"k": 11}, ValueError, "k=11"),
        ({"max_n": -1}, ValueError, "max_n=-1"),
        ({"max_n": 2**32}, ValueError, "32 bits"),
        ({"dtype": "float64"}, TypeError, "dtype"),
        ({"method": "best"}, ValueError, "method='best'"),
        ({"largest": "yes"}, TypeError, "largest='yes'"),
    ],
)
def test_a_bad_argument_is_named(arguments, kind, text):
    with pytest.raises(kind, match=text):
        xl.Selector(**{"k": 3, "max_n": 10, "device": "reference", **arguments})


def test_the_reference_runs_but_does_not_record():
    with xl.Selector(0, max_n=4, device="reference") as prepared:
        assert prepared.run(np.zeros(3, np.float32)).indices.tolist() == []
    with xl.Selector(2, max_n=4, device="reference") as prepared:
        assert prepared.run(np.array([1, 5, 3], np.float32)).indices.tolist() == [1, 2]
        with pytest.raises(xl.UnsupportedError, match="encoder"):
            prepared.record(None, None, 1)
