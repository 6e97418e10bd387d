"""The control group of a memory limit, in folders that stand in for those of the kernel: made, found, and removed."""

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
    """A folder that has a limit as soon as it is made, and that can be removed with it, as the kernel has it."""

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
    """The kernel says so first, whether there is such a folder or not."""

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
    """Folders of these names, in which a group may be made."""

    def make(*names, kind=Group):
        for name in names:
            if name != "missing":
                (tmp_path / name).mkdir()
        monkeypatch.setattr(memory, "candidates", lambda _: [(kind(tmp_path / name), LIMIT) for name in names])
        return [tmp_path / name for name in names]

    return make


def groups_in(*folders):
    return [path.name for folder in folders for path in folder.glob("*")]


def test_a_group_lives_for_its_block(parents, clock):
    (parent,) = parents("here")
    with limited_group() as (group, name):
        assert (group, name) == (parent / f"cluster-abm-{os.getpid()}", LIMIT)
        assert (group / name).exists()
    assert groups_in(parent) == []
    assert clock.slept == []


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError])
def test_a_group_is_gone_however_its_block_is_left(parents, problem):
    (parent,) = parents("here")
    with pytest.raises(problem), limited_group() as (group, _):  # noqa: PT012
        assert group.exists()
        raise problem
    assert groups_in(parent) == []


def test_ctrl_c_while_a_group_is_made(parents, ctrl_c):
    (parent,) = parents("interrupted")
    with pytest.raises(KeyboardInterrupt), limited_group():
        raise AssertionError("the block is not begun")
    assert groups_in(parent) == []


@pytest.mark.parametrize("first", ["missing", "unlimited"])
def test_the_first_folder_that_gives_a_limit(parents, first):
    folders = parents(first, "here", "later")
    with limited_group() as (group, _):
        assert group.parent == folders[1]
        assert groups_in(*folders) == [group.name]
    assert groups_in(*folders) == []


def test_none_gives_a_limit(parents):
    """What is said is about the last one."""
    folders = parents("missing", "unlimited")
    with limited_group() as why:
        assert why == f"control groups in {folders[1]} have no memory.max"
    folders = parents("other-unlimited", "missing")
    Path(folders[0], f"cluster-abm-{os.getpid()}").mkdir()
    with limited_group() as why:
        assert why == f"no control group can be made in {folders[1]} (No such file or directory); root may be needed"


def test_the_kernel_takes_a_moment_to_let_go(parents, clock, monkeypatch):
    (parent,) = parents("here")
    with limited_group():
        monkeypatch.setattr(Group, "refusals", 3)
    assert groups_in(parent) == []
    assert clock.slept == [0.02] * 3


def test_a_kernel_that_never_lets_go_is_no_reason_to_wait_for_long(parents, clock, monkeypatch):
    parents("here")
    with limited_group():
        monkeypatch.setattr(Group, "refusals", 10_000)
    assert sum(clock.slept) == pytest.approx(1.0)


def test_where_nothing_can_be_made_nothing_is_removed(parents, clock):
    """As in a container that has the control groups read-only: it does not wait for a folder that it did not make."""
    parents("one", "two", kind=ReadOnly)
    with limited_group() as why:
        assert why.endswith("(Read-only file system); root may be needed")
    assert clock.slept == []


def test_a_group_of_another_process_is_left_alone(parents):
    """It has the same number, in another container."""
    (parent,) = parents("here")
    other = parent / f"cluster-abm-{os.getpid()}"
    other.mkdir()
    with limited_group() as why:
        assert "(File exists)" in why
    assert other.exists()


def test_at_the_top_of_the_groups_there_is_nothing_above():
    """In version 2 the group above that of the process, but not above all groups; each folder once."""
    top = Path("/groups")
    assert candidates("0::/\n", top) == [(top, LIMIT), (top / "unified", LIMIT)]
    assert candidates("0::/a\n", top) == [(top, LIMIT), (top / "unified", LIMIT)]
    assert candidates("0::/a/b/c\n", top)[0] == (top / "a/b", LIMIT)
    assert candidates("4:memory:/\n", top) == [(top / "memory", "memory.limit_in_bytes")]
    assert candidates("3:cpu:/x\n", top) == []
