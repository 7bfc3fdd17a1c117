"""The merging of several runs of a push: kernel and twin give the definition's order."""

from __future__ import annotations

import numpy as np
import pytest
from topk_definition import order_of

from expandlab.topk.fold import fold_graph
from expandlab.topk.keys import FORMATS, words_of
from expandlab.topk.method import Sizes


def sorted_run(rng, count, first, dtype, largest):
    """(values, indices) of a run's results, best first, and their places from `first` on."""
    values = rng.integers(0, 12, count).astype(dtype)
    order = order_of(values, largest)
    return values[order], order.astype(np.uint32) + np.uint32(first)


@pytest.mark.gpu
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize(("had", "found", "k"), [(0, 0, 4), (0, 7, 30), (30, 0, 30), (30, 20, 30), (11, 19, 300)])
def test_two_rows_become_one(had, found, k, dtype, largest, any_device):
    rng = np.random.default_rng(had + found)
    earlier, earlier_at = sorted_run(rng, had, 0, dtype, largest)
    values, at = sorted_run(rng, found, 0, dtype, largest)
    room, form = 20, FORMATS[dtype]
    held = np.zeros(1 + 2 * k, np.uint32)
    held[0] = had
    held[1 : 1 + 2 * had : 2] = earlier_at
    held[2 : 2 + 2 * had : 2] = earlier.view(f"u{form.dtype.itemsize}")
    inputs = {
        "fold": np.array([1000, k], np.uint32), "status": np.array([found, 0, 0, 0], np.uint32), "held": held,
        "out_indices": at, "out_values": words_of(values),
    }  # fmt: skip
    inputs = {name: words for name, words in inputs.items() if words.size}
    merged = fold_graph(Sizes(500, room, form, largest), k).compile().run(any_device, inputs)["merged"]
    every = np.concatenate([earlier, values])
    indices = np.concatenate([earlier_at, at + np.uint32(1000)])
    order = order_of(every, largest, indices)[:k]
    assert merged[0] == len(order)
    assert merged[1 : 1 + 2 * len(order) : 2].tolist() == indices[order].tolist()
    bits = every[order].view(f"u{form.dtype.itemsize}")
    assert merged[2 : 2 + 2 * len(order) : 2].tolist() == bits.tolist()
