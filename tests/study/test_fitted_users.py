"""Users of a log: their sessions and groups by hand, and planted users that come back."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_from
from cluster_abm.study.fitting.courses import Course
from cluster_abm.study.fitting.fit import fit
from cluster_abm.study.fitting.log import JobHoldings, Jobs, drawn_jobs, read_log
from cluster_abm.study.fitting.users import fit_sessions
from cluster_abm.study.fitting.users.fit_sessions import GAPS_S, why_not
from cluster_abm.study.fitting.users.groups import cut, groups_of
from cluster_abm.study.fitting.users.section import section_of
from cluster_abm.study.fitting.users.seen import seen_jobs, seen_sessions
from cluster_abm.study.fitting.users.variations import LEAST, WorkInTime, course_of
from cluster_abm.workload.resampling.sessions import LONGEST_GAP_MS, sessions_of
from cluster_abm.workload.sessions import drawn_sessions
from cluster_abm.workload.traces.members import Members

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261130"))
DAY_S, HOUR_S = 86_400.0, 3600.0


def jobs_of(times_s, users, cpu_s, tasks, waits_s=None, requested_s=None, window_s=30 * DAY_S) -> Jobs:
    cpu_ms, tasks = np.array(cpu_s, float) * 1000.0, np.array(tasks, float)
    return Jobs(
        times_s=np.array(times_s, float), window_s=window_s, columns={"cpu_ms": cpu_ms, "tasks": tasks}, homes=None,
        held=JobHoldings(cpu_ms, tasks, None if requested_s is None else np.array(requested_s, float) * 1000.0),
        users=np.array(users), waits_s=None if waits_s is None else np.array(waits_s, float),
    )  # fmt: skip


# ---- sessions that are seen ----
def test_sessions_by_hand():
    """User 7: at 0, 100 (50 s before the first one's end), 400 (50 s after the second one's), and 5000. User 3: at 200.
    Jobs without a user, or without CPU time, are left out."""
    jobs = jobs_of(
        times_s=[0, 100, 200, 250, 300, 400, 5000], users=[7, 7, 3, -1, 7, 7, 7], cpu_s=[100, 200, 10, 9, 0, 30, 40],
        tasks=[1, 2, 1, 1, 1, 4, 1], waits_s=[50, 50, math.nan, 0, 0, 0, 0],
    )  # fmt: skip
    seen = seen_jobs(jobs)
    assert seen.rows.tolist() == [2, 0, 1, 5, 6]
    assert seen.user.tolist() == [0, 1, 1, 1, 1]
    found = seen_sessions(seen, 1200.0)
    assert found.first.tolist() == [0, 1, 4]
    assert found.count.tolist() == [1, 3, 1]
    assert found.work_s.tolist() == [10.0, 100.0 + 2 * 200.0 + 4 * 30.0, 40.0]
    assert found.gap_s.tolist() == [0.0, 0.0, 100.0, 300.0, 0.0]
    assert found.since_end_s.tolist() == [0.0, 0.0, 100.0 - 150.0, 300.0 - 250.0, 0.0]
    assert found.could_wait.tolist() == [False, False, True, True, False]
    assert found.after_end.tolist() == [False, False, False, True, False]
    assert found.mean_gap_s[1] == 100.0
    assert np.isnan(found.mean_gap_s[[0, 2]]).all()
    # The third job comes 300 s after the second one: with gaps under 300 s it is of another session.
    assert seen_sessions(seen, 300.0).first.tolist() == [0, 1, 3, 4]
    assert seen_sessions(seen, 300.1).first.tolist() == [0, 1, 4]
    # With gaps under 150 s the second could still come after the first one's end, of 150 s; with 149 it could not.
    assert seen_sessions(seen, 150.0).could_wait[2]
    assert not seen_sessions(seen, 149.0).could_wait[2]


@pytest.mark.slow
@given(st.lists(
    st.tuples(st.sampled_from([0, 1, 600, 1199, 1200, 1201]), st.integers(0, 2)), min_size=1, max_size=40,
))  # fmt: skip
def test_a_session_is_the_same_where_a_log_is_fitted_and_where_it_is_resampled(steps):
    """Whole seconds, as in most logs: gaps of exactly 20 minutes occur."""
    times_s, users = np.cumsum([step for step, _ in steps]), np.array([user for _, user in steps])
    seen = seen_jobs(jobs_of(times_s, users, np.ones(len(steps)), np.ones(len(steps))))
    fitted = seen_sessions(seen, LONGEST_GAP_MS / 1000.0)
    resampled = sessions_of(times_s * 1000.0, Members(users, ("a", "b", "c")))
    assert fitted.session.tolist() == resampled.of_jobs[seen.rows].tolist()


def test_cuts_by_hand():
    """Two clusters on the second axis, of which one has two parts on the first."""
    points = np.array([[0.0, 0.0], [0.2, 0.0], [3.0, 0.1], [3.2, 0.1], [0.0, 10.0], [0.1, 10.0]])
    alike = np.ones(6)
    assert cut(points, alike, 1, 1).tolist() == [0] * 6
    assert cut(points, alike, 2, 1).tolist() == [0, 0, 0, 0, 1, 1]
    assert cut(points, alike, 3, 1).tolist() == [0, 0, 2, 2, 1, 1]
    # A part of two points at least, and none is cut that would not leave three.
    assert cut(points, alike, 9, 2).tolist() == [0, 0, 2, 2, 1, 1]
    assert cut(points, alike, 9, 3).tolist() == [0] * 6
    # A weight moves the mean: 2/3 without it, 8/3 with it.
    line = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert cut(line, np.ones(4), 2, 1).tolist() == [0, 0, 1, 1]
    assert cut(line, np.array([1.0, 1.0, 1.0, 20.0]), 2, 1).tolist() == [0, 0, 0, 1]


def test_as_many_groups_as_fifties_of_sessions():
    rng = np.random.default_rng(SEED)
    for sessions, groups in ((99, 1), (100, 2), (250, 5)):
        times_s = np.arange(sessions) * 1e6
        seen = seen_jobs(jobs_of(times_s, np.zeros(sessions, int), rng.lognormal(3, 2, sessions), np.ones(sessions)))
        assert len(np.unique(groups_of(seen_sessions(seen, 1200.0)))) == groups


# ---- the course of work ----
def test_variations_by_hand():
    """A job of 6 h at each noon of 8 days. Days from any begin hold one each. Of four pieces of 6 h from midnight one
    has it all; of the 31 whole ones from 1.5, 3 or 4.5 h on eight do, and what is served is split among two."""
    times_s = (np.arange(8) * 24 + 12) * HOUR_S
    found = course_of(WorkInTime(times_s, np.full(8, 6 * HOUR_S), np.full(8, 5.0), 8 * DAY_S), 0.7)
    assert found.submitted == pytest.approx([(math.sqrt(3) + 3 * math.sqrt(31 / 8 - 1)) / 4, LEAST])
    split = [math.sqrt(31 / 8 * (part**2 + (1 - part) ** 2) - 1) for part in (0.25, 0.5, 0.75)]
    assert found.served[0] == pytest.approx((math.sqrt(3) + sum(split)) / 4)
    assert found.error(found) == 0.0


def test_work_in_spite_of_a_backlog_by_hand():
    """72 tasks of an hour at 0, and one at 30 h, in 72 h, where the machine does 73/36 in an hour: a backlog of
    72 - 73/36 h at hour h, while another hour of work comes within a day from hours 7 to 30."""
    work = WorkInTime(np.array([0.0, 30.0]) * HOUR_S, np.full(2, HOUR_S), np.array([72.0, 1.0]), 72 * HOUR_S)
    backlog = [72.0 - 73.0 / 36.0 * hour + (hour > 30) for hour in range(1, 36)]
    wanted = sum(backlog[6:30]) / sum(backlog) / ((72.0 + 24.0) / 49.0)
    assert course_of(work, 0.5).in_spite_of_backlog == pytest.approx(wanted)
    # Work that comes evenly has no backlog.
    even = WorkInTime(np.arange(72) * HOUR_S, np.full(72, HOUR_S), np.ones(72), 72 * HOUR_S)
    assert course_of(even, 0.5).in_spite_of_backlog == 1.0


def test_the_error_counts_three_parts_alike():
    one = course_of(WorkInTime(np.arange(20.0) * DAY_S, np.full(20, 9e3), np.ones(20), 20 * DAY_S), 0.7)
    other = one._replace(submitted=one.submitted * math.e, in_spite_of_backlog=one.in_spite_of_backlog * math.exp(2))
    assert one.error(other) == pytest.approx(math.sqrt((1 + 0 + 4) / 3))
    assert other.error(one) == pytest.approx(one.error(other))


# ---- logs that cannot be fitted ----
def plenty(jobs: int = 1200, users: int = 300) -> Jobs:
    """Each user submits once in a while: gaps of days."""
    numbers = np.arange(jobs)
    return jobs_of(numbers * 2000.0, numbers % users, np.full(jobs, 60.0), np.ones(jobs), window_s=jobs * 2000.0)


def test_why_a_log_is_not_fitted():
    jobs = plenty()
    known = {"cpu_ms": jobs.columns["cpu_ms"]}
    assert why_not(jobs) == ""
    few, half = plenty(999), np.arange(1200) % 2
    for lacking, said in [
        (replace(jobs, users=None), "no job has a user"),
        (replace(jobs, columns={}), "no CPU times"),
        (replace(jobs, users=np.where(half, jobs.users, -1)), "50% of the jobs have a user and a CPU time, needed are"),
        (replace(jobs, columns={"cpu_ms": np.where(half, known["cpu_ms"], np.nan)}), "50% of the jobs"),
        (few, "999 jobs with a user, needed are 1,000"),
        (replace(jobs, window_s=13 * DAY_S), "13 days, needed are 14"),
        (replace(jobs, users=np.zeros(1200, int)), "1 user, needed are 2"),
        (replace(jobs, users=np.arange(1200) // 600), "2 sessions with gaps under 16 h, needed are 200"),
        (replace(jobs, columns={"cpu_ms": known["cpu_ms"] * 1e12}), "a session has 6e+13 s of work, allowed are 1e+12"),
    ]:
        assert why_not(lacking).startswith(said), said


def test_a_log_without_users_says_that_no_user_holds_back(tmp_path):
    rows = "\n".join(f"{job * 1000},{job % 4},{20 + job % 9},{job % 5}" for job in range(200))
    (tmp_path / "log.csv").write_text(f"arrival_ms,home,cpu_ms,memory_mb\n{rows}\n")
    base = load_scenario("replay", {"workload.trace.file": str(tmp_path / "log.csv")})
    fitted = fit(base, read_log(base))
    assert fitted.scenario.workload.kind == "synthetic"
    assert "users: no job has a user: jobs are drawn one by one, and no user holds back" in fitted.notes


def log_of_users(folder: Path) -> dict[str, Any]:
    """A log of 15 days whose jobs come in pairs: the second 30 s after the end of the first."""
    pairs = [(1_800_000 * pair + later, 60_000 + pair, pair % 40) for pair in range(720) for later in (0, 90_000)]
    rows = "\n".join(f"{at_ms},{cpu_ms},u{user}" for at_ms, cpu_ms, user in pairs)
    path = folder / "log.csv"
    path.write_text(f"arrival_ms,cpu_ms,user\n{rows}\n")
    return {"workload.trace.file": str(path), "cluster.nodes": 4}


def test_a_base_whose_users_react_is_fitted_in_the_open_form(tmp_path, monkeypatch):
    """As a seed's jobs are the same for every policy, so that they can be drawn without a run."""
    monkeypatch.setattr(fit_sessions, "GAPS_S", (1200.0,))
    monkeypatch.setattr(fit_sessions, "HOLD_BACKS_S", (0.0,))
    base = load_scenario("replay", log_of_users(tmp_path) | {"workload.users": "react"})
    log = read_log(base)
    work = fit(base, log).scenario.workload
    assert (work.kind, work.users, work.sessions.can_wait) == ("sessions", "open", True)
    drawn = drawn_jobs(fit(base, log).scenario, 1, log.jobs)
    assert {len(values) for values in drawn.columns.values()} == {len(drawn)} == {len(drawn.held.alone_ms)}
    reacting = scenario_from({}, "it", PAIRS | {"workload.users": "react"})
    with pytest.raises(InputError, match="submitted after the ends of others: only a run says when"):
        drawn_jobs(reacting, 1, log.jobs)


PAIRS = {
    "workload.kind": "sessions", "workload.jobs_per_s": 0.1, "workload.duration_s": 1000.0,
    "workload.sessions.group": [{"jobs": {"mean": 2.0}, "work_s": {"mean": 1.0}, "after_end": 1.0}],
}  # fmt: skip


def test_jobs_that_are_on_a_node_at_0_are_none_of_the_logs(tmp_path):
    """Of the log, and of draws, which are held against it."""
    keys = log_of_users(tmp_path)
    plain = read_log(load_scenario("replay", keys)).jobs
    jobs = read_log(load_scenario("replay", keys | {"workload.initial": [{"node": 0, "cpu_ms": 5.0}]})).jobs
    assert len(jobs) == 1440
    for found, wanted in ((jobs.columns, plain.columns), (jobs.held._asdict(), plain.held._asdict())):
        assert {name: None if values is None else values.tolist() for name, values in found.items()} == {
            name: None if values is None else values.tolist() for name, values in wanted.items()
        }
    assert jobs.users.tolist() == plain.users.tolist()
    drawn, without = (
        drawn_jobs(scenario_from({}, "it", {"workload.jobs_per_s": 0.1, "workload.utilisation": None} | more), 1, jobs)
        for more in ({"workload.initial": [{"node": 0, "cpu_ms": 5.0}]}, {})
    )
    assert len(drawn) == len(drawn.held.alone_ms) == len(without) > 0


# ---- planted users ----
LAWS: dict[str, Any] = {
    "jobs": {"kind": "uniform", "mean": 3.0}, "spread": {"kind": "lognormal", "mean": 1.0, "sd": 0.5},
    "gap_s": {"mean": 20.0}, "after_end": 0.6,
}  # fmt: skip


def planted(folder: Path, hold_back_s: float) -> Any:
    """A log of 120 days by some 2,000 sessions of 80 users, the first of whom has a quarter of the sessions, as a
    scenario that reads it. A session has 2 h of work, but every tenth 60 h; every job waits a minute."""
    groups = [
        LAWS | {"share": 9.0, "work_s": {"kind": "exponential", "mean": 7200.0}},
        LAWS | {"work_s": {"kind": "lognormal", "mean": 216_000.0, "sd": 400_000.0}, "widths": {"8": 1.0}},
    ]
    tables = {"cluster": {"nodes": 20}, "workload": {
        "kind": "sessions", "duration_s": 120 * DAY_S, "jobs_per_s": 6000 / (120 * DAY_S),
        "sessions": {"group": groups, "users": [79 / 3, *[1.0] * 79], "think_s": {"kind": "exponential", "mean": 200.0},
                     "wait_s": {"mean": 60.0}, "hold_back_s": hold_back_s},
    }}  # fmt: skip
    scenario = scenario_from(tables, "planted")
    drawn = drawn_sessions(scenario, SEED, scenario.workload.jobs_per_s)
    rows = zip(drawn.arrival_ms, drawn.columns["cpu_ms"], drawn.columns["tasks"], drawn.users.numbers, strict=True)
    lines = [f"{at_ms:.3f},{cpu_ms:.6f},{tasks:g},u{user},60000" for at_ms, cpu_ms, tasks, user in rows]
    path = folder / "planted.csv"
    path.write_text("\n".join(["arrival_ms,cpu_ms,tasks,user,recorded_wait_ms", *lines]) + "\n")
    keys = {"workload.trace.file": str(path), "cluster.nodes": 20}
    return load_scenario("replay", keys)


@pytest.mark.slow
def test_planted_sessions_come_back(tmp_path):
    """Of the gap that they were planted with: users, jobs, work, widths and how many wait for an end."""
    log = read_log(planted(tmp_path, 0.0))
    seen = seen_jobs(log.jobs)
    sessions = seen_sessions(seen, GAPS_S[0])
    groups = groups_of(sessions)
    found = section_of(sessions, groups, None, Course(), log.jobs.window_s)
    # 27 of 106 sessions are of the first user; now and then two sessions of that user meet and count as one.
    first = found["users"][0] / sum(found["users"])
    assert first == pytest.approx(0.25, abs=4.9 * math.sqrt(0.25 * 0.75 / len(sessions)) + 0.01)
    assert len(found["users"]) == 80
    # A uniform law on 0..6 whose draws below 1 count as 1 has a mean of 3 + 1/12.
    counts = sessions.count
    assert counts.mean() == pytest.approx(37 / 12, abs=4.9 * counts.std() / math.sqrt(len(counts)) + 0.1)
    # Of those that could wait, group by group; now and then one follows by chance.
    could = np.bincount(groups[sessions.session[sessions.could_wait]], minlength=len(found["group"]))
    waiting = sum(group.get("after_end", 0.0) * count for group, count in zip(found["group"], could, strict=True))
    assert waiting / could.sum() == pytest.approx(0.6, abs=4.9 * math.sqrt(0.24 / could.sum()) + 0.02)
    # Sessions of the first user meet; of the others hardly any do.
    rare = sessions.after_end & (seen.user != np.bincount(seen.user).argmax())
    assert rare.sum() > 100
    assert stats.kstest(sessions.since_end_s[rare], "expon", (0, 200)).pvalue > 1e-6


@pytest.mark.parametrize(("between_s", "widths", "keys"), [
    (DAY_S, [1, 2], set()), (60.0, [1], {"one_width"}), (60.0, [1, 2], {"one_width", "same_width"}),
])  # fmt: skip
def test_keys_that_would_have_no_effect_are_not_written(between_s, widths, keys):
    """Sessions of one job have no second width; where all jobs have one width, none is taken from the job before."""
    jobs = jobs_of(
        times_s=np.arange(20) // 2 * 2 * DAY_S + np.arange(20) % 2 * between_s, users=[0] * 20, cpu_s=[10.0] * 20,
        tasks=np.resize(widths, 20), window_s=60 * DAY_S,
    )  # fmt: skip
    sessions = seen_sessions(seen_jobs(jobs), 1200.0)
    (group,) = section_of(sessions, np.zeros(len(sessions), int), None, Course(), jobs.window_s)["group"]
    assert group.keys() & {"one_width", "same_width"} == keys


@pytest.mark.slow
@pytest.mark.parametrize("hold_back_s", [0.0, 10_000.0])
def test_users_who_hold_back_are_told_from_those_who_do_not(tmp_path, monkeypatch, hold_back_s):
    """Of two choices, for twenty take long: no session is put off, or half of them at a backlog of 8 h."""
    monkeypatch.setattr(fit_sessions, "GAPS_S", (1200.0,))
    monkeypatch.setattr(fit_sessions, "HOLD_BACKS_S", (0.0, 28_800.0))
    base = planted(tmp_path, hold_back_s)
    log = read_log(base)
    fitted = fit(base, log)
    work = fitted.scenario.workload
    assert work.kind == "sessions"
    assert (work.sessions.hold_back_s > 0.0) == (hold_back_s > 0.0)
    note = next(note for note in fitted.notes if note.startswith("users: 80 with"))
    assert ("none is put off" in note) == (hold_back_s == 0.0)
    # The work of its draws is the log's: by the spread over draws.
    works = []
    for seed in range(12):
        drawn = drawn_sessions(fitted.scenario, seed, work.jobs_per_s)
        works.append(drawn.columns["cpu_ms"] @ drawn.columns["tasks"])
    assert log.jobs.work_ms == pytest.approx(np.mean(works), abs=5.5 * np.std(works, ddof=1))
    assert np.mean(works) == pytest.approx(log.jobs.work_ms, rel=0.15)
