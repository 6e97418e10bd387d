"""Progress where there is no terminal: lines, at intervals that grow."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from cluster_abm.progress import Progress, Schedule, duration_in_words


class Clock:
    """A clock that is set by hand [s]."""

    def __init__(self):
        self.now = 1000.0
        self.stream = io.StringIO()

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    # Not sys.stderr itself, which pytest takes back before the test begins.
    monkeypatch.setattr("cluster_abm.progress.sys", SimpleNamespace(stderr=found.stream))
    monkeypatch.delenv("CLUSTER_ABM_PROGRESS", raising=False)
    return found


def lines(clock):
    return clock.stream.getvalue().splitlines()


def test_lines_come_at_intervals_that_grow(clock):
    at = []
    with Progress(400, "compare quickstart", "run", schedule=Schedule(clock)) as bar:
        for _ in range(400):
            clock.now += 1.0
            before = len(lines(clock))
            bar.update()
            if len(lines(clock)) > before:
                at.append(clock.now - 1000.0)
    # 10 s, and 10 s later; then half of the time so far.
    assert at == [10.0, 20.0, 30.0, 45.0, 68.0, 102.0, 153.0, 230.0, 345.0]
    assert lines(clock)[0] == "compare quickstart: 10 of 400 runs after 10 s, about 6 min left"
    assert "\r" not in clock.stream.getvalue()


def test_the_first_of_many_which_may_have_compiled_tells_nothing_of_the_others(clock):
    with Progress(56, "compare quickstart", "run", schedule=Schedule(clock)) as bar:
        clock.now += 100.0
        bar.update()
        clock.now += 100.0
        bar.update()
    assert lines(clock) == [
        "compare quickstart: 1 of 56 runs after 100 s",
        "compare quickstart: 2 of 56 runs after 3 min, about 90 min left",
    ]


def test_before_the_first_run_has_ended_it_is_said_why_it_may_take_long(clock):
    with Progress(56, "compare quickstart", "run", schedule=Schedule(clock)) as bar:
        clock.now += 10.0
        bar.look()
    assert lines(clock) == ["compare quickstart: 0 of 56 runs after 10 s (the first run of a kind compiles)"]


def test_what_is_left_of_the_runs_is_not_told_by_the_compilation_before_them(clock):
    schedule = Schedule(clock)
    with Progress(1, "compiling, once", "part", schedule=schedule) as bar:
        clock.now += 100.0
        bar.update()
    with Progress(56, "compare quickstart", "run", schedule=schedule) as bar:
        for _ in range(50):
            clock.now += 1.0
            bar.update()
    # Six more of a second each; with the compilation the first fifty took three seconds each.
    assert lines(clock)[-1] == "compare quickstart: 50 of 56 runs after 2 min, about 6 s left"


def test_what_takes_less_than_ten_seconds_says_nothing(clock):
    with Progress(9, "compare", "run", schedule=Schedule(clock)) as bar:
        for _ in range(9):
            clock.now += 1.0
            bar.update()
    assert lines(clock) == []


def test_runs_that_were_there_before_count_as_done_and_not_as_work(clock):
    with Progress(100, "reproduce", "run", schedule=Schedule(clock)) as bar:
        bar.begin_at(90)
        clock.now += 10.0
        bar.update(2)
    # Two runs took 10 s, eight are left.
    assert lines(clock) == ["reproduce: 92 of 100 runs after 10 s, about 40 s left"]


def test_parts_of_one_work_share_its_times(clock):
    schedule = Schedule(clock)
    for part in range(5):
        with Progress(4, "", "run", whole=("tune", 4 * part, 20), schedule=schedule) as bar:
            for _ in range(4):
                clock.now += 1.0
                bar.update()
    assert lines(clock) == ["tune: 10 of 20 runs after 10 s, about 10 s left", "tune: 20 of 20 runs after 20 s"]


def test_work_that_begins_long_after_another_begins_anew(clock):
    schedule = Schedule(clock)
    with Progress(2, "first", "run", schedule=schedule):
        clock.now += 9.0
    clock.now += 60.0
    with Progress(2, "second", "run", schedule=schedule) as bar:
        clock.now += 5.0
        bar.update()
        assert lines(clock) == []
        clock.now += 5.0
        bar.look()
    assert lines(clock) == ["second: 1 of 2 runs after 10 s, about 10 s left"]


def test_a_share_is_said_in_per_cent(clock):
    with Progress(100, "run quickstart", "%", schedule=Schedule(clock)) as bar:
        clock.now += 12.0
        bar.reach(25)
    assert lines(clock) == ["run quickstart: 25 % after 12 s, about 36 s left"]


@pytest.mark.parametrize(("quiet", "variable"), [(True, ""), (True, "lines"), (False, "none")])
def test_nothing_is_said_where_nothing_is_wanted(clock, monkeypatch, quiet, variable):
    monkeypatch.setenv("CLUSTER_ABM_PROGRESS", variable)
    with Progress(4, "tune", "run", quiet=quiet, schedule=Schedule(clock)) as bar:
        clock.now += 100.0
        bar.update()
    assert lines(clock) == []


def test_a_terminal_has_a_bar_and_no_lines(clock, monkeypatch):
    monkeypatch.setattr(clock.stream, "isatty", lambda: True, raising=False)
    with Progress(4, "tune", "run", schedule=Schedule(clock)) as bar:
        clock.now += 100.0
        bar.update()
        bar.refresh()
    assert "\r" in clock.stream.getvalue()
    assert "after 100 s" not in clock.stream.getvalue()


def test_a_terminal_has_lines_if_they_are_wanted(clock, monkeypatch):
    monkeypatch.setattr(clock.stream, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("CLUSTER_ABM_PROGRESS", "lines")
    with Progress(4, "tune", "run", schedule=Schedule(clock)) as bar:
        clock.now += 100.0
        bar.update()
    assert lines(clock) == ["tune: 1 of 4 runs after 100 s, about 5 min left"]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (119.0, "119 s"), (120.0, "2 min"), (7200.0, "2 h"), (172_800.0, "2 days")]
)
def test_lengths_of_time(seconds, words):
    assert duration_in_words(seconds) == words
