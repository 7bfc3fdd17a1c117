"""What the kernels themselves do when the output is too small: count on, report, and write nothing out of bounds.

`expand` refuses such counts before anything is launched, so these tests run the graphs directly, sized too small.
"""

from __future__ import annotations

import numpy as np
import pytest

import expandlab as xl
from expandlab.expansion.endings import store
from expandlab.expansion.passes import build, check_state
from expandlab.expansion.strategy import FAILED_CAPACITY, FAILED_OVERFLOW, FAILURE, REQUIRED, TOTAL, Sizes, params_words

RUNS = [name for name, strategy in xl.strategies().items() if not strategy.modelled]
pytestmark = pytest.mark.gpu


def run_sized(strategy, counts, capacity, device, size=64):
    sizes = Sizes(len(counts), capacity, size, device.subgroup_size)
    built = build(xl.strategies()[strategy], sizes, store(capacity))
    inputs = {"counts": counts, "params": params_words(len(counts), capacity, sizes), **built.imported}
    with built.graph.compile().program(device) as program:
        return built, program.run(inputs)


@pytest.mark.parametrize("strategy", RUNS)
@pytest.mark.parametrize("capacity", [0, 1, 36, 1000])
def test_required_is_exact_when_the_output_is_too_small(strategy, capacity, any_device):
    counts = np.full(300, 37, np.uint32)
    built, ran = run_sized(strategy, counts, capacity, any_device)
    state = ran.arrays["state"]
    assert (state[FAILURE], state[REQUIRED], state[TOTAL]) == (FAILED_CAPACITY, 300 * 37, 0)
    assert not ran.arrays["out_src"].any() and not ran.arrays["out_local"].any()
    with pytest.raises(xl.CapacityError) as caught:
        check_state(state, capacity, built, any_device)
    assert (caught.value.required, caught.value.capacity) == (300 * 37, capacity)


@pytest.mark.parametrize("strategy", RUNS)
def test_a_capacity_of_exactly_p2_is_enough(strategy, any_device):
    counts = np.full(300, 37, np.uint32)
    _, ran = run_sized(strategy, counts, 300 * 37, any_device)
    assert (ran.arrays["state"][FAILURE], ran.arrays["state"][TOTAL]) == (0, 300 * 37)


@pytest.mark.parametrize("strategy", RUNS)
@pytest.mark.parametrize(
    "counts",
    [
        np.full(65536, 65536, np.uint32),
        np.array([2**32 - 1, 6], np.uint32),
        np.r_[np.zeros(5000, np.uint32), np.full(2, 2**31, np.uint32)],
    ],
    ids=["wraps to zero", "wraps to five", "exactly 2^32, late"],
)
def test_a_sum_of_2_to_32_or_more_is_seen_on_the_device(strategy, counts, any_device):
    built, ran = run_sized(strategy, counts, 1000, any_device)
    state = ran.arrays["state"]
    assert state[FAILURE] & FAILED_OVERFLOW and state[TOTAL] == 0
    assert not ran.arrays["out_src"].any()
    with pytest.raises(OverflowError):
        check_state(state, 1000, built, any_device)


@pytest.mark.parametrize("strategy", RUNS)
def test_fewer_src_than_the_sizes_allow(strategy, any_device):
    counts = np.array([4, 0, 9, 1], np.uint32)
    sizes = Sizes(5000, 100, 64, any_device.subgroup_size)
    built = build(xl.strategies()[strategy], sizes, store(100))
    # What lies behind the src that count must not be read.
    behind = np.r_[counts, np.full(4996, 7, np.uint32)]
    inputs = {"counts": behind, "params": params_words(4, 100, sizes), **built.imported}
    with built.graph.compile().program(any_device) as program:
        for _ in range(3):
            ran = program.run(inputs)
            assert ran.arrays["state"][TOTAL] == 14
            src, local = ran.arrays["out_src"][:14], ran.arrays["out_local"][:14]
            assert sorted(zip(src.tolist(), local.tolist(), strict=True)) == [
                (s, j) for s, n in enumerate([4, 0, 9, 1]) for j in range(n)
            ]
