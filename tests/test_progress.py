"""Progress where there is no terminal: lines, at intervals that grow."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from cluster_abm.progress import LineSchedule, Progress, duration_in_words
from cluster_abm.study.runner.work import Request, RequestedRuns


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


def test_time_counts_from_when_work_began(clock):
    schedule = LineSchedule(clock)
    schedule.enter()
    clock.now += 7.0
    assert schedule.now_s() == 7.0


def test_lines_come_at_intervals_that_grow(clock):
    at = []
    with Progress(400, "compare quickstart", "run", schedule=LineSchedule(clock)) as bar:
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
    with Progress(56, "compare quickstart", "run", schedule=LineSchedule(clock)) as bar:
        clock.now += 100.0
        bar.update()
        clock.now += 100.0
        bar.update()
    assert lines(clock) == [
        "compare quickstart: 1 of 56 runs after 100 s",
        "compare quickstart: 2 of 56 runs after 3 min, about 90 min left",
    ]


def test_before_the_first_run_has_ended_it_is_said_why_it_may_take_long(clock):
    with Progress(56, "compare quickstart", "run", schedule=LineSchedule(clock)) as bar:
        clock.now += 10.0
        bar.look()
    assert lines(clock) == ["compare quickstart: 0 of 56 runs after 10 s (the first run of a kind compiles)"]


def test_what_is_left_of_the_runs_is_not_told_by_the_compilation_before_them(clock):
    schedule = LineSchedule(clock)
    with Progress(1, "compiling, once", "part", schedule=schedule) as bar:
        clock.now += 100.0
        bar.update()
    with Progress(56, "compare quickstart", "run", schedule=schedule) as bar:
        for _ in range(50):
            clock.now += 1.0
            bar.update()
    # Six more of a second each; with the compilation the first fifty took three seconds each.
    assert lines(clock)[-1] == "compare quickstart: 50 of 56 runs after 2 min, about 6 s left"


def test_held_back_it_tells_nothing_before_all_has_been_compiled(clock):
    """Three policies, each of which compiles for 60 s in its first run; then a run takes one second."""
    with Progress(56, "compare quickstart", "run", schedule=LineSchedule(clock)) as bar:
        bar.hold()
        for _ in range(3):
            clock.now += 60.0
            bar.update()
        bar.measure()
        for _ in range(40):
            clock.now += 3.0
            bar.update()
    said = lines(clock)
    assert len(said) > 3
    for line in said:
        done, is_told = int(line.split(": ")[1].split()[0]), "left" in line
        assert is_told == (3 < done < 56), line
        if is_told:
            assert line.endswith(f"about {duration_in_words(3.0 * (56 - done))} left")


def test_of_parts_of_one_work_the_compilation_in_the_first_is_left_out(clock):
    schedule = LineSchedule(clock)
    for part in range(5):
        with Progress(4, "", "run", whole=("tune", 4 * part, 20), schedule=schedule) as bar:
            for place in range(4):
                clock.now += 101.0 if part == place == 0 else 1.0
                bar.update()
    assert [line for line in lines(clock) if "left" in line] == []
    with Progress(40, "", "run", whole=("tune", 20, 60), schedule=schedule) as bar:
        for _ in range(36):
            clock.now += 1.0
            bar.update()
    assert lines(clock)[-1] == "tune: 50 of 60 runs after 3 min, about 10 s left" or lines(clock)[-1].endswith(
        " s left"
    )


def test_a_bar_on_a_terminal_leaves_compilation_out_too(clock, monkeypatch):
    monkeypatch.setattr(clock.stream, "isatty", lambda: True, raising=False)
    with Progress(56, "compare", "run") as bar:
        bar.update()
        assert bar.format_dict["rate"] == 0.0
        bar._from = bar._now_s() - 4.0, 1.0
        bar.update(8)
        assert bar.format_dict["rate"] == pytest.approx(2.0, rel=0.1)


def test_what_takes_less_than_ten_seconds_says_nothing(clock):
    with Progress(9, "compare", "run", schedule=LineSchedule(clock)) as bar:
        for _ in range(9):
            clock.now += 1.0
            bar.update()
    assert lines(clock) == []


def test_runs_that_were_there_before_count_as_done_and_not_as_work(clock):
    with Progress(100, "reproduce", "run", schedule=LineSchedule(clock)) as bar:
        bar.begin_at(90)
        bar.update()
        clock.now += 10.0
        bar.update(2)
    # Two runs took 10 s, seven are left.
    assert lines(clock) == ["reproduce: 93 of 100 runs after 10 s, about 35 s left"]


def test_parts_of_one_work_share_its_times(clock):
    schedule = LineSchedule(clock)
    for part in range(5):
        with Progress(4, "", "run", whole=("tune", 4 * part, 20), schedule=schedule) as bar:
            for _ in range(4):
                clock.now += 1.0
                bar.update()
    assert lines(clock) == ["tune: 10 of 20 runs after 10 s, about 10 s left", "tune: 20 of 20 runs after 20 s"]


def test_work_that_begins_long_after_another_begins_anew(clock):
    schedule = LineSchedule(clock)
    with Progress(2, "first", "run", schedule=schedule):
        clock.now += 9.0
    clock.now += 60.0
    with Progress(3, "second", "run", schedule=schedule) as bar:
        clock.now += 5.0
        bar.update()
        assert lines(clock) == []
        clock.now += 5.0
        bar.update()
    assert lines(clock) == ["second: 2 of 3 runs after 10 s, about 5 s left"]


def test_a_share_is_said_in_per_cent(clock):
    with Progress(100, "run quickstart", "%", schedule=LineSchedule(clock)) as bar:
        # It compiles first.
        clock.now += 100.0
        bar.reach(1)
        clock.now += 50.0
        bar.reach(26)
    assert lines(clock) == ["run quickstart: 1 % after 100 s", "run quickstart: 26 % after 2 min, about 2 min left"]


@pytest.mark.parametrize(("quiet", "variable"), [(True, ""), (True, "lines"), (False, "none")])
def test_nothing_is_said_where_nothing_is_wanted(clock, monkeypatch, quiet, variable):
    monkeypatch.setenv("CLUSTER_ABM_PROGRESS", variable)
    with Progress(4, "tune", "run", quiet=quiet, schedule=LineSchedule(clock)) as bar:
        clock.now += 100.0
        bar.update()
    assert lines(clock) == []


def test_a_terminal_has_a_bar_and_no_lines(clock, monkeypatch):
    monkeypatch.setattr(clock.stream, "isatty", lambda: True, raising=False)
    with Progress(4, "tune", "run", schedule=LineSchedule(clock)) as bar:
        clock.now += 100.0
        bar.update()
        bar.refresh()
    assert "\r" in clock.stream.getvalue()
    assert "after 100 s" not in clock.stream.getvalue()


def test_a_terminal_has_lines_if_they_are_wanted(clock, monkeypatch):
    monkeypatch.setattr(clock.stream, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("CLUSTER_ABM_PROGRESS", "lines")
    with Progress(4, "tune", "run", schedule=LineSchedule(clock)) as bar:
        for _ in range(2):
            clock.now += 100.0
            bar.update()
    assert lines(clock) == ["tune: 1 of 4 runs after 100 s", "tune: 2 of 4 runs after 3 min, about 3 min left"]


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (119.0, "119 s"), (120.0, "2 min"), (7200.0, "2 h"), (172_800.0, "2 days")]
)
def test_lengths_of_time(seconds, words):
    assert duration_in_words(seconds) == words


def test_estimates_begin_once_each_policy_has_finished_a_run(clock):
    """Seed by seed, each of two policies at two points."""
    drawn = SimpleNamespace(kind="drawn")
    scenarios = {
        f"{point} {policy}": SimpleNamespace(policy=SimpleNamespace(name=policy), workload=drawn)
        for point in (0, 1)
        for policy in ("none", "jsq")
    }
    request = Request(tuple(scenarios), lambda run: scenarios[run[0]], lambda key, values: range(10))
    said = []
    with Progress(None, "study", "run", schedule=LineSchedule(clock)) as bar:
        work = RequestedRuns(request, SimpleNamespace(), bar)
        for key in ("0 none", "0 none", "1 none", "0 jsq", "1 jsq", "0 none"):
            # Longer than the longest gap between lines.
            clock.now += 1000.0
            before = len(lines(clock))
            work._settle(SimpleNamespace(name=(key, len(said)), failed=False))
            said.append("left" in "".join(lines(clock)[before:]))
    assert said == [False, False, False, False, True, True]
