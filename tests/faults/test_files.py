"""A file is replaced whole or not at all, and what stands at its place keeps what it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from expandlab.errors import ExportError
from expandlab.files import check_writable, replacing
from expandlab.measuring.measurements import MeasurementsError

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and pipes are POSIX's")


def write(path, text="new"):
    with replacing(path) as temporary:
        temporary.write_text(text)


def test_folders_are_made_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "a" / "b" / "x.csv"
    check_writable(path)
    with pytest.raises(ZeroDivisionError), replacing(path) as temporary:
        temporary.write_text(str(1 / 0))
    with pytest.raises(ExportError, match="cannot be written"):
        check_writable(tmp_path / "a" / ("b" * 300) / "x.csv")
    assert list(tmp_path.iterdir()) == []
    write(path)
    assert [(item.name, item.read_text()) for item in path.parent.iterdir()] == [("x.csv", "new")]


@posix
def test_a_link_stays_one_and_a_mode_stays(tmp_path):
    target, link = tmp_path / "kept" / "x.csv", tmp_path / "x.csv"
    target.parent.mkdir()
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to("kept/x.csv")
    write(link)
    assert link.is_symlink() and target.read_text() == "new" and stat.S_IMODE(target.stat().st_mode) == 0o640
    target.unlink()
    write(link, "again")
    assert link.is_symlink() and target.read_text() == "again"
    assert sorted(item.name for item in tmp_path.rglob("*")) == ["kept", "x.csv", "x.csv"]


@posix
def test_a_pipe_is_written_to_as_it_is(tmp_path):
    pipe = tmp_path / "x.csv"
    os.mkfifo(pipe)
    check_writable(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        write(pipe)
        assert reader.communicate(timeout=30)[0] == "new"
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_the_pipe_behind_standard_output_is_written_to_as_it_is():
    code = "import pathlib, sys; from expandlab.files import *; p = pathlib.Path(sys.argv[1]); check_writable(p)"
    code += "\nwith replacing(p) as file: file.write_text('new')"
    for name in ("/dev/stdout", "/dev/fd/1"):
        told = subprocess.run(
            [sys.executable, "-c", code, name], capture_output=True, text=True, timeout=60, check=False
        )
        assert (told.returncode, told.stdout, told.stderr) == (0, "new", "")


@posix
def test_links_that_lead_to_one_another_are_told_and_stay(tmp_path):
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    one.symlink_to("other.csv")
    other.symlink_to("one.csv")
    for act in (check_writable, write):
        with pytest.raises(ExportError, match=r"one\.csv: cannot be written \(Too many levels of symbolic links\)"):
            act(one)
    assert one.is_symlink() and other.is_symlink()


def test_a_fault_of_another_file_in_the_block_is_not_told_of_this_one(tmp_path):
    with pytest.raises(FileNotFoundError, match="input"), replacing(tmp_path / "x.csv") as temporary:
        temporary.write_text((tmp_path / "input.csv").read_text())
    with pytest.raises(ExportError, match=r"x\.csv: cannot be written"), replacing(tmp_path / "x.csv") as temporary:
        temporary.unlink()
        temporary.read_text()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["😀" * 62 + ".csv", "日" * 83 + ".csv", "x" * 251 + ".csv"])
def test_a_name_may_be_as_long_as_the_system_takes(name, tmp_path):
    if sys.platform != "linux":
        pytest.skip("255 bytes are Linux's")
    write(tmp_path / name)
    assert (tmp_path / name).read_text() == "new"


@pytest.mark.parametrize("name", ["", ".", "/", "a\0.csv", "\ud800.csv", "x" * 300, "file/x.csv", "folder"])
def test_what_is_no_place_for_a_file_is_named(name, tmp_path, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    for act in (lambda: check_writable(Path(name)), lambda: write(Path(name))):
        with pytest.raises(ExportError, match=r"cannot be written \(.+\); choose another place") as caught:
            act()
        str(caught.value).encode()
    with pytest.raises(MeasurementsError, match="cannot be written"), replacing(Path(name), MeasurementsError):
        pass
    assert sorted(item.name for item in tmp_path.rglob("*")) == ["file", "folder"]


@posix
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "x.csv"
    path.write_text("old")
    # The tests may run as root, who may write everywhere.
    monkeypatch.setattr(os, "access", lambda where, mode: not (os.fspath(where) == str(path) and mode == os.W_OK))
    for act in (check_writable, write):
        with pytest.raises(ExportError, match=r"x\.csv: cannot be written \(Permission denied\)"):
            act(path)
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("fault", "raised"),
    [(KeyboardInterrupt(), KeyboardInterrupt), (MemoryError(), MemoryError), (ValueError("mine"), ValueError),
     (OSError(28, "full"), ExportError)],
)  # fmt: skip
def test_what_ends_the_writing_keeps_the_old_file(fault, raised, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(raised), replacing(path) as temporary:
        temporary.write_text("half")
        raise fault
    assert [(item.name, item.read_text()) for item in tmp_path.iterdir()] == [("x.csv", "old")]


@pytest.mark.parametrize("arguments", [["bench", "--kind", "uniform"], ["expand", "--kind", "uniform"]])
@pytest.mark.skipif(sys.platform != "linux", reason="nobody may write in /sys")
def test_an_output_that_cannot_be_written_is_refused_before_the_work(arguments):
    told = subprocess.run(
        [sys.executable, "-m", "expandlab", *arguments, "--device", "no such device", "-o", "/sys/x.csv"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert told.returncode != 0 and "/sys/x.csv: cannot be written" in told.stderr and not told.stdout
