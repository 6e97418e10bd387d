"""A file is written whole, or what was there before stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest

from cluster_abm import whole_files
from cluster_abm.errors import InputError
from cluster_abm.whole_files import check_can_be_written, in_one_move

WRITE = """
import resource, sys
from pathlib import Path
from cluster_abm.errors import InputError
from cluster_abm.workload.traces import read_trace, write_csv
if len(sys.argv) > 3:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    write_csv(read_trace(Path(sys.argv[1])), Path(sys.argv[2]))
except InputError as problem:
    sys.exit(str(problem))
"""
JOBS = "arrival_ms,cpu_ms\n" + "".join(f"{row},1\n" for row in range(100_000))


def written(source, target, *limit):
    """What the writing of a trace says, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", WRITE, source, target, *map(str, limit)], capture_output=True)
    return done.stderr.decode()


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError(28, "No space left on device"), ValueError])
def test_what_is_there_stays_whole_when_the_writing_fails(tmp_path, problem):
    path = tmp_path / "a.csv"
    path.write_text("good")
    expected = InputError if isinstance(problem, OSError) else problem

    def write():
        with in_one_move(path) as partial:
            partial.write_text("half")
            raise problem

    with pytest.raises(expected):
        write()
    assert path.read_text() == "good"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_a_link_stays_a_link_and_its_target_is_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "real.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    with in_one_move(link) as partial:
        partial.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert os.listdir(target.parent) == ["real.csv"]


@pytest.mark.parametrize("name", ["nowhere/a.csv", "x" * 300 + ".csv", "a\0b.csv", "folder", "loop.csv"])
def test_where_nothing_can_be_written_is_named(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(InputError, match="cannot be written"), in_one_move(tmp_path / name) as partial:
        partial.write_text("text")
    assert sorted(os.listdir(tmp_path)) == ["folder", "loop.csv"]


def test_whoever_could_read_the_old_file_can_read_the_new_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(0o640)
    with in_one_move(path) as partial:
        partial.write_text("new")
    assert path.stat().st_mode & 0o777 == 0o640


def test_no_other_file_of_the_folder_is_touched(tmp_path):
    for name in ("a.part.csv", ".a.csv", "a.csv.part"):
        (tmp_path / name).write_text(name)
    with in_one_move(tmp_path / "a.csv") as partial:
        partial.write_text("new")
    for name in ("a.part.csv", ".a.csv", "a.csv.part"):
        assert (tmp_path / name).read_text() == name
    assert len(os.listdir(tmp_path)) == 4


def test_two_who_write_the_same_file_do_not_mix(tmp_path):
    path = tmp_path / "a.csv"
    with in_one_move(path) as one:
        one.write_text("one")
        with in_one_move(path) as other:
            other.write_text("other")
        assert path.read_text() == "other"
        assert one.read_text() == "one"
    assert path.read_text() == "one"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_a_new_file_has_the_rights_that_new_files_have(tmp_path):
    (tmp_path / "usual.csv").write_text("")
    with in_one_move(tmp_path / "a.csv") as partial:
        partial.write_text("new")
    assert (tmp_path / "a.csv").stat().st_mode == (tmp_path / "usual.csv").stat().st_mode


@pytest.mark.parametrize("length", [250, 255])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, length):
    path = tmp_path / ("x" * (length - 4) + ".csv")
    with in_one_move(path) as partial:
        partial.write_text("new")
    assert path.read_text() == "new"


def test_a_device_is_not_replaced():
    with pytest.raises(InputError, match="cannot be written"), in_one_move("/dev/null"):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_file_that_may_not_grow_so_large_leaves_the_old_one(tmp_path, suffix):
    source, target = tmp_path / "jobs.csv", tmp_path / f"out.csv{suffix}"
    source.write_text(JOBS)
    target.write_text("good")
    message = written(source, target, 4096)
    assert f"{target}: cannot be written (File too large)" in message
    assert "Traceback" not in message
    assert target.read_text() == "good"
    assert sorted(os.listdir(tmp_path)) == ["jobs.csv", target.name]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 128 KB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "none", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("only root may mount")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file(small_disk):
    target = small_disk / "out.csv"
    target.write_text("good")
    with tempfile.NamedTemporaryFile(suffix=".csv") as source:
        source.write(JOBS.encode())
        source.flush()
        assert "cannot be written (No space left on device)" in written(source.name, target)
    assert target.read_text() == "good"
    assert os.listdir(small_disk) == ["out.csv"]


def test_a_file_that_cannot_be_written_is_said_before(tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    for path, words in (("none/a", "there is no folder"), ("folder", "is a folder")):
        with pytest.raises(InputError, match=f"--out it: {words}"):
            check_can_be_written(tmp_path / path, "--out it")
    check_can_be_written(tmp_path / "a", "--out it")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]

    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(whole_files, "try_to_write", refuse)
    with pytest.raises(InputError, match=r"--out it: cannot be written \(Permission denied\); a writable folder"):
        check_can_be_written(tmp_path / "a", "--out it")
