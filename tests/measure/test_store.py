"""A store keeps what was written whole, whatever happens to its writer, and never takes damage for data."""

from __future__ import annotations

import subprocess
import sys

import pytest

from expandlab.measuring.store import Store, StoreError, read


def filled(path, count=3):
    with Store(path) as store:
        for number in range(count):
            store.add(f"k{number}", {"n": number, "text": "line\nbreak ü"})
    return path.read_bytes()


def test_what_was_added_is_there_when_it_is_opened_again(tmp_path):
    path = tmp_path / "deep" / "s.jsonl"
    data = filled(path)
    assert data.count(b"\n") == 4
    with Store(path) as store:
        assert list(store.entries) == ["k0", "k1", "k2"] and store.entries["k2"]["text"] == "line\nbreak ü"
        with pytest.raises(StoreError, match="measured twice"):
            store.add("k1", {})
        store.add("k1", {"again": True}, replace=True)
    assert read(path)["k1"] == {"again": True} and list(read(path)) == ["k0", "k1", "k2"]
    assert path.read_bytes().startswith(data)


def test_a_line_that_was_torn_anywhere_is_cut_off_and_nothing_else(tmp_path):
    path = tmp_path / "s.jsonl"
    data = filled(path)
    start = data.rstrip(b"\n").rfind(b"\n") + 1
    for end in range(start, len(data)):
        path.write_bytes(data[:end])
        assert list(read(path)) == ["k0", "k1"]
        with Store(path) as store:
            assert list(store.entries) == ["k0", "k1"]
            store.add("k2", {"n": 2, "text": "line\nbreak ü"})
        assert path.read_bytes() == data


def test_a_header_that_was_torn_is_written_anew(tmp_path):
    path = tmp_path / "s.jsonl"
    header = filled(path, 0)
    for end in range(len(header)):
        path.write_bytes(header[:end])
        assert filled(path, 0) == header


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda data: data.replace(b'"n":1', b'"n":7'), "line 3 is damaged"),
        (lambda data: data.replace(b"\n", b"\n\n", 2), "line 2 is damaged"),
        (lambda data: b"something else\n" + data, "line 1 is damaged"),
        (lambda data: data.split(b"\n", 1)[1], "no store of a sweep"),
    ],
)
def test_damage_is_told_of_and_the_file_is_left_as_it_is(damage, text, tmp_path):
    path = tmp_path / "s.jsonl"
    spoilt = damage(filled(path))
    path.write_bytes(spoilt)
    for reader in (lambda: Store(path).__enter__(), lambda: read(path)):
        with pytest.raises(StoreError, match=text):
            reader()
    assert path.read_bytes() == spoilt


def test_two_processes_cannot_write_one_store(tmp_path):
    path = tmp_path / "s.jsonl"
    code = "import sys; from expandlab.measuring.store import Store\nwith Store(sys.argv[1]): pass"
    line = [sys.executable, "-c", code, str(path)]
    with Store(path):
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode != 0 and "another process is writing it" in done.stderr
    assert subprocess.run(line, check=False).returncode == 0


def test_a_place_that_cannot_be_written_is_told_of(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be opened"), Store(tmp_path / "file" / "s.jsonl"):
        pass
    with pytest.raises(StoreError, match="cannot be read"):
        read(tmp_path / "none.jsonl")
