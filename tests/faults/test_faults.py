"""What goes wrong on a machine, and what is kept: the rows of docs/faults.md that no other test covers."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from definition import assert_expands
from topk_definition import order_of

import expandlab as xl
from expandlab import export, settings
from expandlab.cli.mapping import write_mapping
from expandlab.gpu import waiting
from expandlab.measuring.store import Store, StoreError, read

ROOT = Path(__file__).resolve().parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="the limits are Linux's")

# A second of SwiftShader's for each 1500 of ROUNDS; lavapipe leaves loops of more than 65 535 rounds.
LONG = """fn work(src: u32, local: u32, dst: u32) {
    var x = a[0];
    for (var i = 0u; i < ROUNDS; i++) { for (var j = 0u; j < 60000u; j++) { x = x * 1664525u + a[1]; } }
    a[0] = x;
}"""


def run_long(device, rounds=1500):
    body = LONG.replace("ROUNDS", f"{rounds}u")
    return xl.expand([1], "flat", body=body, buffers={"a": np.ones(2, np.uint32)}, device=device)


@pytest.fixture
def slow():
    """SwiftShader, opened for this test alone."""
    from drivers import driver

    driver("swiftshader")
    return xl.device("swiftshader")


def test_every_row_of_the_table_names_a_test_that_is_there():
    rows = [line for line in (ROOT / "docs/faults.md").read_text().splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 16
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row)
        assert named, row
        for file, test in named:
            assert f"def {test}(" in (ROOT / file).read_text(), f"{file}::{test}"


@linux
@pytest.mark.gpu
def test_out_of_gpu_memory_keeps_what_was_found_and_the_device(gpu):
    large, small = np.zeros(30_000_000, np.float32), np.array([3, 1, 2], np.float32)
    with xl.TopKStream(2, device=gpu) as stream:
        stream.push(small)
        # lavapipe's compiler does not survive a lack of memory, so all that the large push needs is compiled before.
        with xl.TopKStream(2, device=gpu) as other:
            other.push(large[: 1 << 20])
        before = resource.getrlimit(resource.RLIMIT_AS)
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + (20 << 20), before[1]))
        try:
            with pytest.raises(xl.DeviceError, match=r"[Mm]emory.*(Do less at once|expand)"):
                stream.push(large, 3)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, before)
        assert stream.result().indices.tolist() == [0, 2]
        stream.push(small, 3)
        assert stream.result().indices.tolist() == [0, 3]
    assert xl.expand([3, 1], "prefix_search", device=gpu).total == 4


@linux
def test_a_result_that_the_host_has_no_room_for_is_refused():
    counts = np.full(2, 2**31 - 1, np.uint32)
    total = int(counts.sum(dtype=np.uint64))
    kilobytes = int(re.search(r"MemAvailable:\s+(\d+)", Path("/proc/meminfo").read_text())[1])
    if kilobytes * 1024 > 8 * total:
        pytest.skip("this machine has room for it")
    with pytest.raises(xl.DeviceLimitError, match="host's memory") as caught:
        xl.expand(counts, "prefix_search", device="reference", capacity=total)
    assert caught.value.required == total and caught.value.required_bytes > caught.value.available_bytes


@pytest.mark.gpu
def test_a_lost_device_is_an_error_and_another_one_works(lavapipe):
    lost = xl.device("lavapipe")
    counts = xl.counts.make("zipf", 300, seed=1)
    with xl.Expander("po2_merged", max_src=300, max_dst=5000, device=lost) as prepared:
        assert prepared.run(counts).total == counts.sum()
        lost.gpu.destroy()
        with pytest.raises(xl.DeviceError, match="lost"):
            prepared.run(counts)
    with pytest.raises(xl.DeviceError, match="lost"):
        xl.expand(counts, device=lost)
    again = xl.expand(counts, device=xl.device("lavapipe"))
    assert_expands(counts, again.src, again.local)


@pytest.mark.gpu
def test_a_run_that_does_not_end_is_reported_and_the_device_comes_back(slow, monkeypatch):
    # Beside other work this process may not be heard for a second or more; the run has to be under way all the same.
    monkeypatch.setenv("EXPANDLAB_PATIENCE_S", "0.05")
    monkeypatch.setattr(waiting, "_GLANCE_S", 0.01)
    with pytest.raises(xl.DeviceError, match=r"no answer for 0\.05 s.*bound its loops.*EXPANDLAB_PATIENCE_S"):
        run_long(slow, 9000)
    assert slow.busy
    with pytest.raises(xl.DeviceError, match="busy with an earlier run"):
        xl.expand([1], device=slow)
    # The kernel lives, and so do other devices (not those of the same driver: SwiftShader's share their threads).
    assert xl.expand([1, 2], device="reference").total == 3
    for left, _ in list(slow._waiting._left):
        assert left._thread_event.wait(120)
    assert not slow.busy
    monkeypatch.undo()
    assert xl.expand([2, 1], "po2_merged", device=slow).total == 3 and not slow._waiting._kept


@pytest.mark.gpu
def test_an_interrupt_ends_the_wait_and_the_next_run_comes_after_it(slow, monkeypatch):
    whole, waits = waiting._wait, []

    def interrupted(promise, seconds):
        waits.append(seconds)
        if len(waits) == 1:
            signal.raise_signal(signal.SIGINT)
        return whole(promise, seconds)

    monkeypatch.setattr(waiting, "_wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_long(slow)
    monkeypatch.setattr(waiting, "_AFTER_INTERRUPT_S", 120)
    assert xl.expand([2, 1], "po2_merged", device=slow).total == 3


@pytest.mark.parametrize("text", ["", "soon", "0", "-3", "nan"])
def test_a_patience_that_is_no_time_is_the_default(text, monkeypatch):
    monkeypatch.setenv("EXPANDLAB_PATIENCE_S", text)
    assert waiting.patience_s() == waiting.PATIENCE_S


@contextmanager
def full_disk():
    """Files may not grow beyond 600 bytes; Python ignores the signal, so that a write fails as on a full disk.

    Ends with the block, before pytest writes its progress to what may be a file as well.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@linux
def test_a_full_disk_leaves_the_store_as_it_was(tmp_path):
    path = tmp_path / "s.jsonl"
    with Store(path) as store:
        store.add("a", {"n": 1})
        kept = path.read_bytes()
        with full_disk():
            with pytest.raises(StoreError, match=r"cannot be written \(.+\); make room.*kept"):
                store.add("b", {"text": "x" * 4000})
            assert path.read_bytes() == kept and "b" not in store.entries
            store.add("c", {"n": 2})
    assert list(read(path)) == ["a", "c"]


def test_a_disk_that_fails_when_it_is_synchronised_stores_nothing(tmp_path, monkeypatch):
    path = tmp_path / "s.jsonl"
    with Store(path) as store:
        kept = path.read_bytes()
        with monkeypatch.context() as patch:

            def broken(file):
                raise OSError(errno.EIO, os.strerror(errno.EIO))

            patch.setattr(os, "fsync", broken)
            with pytest.raises(StoreError, match=os.strerror(errno.EIO)):
                store.add("a", {})
        assert path.read_bytes() == kept
        store.add("a", {})


@linux
def test_a_full_disk_keeps_the_old_export_and_leaves_no_part_of_the_new(tmp_path):
    shown = settings.ExpansionSettings(source="list", values=[3, 1, 2], strategy="append")
    done = xl.expand(np.full(200, 3, np.uint32), device="reference")
    paths = [tmp_path / name for name in ("x.csv", "x.json", "x.svg", "map.npy", "map.csv")]
    for path in paths:
        path.write_text("old")
    with full_disk():
        for path in paths[:3]:
            with pytest.raises(export.ExportError, match="cannot be written"):
                export.save(path, shown)
        for path in paths[3:]:
            with pytest.raises(OSError):
                write_mapping(path, done)
    assert sorted(tmp_path.iterdir()) == sorted(paths) and all(path.read_text() == "old" for path in paths)


@linux
def test_a_place_that_may_not_be_written_is_named():
    # Nobody may make files there, root neither.
    with pytest.raises(StoreError, match=r"store=/sys/s\.jsonl: cannot be opened"), Store("/sys/s.jsonl"):
        pass
    with pytest.raises(export.ExportError, match=r"/sys/x\.svg: cannot be written .*choose another place"):
        export.save("/sys/x.svg", settings.ExpansionSettings())


@pytest.mark.gpu
def test_two_processes_share_one_gpu(lavapipe):
    code = """
import sys, numpy as np, expandlab as xl
sys.stdin.readline()
for seed in range(6):
    counts = xl.counts.make("zipf", 3000, seed=seed)
    done = xl.expand(counts, "po2_merged", device="lavapipe")
    starts = np.cumsum(counts, dtype=np.int64) - counts
    assert np.array_equal(np.sort(starts[done.src] + done.local), np.arange(counts.sum()))
print("same")
"""
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.communicate(timeout=120)[0] for process in both] == ["same\n", "same\n"]


def test_a_result_file_that_was_cut_or_changed_is_refused_wherever(tmp_path):
    found = xl.measure(["flat"], [3, 1, 2], device="reference", repeats=2)
    path = found.save(tmp_path / "m.json")
    data = path.read_bytes()
    assert xl.Measurements.load(path).to_dict() == found.to_dict()
    for end in range(0, len(data) - 2, max(1, len(data) // 40)):
        path.write_bytes(data[:end])
        with pytest.raises(xl.ExpandlabError, match=r"m\.json"):
            xl.Measurements.load(path)
    rng = np.random.default_rng(1)
    for _ in range(200):
        spoiled = bytearray(data)
        spoiled[rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(spoiled)
        try:
            xl.Measurements.load(path)
        except xl.ExpandlabError as error:
            assert "m.json" in str(error)


HOSTILE = [
    None, True, -1, 0, 1.5, 10**400, float("inf"), float("nan"), "", "\0", "x" * 5000, "../../etc/passwd", "<script>",
    "__import__('os').system('true')", [], [[]], {}, {"$ref": "#"}, [None], [-1], list(range(9)), {"a": {"b": [1]}},
]  # fmt: skip


@pytest.mark.parametrize("kind", list(settings.panels().values()), ids=lambda kind: kind.panel)
def test_settings_with_hostile_values_are_settings_or_an_error_that_names_them(kind):
    names = list(kind().to_dict())
    assert kind.from_json("{}") == kind(), "what is missing has its default"
    with pytest.raises(settings.SettingsError, match="'__class__' is no setting"):
        kind.from_json({"__class__": 1})
    refused = 0
    for name in names:
        for value in HOSTILE:
            try:
                kind.from_json(json.dumps({name: value}))
            except xl.ExpandlabError as error:
                refused += 1
                assert str(error)
    assert refused > len(names) * len(HOSTILE) // 2


@pytest.mark.parametrize("text", ["", "[", "[]", "7", "null", '{"panel": []}', '{"a":' * 3000, '"x"', "\0", "{]"])
def test_text_that_holds_no_settings_is_refused(text):
    with pytest.raises(settings.SettingsError):
        settings.from_json(text)


@linux
@pytest.mark.parametrize(("suffix", "most_mib"), [("csv", 500), ("npy", 300), ("parquet", 400)])
def test_ten_million_counts_load_in_bounded_memory(suffix, most_mib, tmp_path):
    values = np.random.default_rng(0).integers(0, 10, 10**7).astype(np.uint8)
    path = tmp_path / f"c.{suffix}"
    if suffix == "csv":
        path.write_bytes(b"n\n" + np.stack([values + 48, np.full_like(values, 10)], axis=1).tobytes())
    elif suffix == "npy":
        np.save(path, values)
    else:
        import pandas as pd

        pd.DataFrame({"n": values}).to_parquet(path)
    code = """
import resource, sys, pandas, pyarrow.parquet, expandlab as xl
xl.counts.load([1])
most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = most()
counts = xl.counts.load(sys.argv[1])
print(len(counts), int(counts.sum()), most() - before)
"""
    told = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=120)
    count, total, mib = told.stdout.split()
    assert (int(count), int(total)) == (10**7, int(values.sum(dtype=np.int64)))
    # Four bytes a count are the result; a table of text would take a hundred.
    assert float(mib) < most_mib


def test_ten_million_src_are_refused_or_expanded_by_the_reference():
    counts = np.zeros(10**7, np.uint32)
    counts[::1000] = 3
    done = xl.expand(counts, "prefix_search", device="reference")
    assert np.array_equal(done.src, np.repeat(np.arange(0, 10**7, 1000), 3))
    values = np.arange(10**7, dtype=np.float32)
    assert (
        xl.top_k(values, 3, device="reference").indices.tolist()
        == order_of(values[-9:], True)[:3].__add__(10**7 - 9).tolist()
    )


@pytest.mark.gpu
def test_threads_may_run_on_one_device_at_once(gpu):
    failed = []

    def work(seed):
        try:
            for number in range(3):
                counts = xl.counts.make("geometric", 500, seed=10 * seed + number)
                done = xl.expand(counts, "po2_merged", device=gpu)
                assert_expands(counts, done.src, done.local)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failed
