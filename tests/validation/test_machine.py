"""Facts of a machine, read from files of Linux that a test provides."""

from __future__ import annotations

import pytest

from cluster_abm.validation import machine

GROUP = "/sys/fs/cgroup"
SIBLINGS = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"


@pytest.fixture
def say(monkeypatch):
    """Let the system have only these files, by path."""

    def set_files(files):
        monkeypatch.setattr(machine, "text_of", lambda path: files.get(str(path)))

    return set_files


@pytest.mark.parametrize(("files", "cores"), [
    ({"/proc/self/cgroup": "0::/a/b\n", f"{GROUP}/a/b/cpu.max": "150000 100000\n"}, 1.5),
    # The limits of the groups above hold too.
    ({"/proc/self/cgroup": "0::/a/b\n", f"{GROUP}/a/b/cpu.max": "400000 100000\n",
      f"{GROUP}/a/cpu.max": "50000 100000\n", f"{GROUP}/cpu.max": "max 100000\n"}, 0.5),
    ({"/proc/self/cgroup": "0::/a/b\n", f"{GROUP}/a/b/cpu.max": "max 100000\n"}, None),
    # In version 1 each controller has its own groups.
    ({"/proc/self/cgroup": "4:memory:/m\n3:cpu,cpuacct:/c\n",
      f"{GROUP}/cpu/c/cpu.cfs_quota_us": "200000\n", f"{GROUP}/cpu/c/cpu.cfs_period_us": "100000\n"}, 2.0),
    ({"/proc/self/cgroup": "3:cpu,cpuacct:/c\n", f"{GROUP}/cpu,cpuacct/c/cpu.cfs_quota_us": "200000\n",
      f"{GROUP}/cpu,cpuacct/c/cpu.cfs_period_us": "100000\n"}, 2.0),
    # The path /m is of the memory controller: the limit of a CPU group of that path does not count.
    ({"/proc/self/cgroup": "4:memory:/m\n3:cpu:/c\n", f"{GROUP}/cpu/m/cpu.cfs_quota_us": "1000\n",
      f"{GROUP}/cpu/m/cpu.cfs_period_us": "100000\n", f"{GROUP}/cpu/c/cpu.cfs_quota_us": "300000\n",
      f"{GROUP}/cpu/c/cpu.cfs_period_us": "100000\n"}, 3.0),
    # Version 2 mounted beside version 1: both limits hold.
    ({"/proc/self/cgroup": "3:cpu:/c\n0::/u\n", f"{GROUP}/unified/u/cpu.max": "120000 100000\n",
      f"{GROUP}/cpu/c/cpu.cfs_quota_us": "300000\n", f"{GROUP}/cpu/c/cpu.cfs_period_us": "100000\n"}, 1.2),
    # A file that cannot be read as a limit sets none; nor does a file above the folder of groups.
    ({"/proc/self/cgroup": "0::/a\n", f"{GROUP}/a/cpu.max": "much\n", "/sys/fs/cpu.max": "1000 100000\n"}, None),
    ({"/proc/self/cgroup": "0::/a\n", f"{GROUP}/a/cpu.max": "100000 0\n", f"{GROUP}/cpu.max": "70000 100000\n"}, 0.7),
    ({}, None),
])  # fmt: skip
def test_the_limit_of_the_groups_of_a_process(files, cores, say):
    say(files)
    assert machine.machine().quota == cores


def test_one_processor_of_each_core_is_chosen_from_the_last_core_on(say):
    say({SIBLINGS.format(n): f"{n % 6},{n % 6 + 6}\n" for n in range(12)})
    assert machine.chosen_cores(range(12)) == (11, 10, 9, 8)
    assert machine.chosen_cores([0, 6, 2]) == (6, 2)
    # Without files of siblings each processor is a core.
    say({})
    assert machine.chosen_cores([0, 6, 2]) == (6, 2, 0)


def test_shares_that_others_use_during_a_sleep(monkeypatch):
    looks = iter([
        "cpu0 100 0 0 900 0 0 0 0\ncpu1 0 0 0 1000 0 0 0 0\ncpu2 5 0 0 0 0 0 0 0\n",
        "cpu0 110 0 5 935 0 0 0 0\ncpu1 0 0 5 1035 0 0 0 10\ncpu2 905 0 0 0 0 0 0 0\n",
    ])  # fmt: skip
    slept = []
    monkeypatch.setattr(machine, "text_of", lambda path: next(looks))
    monkeypatch.setattr(machine.time, "sleep", slept.append)
    # Processors 0 and 1 have 100 ticks: 10 + 5 + 5 busy, 35 + 35 idle, 10 stolen.
    assert machine.quiet_look([0, 1], 0.5) == (0.2, 0.1)
    assert slept == [0.5]


def test_shares_are_0_without_any_tick(monkeypatch):
    monkeypatch.setattr(machine, "text_of", lambda path: None)
    assert machine.quiet_look([0, 1], 0.0) == (0.0, 0.0)


@pytest.mark.parametrize(("text", "shares"), [("1\n", True), ("0\n", False), (None, None)])
def test_autogroup_of_the_kernel(text, shares, say):
    say({"/proc/sys/kernel/sched_autogroup_enabled": text})
    assert machine.machine().autogroup is shares


def test_proc_stat_is_needed(say):
    say({"/proc/stat": "cpu0 1 0 0 1 0 0 0 0\n"})
    assert "/proc/stat" not in machine.missing_features()
    say({"/proc/stat": "no line of a processor\n"})
    assert "/proc/stat" in machine.missing_features()
