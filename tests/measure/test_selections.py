"""Top-k under the measuring protocol: checked by one read where the scores are, beside that read, on grids."""

from __future__ import annotations

import numpy as np
import pytest
from topk_definition import order_of

import expandlab as xl
from expandlab.measuring import grid, scores
from expandlab.measuring.peers import Peer, check_expansion
from expandlab.measuring.selections import Selections
from expandlab.topk.keys import format_of

QUICK = {"warm_up_s": 0.0, "batch_ms": 0.0, "repeats": 2}
METHODS = list(xl.top_k_methods())


def measure(what, values, k, **options):
    return xl.measure(what, values, k=k, **{"device": "reference", **QUICK, **options})


@pytest.mark.gpu
def test_every_method_is_timed_beside_one_read(any_device):
    done = measure("all", {"scores": "random", "items": 3000, "seed": 5}, 40, device=any_device, verify="device")
    assert [row.name for row in done.totals] == METHODS and done.selects
    assert done.limit.name == "read" and done.input_bytes == 12000 and done.output_bytes == 320
    where = "host" if any_device.is_reference else "device"
    assert {item.verified for item in done.of_role("contender")} == {where}
    assert (done.input["kind"], done.input["scores"], done.input["k"]) == ("random", 3000, 40)
    assert done.frame()["scores"].eq(3000).all() and "40 of 3,000 scores" in repr(done) + done._repr_html_()
    # The host's last step has no timestamps.
    assert done["readback_heap"].pass_ms == {}


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint32"])
@pytest.mark.parametrize("largest", [True, False])
def test_a_selection_is_right_only_if_it_is_the_definitions(any_device, dtype, largest):
    """Few distinct scores, so that ties decide; every kind of mistake is told."""
    values = np.random.default_rng(1).integers(0, 7, 500).astype(dtype)
    if values.dtype.kind == "f":
        values[::9], values[::13] = np.nan, -0.0
    with _check(any_device, values, largest) as check:
        for k in (1, 2, 60, 500):
            right = order_of(values, largest)[:k].astype(np.uint32)
            assert check.wrong(right, values[right], k) is None
            if k == 500:
                continue
            later = order_of(values, largest)[k : k + 1].astype(np.uint32)
            worse = np.append(right[:-1], later)
            assert "better items" in check.wrong(worse, values[worse], k)
        right = order_of(values, largest)[:200].astype(np.uint32)
        own = values[right]
        assert "199 results" in check.wrong(right[:-1], own[:-1], 200)
        assert "not best first" in check.wrong(right[::-1], own[::-1], 200)
        assert "not best first" in check.wrong(np.repeat(right[:1], 200), np.repeat(own[:1], 200), 200)
        assert "not those at" in check.wrong(right, own[::-1], 200)
        beyond = np.append(right[:-1], np.uint32(500))
        assert "index 500" in check.wrong(beyond, own, 200)


class _check:
    def __init__(self, device, values, largest):
        self.args = device, values, format_of(values.dtype), largest
        self.work = Selections(values, device, k=1, largest=largest)

    def __enter__(self):
        buffer = None if self.work.device.is_reference else self.work._external()["values"]
        self.found = scores.SelectionCheck(*self.args, buffer)
        return self.found

    def __exit__(self, *_):
        self.found.close()
        self.work.close()


@pytest.mark.gpu
@pytest.mark.parametrize("verify", ["host", "device"])
def test_a_method_with_a_wrong_selection_is_not_timed(gpu, verify, monkeypatch):
    from expandlab.measuring.contender import GraphRuns

    whole = GraphRuns.read

    def spoilt(self, name, at=0):
        found = whole(self, name, at)
        return np.roll(found, 1) if self.name == "bitonic" and name == "out_indices" else found

    monkeypatch.setattr(GraphRuns, "read", spoilt)
    values = np.random.default_rng(2).random(900, dtype=np.float32)
    with pytest.raises(xl.DeviceError, match="bitonic gave a wrong selection"):
        measure(["radix_select", "bitonic"], values, 8, device=gpu, verify=verify)
    done = measure(["radix_select", "bitonic"], values, 8, device=gpu, verify=verify, leave_out=True)
    assert [row.name for row in done.totals] == ["radix_select"] and "bitonic" in done.left_out


@pytest.mark.gpu
def test_a_check_on_the_device_that_miscounts_is_not_believed(gpu, monkeypatch):
    monkeypatch.setattr(scores.SelectionCheck, "not_after", lambda self, key, index: 8)
    with pytest.raises(xl.DeviceError, match="miscounts"):
        measure(["radix_select"], np.arange(99, dtype=np.float32), 8, device=gpu, verify="device")


@pytest.mark.parametrize("order", scores.ORDERS)
def test_orders_are_what_they_say(order):
    values, about = scores.from_recipe({"scores": order, "items": 4000, "seed": 3})
    assert values.dtype == np.float32 and about == {"kind": order, "seed": 3}
    steps = np.sign(np.diff(values))
    wanted = {"ascending": {1}, "descending": {-1}, "equal": {0}}.get(order, {-1, 0, 1} & set(steps.tolist()))
    assert set(steps.tolist()) == wanted
    leading = len(np.unique(values.view(np.uint32) >> 8))
    assert leading == 1 if order in ("equal", "shared") else leading > 100
    assert np.array_equal(values, scores.from_recipe({"scores": order, "items": 4000, "seed": 3})[0])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 9}, "k=9"),
        ({"what": "best"}, "method='best'"),
        ({"what": "radix_select unchecked"}, "unchecked"),
        ({"at_once": 2}, "at_once=2"),
        ({"workgroup_size": 64}, "workgroup_size=64"),
        ({"values": {"scores": "sorted"}}, "'scores', one of"),
        ({"values": {"scores": "random", "items": -1}}, "items=-1"),
        ({"values": np.zeros(8)}, "float64"),
        ({"k": None, "largest": False}, "largest=False"),
        ({"peers": ["thrust"]}, "thrust"),
    ],
)
def test_bad_arguments_are_named(options, text):
    given = {"what": "radix_select", "values": np.zeros(8, np.float32), "k": 2, **options}
    with pytest.raises((ValueError, TypeError), match=text):
        measure(given.pop("what"), given.pop("values"), given.pop("k"), **given)


def test_grids_of_scores(tmp_path):
    assert len(grid.cells("topk")) == 32 and {cell.k for cell in grid.cells("topk")} == {16, 1024}
    what = {"kind": ["random", "equal"], "k": [1, 5], "n": 64, **QUICK, "strategies": "radix_select"}
    done = xl.sweep(what, devices="reference", store=tmp_path / "s.jsonl")
    assert done.complete and not done.failed
    assert [(m.input["kind"], m.input["k"]) for m in done.measurements] == [
        ("random", 1), ("random", 5), ("equal", 1), ("equal", 5),
    ]  # fmt: skip
    assert xl.Sweep.load(tmp_path / "s.jsonl") == done
    assert str(grid.cells(what)[0]) == "random, 1 of 64"
    for wrong, text in (({"kind": "zipf", "k": 1, "n": 4}, "zipf"), ({"kind": "random", "n": 4}, "together")):
        with pytest.raises(grid.GridError, match=text):
            grid.cells(wrong)


def test_peers_that_are_not_installed_are_named():
    with pytest.raises(xl.UnsupportedError, match="peers='cupy'"):
        measure("radix_select", np.zeros(8, np.float32), 2, peers=["cupy"])
    for peer in ("torch", "jax", "cupy"):
        try:
            __import__(peer)
        except ImportError:
            with pytest.raises(xl.UnsupportedError, match=f"peers='{peer}'"):
                xl.measure("append", [3, 0, 5], device="reference", peers=[peer], **QUICK)
            with pytest.raises(xl.UnsupportedError, match=f"peers='{peer}'"):
                measure("radix_select", np.zeros(8, np.float32), 2, peers=[peer])


@pytest.mark.parametrize("peer", ["torch", "jax", "numpy"])
def test_peers_select_the_best_in_the_same_rounds(peer):
    pytest.importorskip(peer)
    for largest in (True, False):
        done = measure("radix_select", {"scores": "shared", "items": 3000}, 17, peers=[peer], largest=largest)
        assert all(item.verified == "host" and len(item.gpu_ms) == 2 for item in done.of_role("peer"))
        assert len(done.of_role("peer")) == {"torch": 2, "jax": 1, "numpy": 1}[peer]
    expanded = xl.measure("append", [3, 0, 5], device="reference", peers=[peer], **QUICK)
    assert len(expanded.of_role("peer")) == {"torch": 3, "jax": 1, "numpy": 2}[peer]


def test_cupy_expands_in_the_same_rounds():
    pytest.importorskip("cupy")
    expanded = xl.measure("append", [3, 0, 5], device="reference", peers=["cupy"], **QUICK)
    assert [item.verified for item in expanded.of_role("peer")] == ["device"]


def test_a_peer_that_is_wrong_is_not_timed():
    counts = np.array([3, 0, 2], np.int32)
    starts, items = np.cumsum(counts) - counts, np.arange(5, dtype=np.int32)
    src = np.repeat(np.arange(3), counts)
    local = items - starts[src]
    peer = Peer()
    peer.name = "a test's"
    check_expansion(peer, src, local, counts, starts, items)
    none = np.zeros(0, np.int32)
    check_expansion(peer, none, none, none, none, none)
    wrong = [(src[::-1], local), (src, local + 1), (src[:4], local[:4]), (src + 7, local), (src - 1, local)]
    for bad in (*wrong, (np.array([0, 0, 0, 1, 2]), np.array([0, 1, 2, 3, 1])), (np.full(5, 2), items - 3)):
        with pytest.raises(xl.DeviceError, match="a test's gave a wrong expansion"):
            check_expansion(peer, *bad, counts, starts, items)
