"""What Linux says in its files, read from texts."""

from __future__ import annotations

import pytest

from cluster_abm.validation.proc_files import (
    Ticks,
    over,
    parse_cpuinfo,
    parse_groups,
    parse_list,
    parse_mount,
    parse_quota,
    parse_stat,
    parse_switches,
)

STAT = """cpu  5523 0 1888 274865 164 0 28 10 7 0
cpu0 404 1 547 140183 16 3 10 2 7 0
cpu1 5118 0 1341 134682 148 0 17 8 0 0
intr 1 2 3
ctxt 12345
"""


def test_processors():
    found = parse_stat(STAT)
    # Guest time, 7, is in user's already.
    assert found == {0: Ticks(404 + 1 + 547 + 3 + 10, 140183 + 16, 2), 1: Ticks(5118 + 1341 + 17, 134682 + 148, 8)}
    assert over(found, [0, 1]) == found[0] + found[1]
    assert over(found, [7]) == Ticks(0, 0, 0)
    assert (found[1] - found[0]).steal == 6
    assert found[0].total == 404 + 1 + 547 + 140183 + 16 + 3 + 10 + 2


def test_an_old_kernel_says_fewer_columns():
    assert parse_stat("cpu0 1 2 3 4\n") == {0: Ticks(6, 4, 0)}
    assert parse_stat("") == {}


def test_switches():
    assert parse_switches("Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t17\n") == 17
    with pytest.raises(ValueError, match="nonvoluntary"):
        parse_switches("")


def test_the_processor():
    text = "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags\t\t: fpu hypervisor lahf_lm\n"
    assert parse_cpuinfo(text) == ("Some CPU @ 2 GHz", True)
    assert parse_cpuinfo("flags : fpu\n") == ("", False)
    assert parse_cpuinfo("") == ("", False)


def test_lists():
    assert parse_list("0-2,5\n") == (0, 1, 2, 5)
    assert parse_list("3") == (3,)
    assert parse_list("") == ()


@pytest.mark.parametrize(("files", "expected"), [
    (("max 100000\n", None, None), None),
    (("150000 100000\n", None, None), 1.5),
    ((None, "50000\n", "100000\n"), 0.5),
    ((None, "-1\n", "100000\n"), None),
    ((None, None, None), None),
])  # fmt: skip
def test_quotas_of_both_versions(files, expected):
    assert parse_quota(*files) == expected


def test_groups():
    text = "9:name=systemd:/\n4:memory:/a/b\n3:cpu,cpuacct:/c\n0::/user.slice\nnot a line\n"
    found = parse_groups(text)
    assert found["memory"] == "/a/b"
    assert found["cpu"] == found["cpuacct"] == "/c"
    assert found[""] == "/user.slice"


def test_mounts():
    mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /my\\040disk xfs rw 0 0\n/dev/c /tm ext4 rw 0 0\n"
    assert parse_mount(mounts, "/tmp/x") == ("tmpfs", "tmpfs")
    assert parse_mount(mounts, "/tmpx") == ("ext4", "/dev/a")
    assert parse_mount(mounts, "/my disk/y") == ("xfs", "/dev/b")
    assert parse_mount("", "/tmp") == ("", "")
