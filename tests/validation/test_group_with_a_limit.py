"""The control group of a memory limit: made, found and removed, in folders that stand in for those of the kernel."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest
from ideal_machine import clock_in

from cluster_abm.validation import memory
from cluster_abm.validation.memory import candidates, limited_group

LIMIT = "memory.max"


class Group(type(Path())):
    """A folder as the kernel makes it: it begins with a file for its limit, and can be removed with that file."""

    refusals = 0

    def mkdir(self):
        super().mkdir()
        if self.parent.name != "unlimited":
            (self / LIMIT).write_text("max")
        if self.parent.name == "interrupted":
            signal.raise_signal(signal.SIGINT)

    def rmdir(self):
        if Group.refusals > 0:
            Group.refusals -= 1
            raise OSError(errno.EBUSY, "Device or resource busy")
        (self / LIMIT).unlink(missing_ok=True)
        super().rmdir()


class ReadOnly(type(Path())):
    """A folder of a read-only file system: the kernel refuses before it looks for the folder."""

    def mkdir(self):
        raise OSError(errno.EROFS, "Read-only file system")

    def rmdir(self):
        raise OSError(errno.EROFS, "Read-only file system")


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(Group, "refusals", 0)
    return clock_in(monkeypatch, memory)


@pytest.fixture
def parents(tmp_path, monkeypatch, clock):
    """Make folders of these names the candidates for a group."""

    def make(*names, kind=Group):
        for name in names:
            if name != "missing":
                (tmp_path / name).mkdir()
        monkeypatch.setattr(memory, "candidates", lambda _: [(kind(tmp_path / name), LIMIT) for name in names])
        return [tmp_path / name for name in names]

    return make


def groups_in(*folders):
    return [path.name for folder in folders for path in folder.glob("*")]


def test_a_group_exists_within_its_block(parents, clock):
    (parent,) = parents("here")
    with limited_group() as (group, name):
        assert (group, name) == (parent / f"cluster-abm-{os.getpid()}", LIMIT)
        assert (group / name).exists()
    assert groups_in(parent) == []
    assert clock.slept == []


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError])
def test_a_group_is_removed_after_an_exception(parents, problem):
    (parent,) = parents("here")
    with pytest.raises(problem), limited_group() as (group, _):  # noqa: PT012
        assert group.exists()
        raise problem
    assert groups_in(parent) == []


def test_ctrl_c_while_a_group_is_made(parents, ctrl_c):
    (parent,) = parents("interrupted")
    with pytest.raises(KeyboardInterrupt), limited_group():
        raise AssertionError("the block began")
    assert groups_in(parent) == []


@pytest.mark.parametrize("first", ["missing", "unlimited"])
def test_the_first_folder_with_a_limit_is_chosen(parents, first):
    folders = parents(first, "here", "later")
    with limited_group() as (group, _):
        assert group.parent == folders[1]
        assert groups_in(*folders) == [group.name]
    assert groups_in(*folders) == []


def test_without_a_limit_a_reason_is_given(parents):
    """The reason is of the last folder."""
    folders = parents("missing", "unlimited")
    with limited_group() as why:
        assert why == f"control groups in {folders[1]} have no memory.max"
    folders = parents("other-unlimited", "missing")
    Path(folders[0], f"cluster-abm-{os.getpid()}").mkdir()
    with limited_group() as why:
        assert why == f"no control group can be made in {folders[1]} (No such file or directory); root may be needed"


def test_removal_is_tried_again_while_the_group_is_busy(parents, clock, monkeypatch):
    (parent,) = parents("here")
    with limited_group():
        monkeypatch.setattr(Group, "refusals", 3)
    assert groups_in(parent) == []
    assert clock.slept == [0.02] * 3


def test_removal_is_given_up_after_a_second(parents, clock, monkeypatch):
    parents("here")
    with limited_group():
        monkeypatch.setattr(Group, "refusals", 10_000)
    assert sum(clock.slept) == pytest.approx(1.0)


def test_a_group_that_could_not_be_made_is_not_removed(parents, clock):
    """As in a container with read-only control groups: no time is spent on a folder that was not made."""
    parents("one", "two", kind=ReadOnly)
    with limited_group() as why:
        assert why.endswith("(Read-only file system); root may be needed")
    assert clock.slept == []


def test_a_group_of_another_process_is_left_alone(parents):
    """A process of another container may have the same number, and a group of the same name."""
    (parent,) = parents("here")
    other = parent / f"cluster-abm-{os.getpid()}"
    other.mkdir()
    with limited_group() as why:
        assert "(File exists)" in why
    assert other.exists()


def test_candidates_do_not_leave_the_tree_of_groups():
    """In version 2 the parent of the process's group is a candidate, down from the top; each folder comes once."""
    top = Path("/groups")
    assert candidates("0::/\n", top) == [(top, LIMIT), (top / "unified", LIMIT)]
    assert candidates("0::/a\n", top) == [(top, LIMIT), (top / "unified", LIMIT)]
    assert candidates("0::/a/b/c\n", top)[0] == (top / "a/b", LIMIT)
    assert candidates("4:memory:/\n", top) == [(top / "memory", "memory.limit_in_bytes")]
    assert candidates("3:cpu:/x\n", top) == []
