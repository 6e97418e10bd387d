"""Jobs in sessions of users: what sessions hold by their laws, when jobs come, and whose they are."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cluster_abm import ClusterModel
from cluster_abm.scenario import Scenario, scenario_from
from cluster_abm.scenario.sessions import UserSessions
from cluster_abm.study.planning.fixing import with_fixed_jobs
from cluster_abm.workload import jobs_per_second, work_of
from cluster_abm.workload.laws.no_mean import why_no_mean
from cluster_abm.workload.requests import alone_ms
from cluster_abm.workload.sessions import drawn_sessions, session_means
from cluster_abm.workload.sessions.content import Content, drawn_content
from cluster_abm.workload.sessions.drawing import _reacting
from cluster_abm.workload.sessions.holding_back import put_off

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261130"))
DAY_S = 86_400.0
# Of intervals and tests: a false alarm in a million.
Z, ALARM = 4.9, 1e-6


def made(*groups: dict[str, Any], nodes: int = 4, **more: Any) -> Scenario:
    keys = {f"workload.{key.replace('__', '.')}": value for key, value in more.items()}
    given = {
        "cluster.nodes": nodes, "workload.kind": "sessions", "workload.duration_s": 100.0,
        "workload.sessions.group": list(groups),
    }  # fmt: skip
    return scenario_from({}, "test", given | keys)


def content_of(count: int, *groups: dict[str, Any], seed: int = 1, **more: Any) -> Content:
    """What sessions hold, as many of each group one after the other."""
    sessions = UserSessions.model_validate({"group": list(groups), **more})
    return drawn_content(sessions, np.repeat(np.arange(len(groups)), count), np.random.default_rng(seed))


def holds_mean(sample: np.ndarray, mean: float) -> bool:
    return abs(sample.mean() - mean) < Z * sample.std(ddof=1) / math.sqrt(len(sample))


# ---- what sessions hold ----
def test_an_exact_session_by_hand():
    """12 s of work of two jobs of two tasks each, alike: 3 s a task."""
    group = {"jobs": {"mean": 2.0}, "work_s": {"mean": 12.0}, "widths": {"2": 1.0}, "gap_s": {"mean": 7.0}}
    found = content_of(1, group)
    assert found.run_s.tolist() == [3.0, 3.0]
    assert found.tasks.tolist() == [2.0, 2.0]
    assert found.offsets_s().tolist() == [0.0, 7.0]


def test_offsets_by_hand():
    """Three jobs of 3 s, which wait 4 s each: the next one comes 5 s after an end, so 12 s after its submission."""
    group = {"jobs": {"mean": 3.0}, "work_s": {"mean": 9.0}, "gap_s": {"mean": 2.0}, "after_end": 1.0}
    laws = {"wait_s": {"mean": 4.0}, "think_s": {"mean": 5.0}}
    assert content_of(2, group, **laws).offsets_s().tolist() == [0.0, 12.0, 24.0] * 2
    # They wait too long: the next one comes after a gap, 2 s times 1.5.
    found = content_of(2, group, **laws, longest_gap_s=6.9, gap_spread={"mean": 1.5})
    assert found.offsets_s().tolist() == [0.0, 3.0, 6.0] * 2
    assert content_of(1, group, **laws, longest_gap_s=7.0).after_end.tolist() == [False, True, True]


@pytest.mark.slow
def test_means_are_those_of_the_laws():
    """Jobs, work and widths of 200,000 sessions."""
    group = {
        "jobs": {"kind": "uniform", "mean": 4.0}, "work_s": {"kind": "lognormal", "mean": 30.0, "sd": 40.0},
        "widths": {"1": 3.0, "4": 1.0}, "one_width": 0.3, "same_width": 0.5,
        "spread": {"kind": "exponential", "mean": 2.0},
    }  # fmt: skip
    found = content_of(200_000, group, seed=SEED)
    counts = np.diff(found.first)
    # Of a uniform law on 0..8 what is below 1 counts as 1: 4 + 1/8 * 1/2.
    assert holds_mean(counts, 4.0625)
    assert session_means(made(group, jobs_per_s=1.0)).jobs == pytest.approx(4.0625, abs=1e-4)
    assert holds_mean(np.bincount(found.session, found.run_s * found.tasks), 30.0)
    # By sessions: the jobs of one are not independent.
    assert holds_mean(np.bincount(found.session, found.tasks - 1.75), 0.0)


def test_means_of_groups_by_hand():
    """Weights 3 and 1: (3 * 2 + 6) / 4 = 3 jobs; work (3 * 10 + 50) / 4 = 20 s; tasks (6 * 1 + 6 * 3) / 12 = 2."""
    groups = (
        {"share": 3.0, "jobs": {"mean": 2.0}, "work_s": {"mean": 10.0}},
        {"jobs": {"mean": 6.0}, "work_s": {"mean": 50.0}, "widths": {"2": 1.0, "4": 1.0}},
    )
    means = session_means(made(*groups, jobs_per_s=1.0))
    assert means == pytest.approx((3.0, 2.0, 20.0))
    # 4 nodes busy to a half: 2 CPU seconds per second, of 20/3 s a job.
    assert jobs_per_second(made(*groups, utilisation=0.5)) == pytest.approx(0.3)


@pytest.mark.slow
def test_widths_follow_the_one_before_as_often_as_is_said():
    """Of two widths alike: the same as before with .6 + .4/2 = .8, and sessions of one width always."""
    group = {"jobs": {"mean": 5.0}, "widths": {"1": 1.0, "2": 1.0}, "one_width": 0.0, "same_width": 0.6}
    found = content_of(40_000, group, seed=SEED)
    same = (found.tasks[1:] == found.tasks[:-1])[np.diff(found.session) == 0]
    assert stats.binomtest(int(same.sum()), len(same), 0.8).pvalue > ALARM
    assert stats.binomtest(int((found.tasks == 1).sum()), len(found.tasks), 0.5).pvalue > ALARM / 1e3
    one = content_of(1000, group | {"one_width": 1.0, "same_width": 0.0})
    assert (one.tasks == one.tasks[one.first[:-1]][one.session]).all()


@pytest.mark.slow
def test_work_and_tasks_have_the_rank_correlation():
    group = {
        "widths": {str(2**power): 1.0 for power in range(12)}, "work_s": {"kind": "exponential", "mean": 1.0},
        "work_with_tasks": 0.6,
    }  # fmt: skip
    found = content_of(100_000, group, seed=SEED)
    work_s = found.run_s * found.tasks
    # Twelve widths are no continuous law: ties take some of it, which the grade correlation of the copula says.
    wanted = stats.spearmanr(found.tasks, _copula(found.tasks, 0.6)).statistic
    assert stats.spearmanr(found.tasks, work_s).statistic == pytest.approx(wanted, abs=0.02)
    assert wanted > 0.5
    assert stats.kstest(work_s, "expon").pvalue > ALARM


def _copula(values: np.ndarray, spearman: float) -> np.ndarray:
    rng = np.random.default_rng(SEED + 1)
    rank = stats.rankdata(values + rng.random(len(values)) / 2.0) / (len(values) + 1.0)
    correlation = 2.0 * math.sin(math.pi * spearman / 6.0)
    return correlation * stats.norm.ppf(rank) + math.sqrt(1.0 - correlation**2) * rng.standard_normal(len(values))


def test_the_work_of_a_single_session_is_of_its_law_whatever_its_correlation():
    group = {"work_s": {"kind": "uniform", "mean": 0.5}, "work_with_tasks": 0.99}
    work_s = [float(content_of(1, group, seed=seed).run_s[0]) for seed in range(400)]
    assert stats.kstest(work_s, "uniform").pvalue > ALARM


@given(st.integers(0, 10_000), st.floats(0.5, 30.0), st.floats(0.1, 3.0))
def test_no_task_is_longer_than_the_longest_and_work_is_kept_where_it_can_be(seed, longest_s, spread):
    group = {
        "jobs": {"kind": "uniform", "mean": 4.0}, "work_s": {"kind": "exponential", "mean": 30.0},
        "spread": {"kind": "lognormal", "mean": 1.0, "sd": spread}, "widths": {"1": 1.0, "3": 1.0}, "one_width": 0.5,
    }  # fmt: skip
    free = content_of(20, group, seed=seed)
    found = content_of(20, group | {"longest_s": longest_s}, seed=seed)
    assert found.run_s.max() <= longest_s
    wanted = np.bincount(free.session, free.run_s * free.tasks)
    room = longest_s * np.bincount(found.session, found.tasks)
    assert np.bincount(found.session, found.run_s * found.tasks) == pytest.approx(np.minimum(wanted, room))


@pytest.mark.slow
@given(st.integers(0, 10_000), st.sampled_from([
    {"kind": "gamma", "mean": 1.0, "sd": 30.0}, {"kind": "gamma", "mean": 1.0, "sd": 1000.0},
    {"kind": "uniform", "mean": 5e-324}, {"kind": "lognormal", "mean": 1e12, "sd": 1e12},
]))  # fmt: skip
def test_jobs_share_the_work_also_where_all_ratios_are_0_or_nearly(seed, spread):
    """Of a gamma law of this deviation most numbers are too small for floats: where all of a session are 0, all of its
    jobs are alike."""
    found = content_of(30, {"jobs": {"mean": 3.0}, "work_s": {"mean": 12.0}, "spread": spread}, seed=seed)
    assert np.bincount(found.session, found.run_s * found.tasks) == pytest.approx([12.0] * 30)
    assert found.run_s.min() >= 0.0


# ---- whose they are, and when they begin ----
@pytest.mark.slow
def test_sessions_are_of_users_by_their_weights():
    """Users of weights 2, 1, 1. The second group: user 2 half the time, else any by its weight."""
    groups = ({}, {"users": {"2": 1.0, "other": 1.0}})
    scenario = made(*groups, jobs_per_s=200.0, sessions__users=[2.0, 1.0, 1.0])
    drawn = drawn_sessions(scenario, SEED, 200.0)
    counts = np.bincount(drawn.users.numbers, minlength=3)
    shares = (np.array([0.5, 0.25, 0.25]) + np.array([0.25, 0.125, 0.625])) / 2.0
    assert stats.chisquare(counts, shares * counts.sum()).pvalue > ALARM
    assert drawn.users.names == ("0", "1", "2")


def test_the_hour_of_the_day_is_that_of_the_clock():
    """A run that begins at noon: in its first half day all sessions are of the second group."""
    groups = ({"daily": [1.0, 0.0], "widths": {"1": 1.0}}, {"daily": [0.0, 1.0], "widths": {"2": 1.0}})
    scenario = made(*groups, jobs_per_s=0.001, duration_s=DAY_S, arrivals__starts_h=36.0)
    drawn = drawn_sessions(scenario, 1, 0.001)
    first = drawn.arrival_ms < DAY_S / 2.0 * 1000.0
    assert 20 < first.sum() < len(first) - 20
    assert (drawn.columns["tasks"] == np.where(first, 2.0, 1.0)).all()


@pytest.mark.slow
def test_jobs_come_at_the_rate_and_keep_the_cluster_as_busy_as_is_asked_for():
    """40 windows of two groups: jobs per second and CPU load, whether or not users hold back."""
    groups = (
        {"jobs": {"kind": "exponential", "mean": 2.0}, "work_s": {"kind": "gamma", "mean": 9000.0, "sd": 9000.0},
         "gap_s": {"mean": 600.0}},
        {"jobs": {"mean": 1.5}, "work_s": {"mean": 2000.0}},
    )  # fmt: skip
    for hold_back_s in (0.0, 3600.0):
        scenario = made(*groups, utilisation=0.6, duration_s=3 * DAY_S, sessions__hold_back_s=hold_back_s)
        rate, seed = jobs_per_second(scenario), SEED
        draws = [drawn_sessions(scenario, seed + place, rate) for place in range(40)]
        counts = np.array([len(one.arrival_ms) for one in draws])
        loads = np.array([one.columns["cpu_ms"] @ one.columns["tasks"] for one in draws]) / (4 * 3 * DAY_S * 1000.0)
        assert holds_mean(counts / 3 / DAY_S, rate)
        assert holds_mean(loads, 0.6)


# ---- requests ----
def test_all_jobs_of_a_session_request_one_run_time_that_suffices():
    groups = (
        {"jobs": {"mean": 3.0}, "spread": {"kind": "exponential", "mean": 1.0}, "work_s": {"mean": 50.0},
         "requested_over_longest": {"kind": "uniform", "mean": 1.0}},
        {"jobs": {"mean": 2.0}},
    )  # fmt: skip
    scenario = made(*groups, jobs_per_s=2.0)
    drawn, work = drawn_sessions(scenario, 1, 2.0), work_of(scenario, 1)
    requested = work.requested_ms
    silent = np.isnan(drawn.requested_over_longest)[drawn.session]
    assert 0 < silent.sum() < len(silent)
    assert (np.isnan(requested) == silent).all()
    assert (requested[~silent] >= alone_ms(work.jobs, scenario)[~silent] * (1 - 1e-12)).all()
    for session in np.unique(drawn.session[~silent]).tolist():
        own = drawn.session == session
        longest = alone_ms(work.jobs, scenario)[own].max()
        assert (requested[own] == drawn.requested_over_longest[session] * longest).all()
    assert work_of(made({"jobs": {"mean": 2.0}}, jobs_per_s=2.0), 1).requested_ms is None


def test_memory_is_the_groups_where_it_says_it():
    scenario = made({"memory_mb": {"mean": 7.0}}, {}, jobs_per_s=2.0, memory_mb={"kind": "fixed", "mean": 3.0})
    assert set(work_of(scenario, 1).jobs["memory_mb"].tolist()) == {3.0, 7.0}


# ---- users who hold back ----
@pytest.mark.parametrize(
    ("tolerated_h", "begins_h"), [(0.0, 121.5), (2.9, 121.5), (3.1, 97.5), (8.9, 97.5), (9.1, 1.5)]
)
def test_a_session_is_put_off_by_whole_days_until_the_backlog_is_tolerated(tolerated_h, begins_h):
    """A job of ten tasks and ten hours on a reference machine of one processor: a backlog of 9 hours after one, 90
    after ten, 75 after 25, 51 after 49, 27 after 73, 3 after 97, and none after 121."""
    begins = put_off(
        np.array([0.0, 1.5]) * 3600.0, np.array([0.0, tolerated_h]) * 3600.0, np.array([0, 1, 2]), np.zeros(2),
        np.array([36_000.0, 1.0]), np.array([10.0, 1.0]), 10 * DAY_S, 1.0,
    )  # fmt: skip
    assert begins / 3600.0 == pytest.approx([0.0, begins_h])


def test_jobs_of_a_session_load_the_reference_machine_when_they_come():
    """The huge job comes two hours after its session has begun: the session of 1.5 h sees none of it."""
    begins = put_off(
        np.array([0.0, 1.5, 3.5]) * 3600.0, np.zeros(3), np.array([0, 2, 3, 4]), np.array([0.0, 7200.0, 0.0, 0.0]),
        np.array([1.0, 36_000.0, 1.0, 1.0]), np.array([1.0, 10.0, 1.0, 1.0]), 10 * DAY_S, 1.0,
    )  # fmt: skip
    assert begins[1] == 1.5 * 3600.0
    assert begins[2] == pytest.approx((3.5 + 24 * 5) * 3600.0)


HEAVY = {"jobs": {"kind": "uniform", "mean": 2.0}, "work_s": {"kind": "lognormal", "mean": 20_000.0, "sd": 90_000.0}}


@given(st.integers(0, 10_000), st.sampled_from([1800.0, 36_000.0]), st.sampled_from([1.3, 4.0, 4.5, 1e5 / DAY_S]))
def test_holding_back_moves_sessions_by_days_and_changes_nothing_else(seed, hold_back_s, days):
    """Every job is there with its size and its time of day, whether or not the window is whole days."""
    free = made(HEAVY, jobs_per_s=0.0005, duration_s=days * DAY_S)
    held = made(HEAVY, jobs_per_s=0.0005, duration_s=days * DAY_S, sessions__hold_back_s=hold_back_s)
    jobs = []
    for scenario in (free, held):
        drawn = drawn_sessions(scenario, seed, 0.0005)
        day_s = np.round(np.mod(drawn.arrival_ms / 1000.0, DAY_S), 3)
        rows = np.column_stack([drawn.columns["cpu_ms"], drawn.columns["tasks"], day_s, drawn.users.numbers])
        jobs.append(rows[np.lexsort(rows.T)])
        assert (np.diff(drawn.arrival_ms) >= 0.0).all()
        assert drawn.arrival_ms[-1] < days * DAY_S * 1000.0
    assert jobs[1] == pytest.approx(jobs[0], abs=2e-3)


def test_some_are_put_off_and_with_0_none_is():
    times = [
        drawn_sessions(
            made(HEAVY, jobs_per_s=0.0005, duration_s=4 * DAY_S, sessions__hold_back_s=one), 3, 0.0005
        ).arrival_ms
        for one in (0.0, 1e-9, 1800.0, 1e12)
    ]
    assert (times[0] != times[2]).any()
    assert (times[1] != times[2]).any()
    # A backlog that no machine has is tolerated by all.
    assert (times[0] == times[3]).all()


# ---- in a run ----
def run_of(scenario: Scenario, policy: str, **more: Any) -> tuple[ClusterModel, Any]:
    keys = {"policy.name": policy, "negotiation.remote_execution_ms": 0.0, "cluster.context_switch_ms": 0.0}
    keys |= {key.replace("__", "."): value for key, value in more.items()}
    model = ClusterModel(scenario_from(scenario.model_dump(mode="json", exclude_unset=True), "test", keys), seed=1)
    model.run()
    return model, model.jobs_frame().groupby("job").agg({"arrival_ms": "first", "finish_ms": "max"})


THINKING: dict[str, Any] = {"jobs_per_s": 0.15, "users": "react", "sessions__think_s": {"kind": "fixed", "mean": 5.0}}
PAIR = {"jobs": {"mean": 2.0}, "work_s": {"mean": 8.0}, "after_end": 1.0}


def test_jobs_react_to_the_ends_in_the_run():
    """One node, jobs of 4 s in a queue: whenever the first job of a session ends, the second comes 5 s later."""
    scenario = made(PAIR, nodes=1, **THINKING)
    _, frame = run_of(scenario, "batch-system")
    work = work_of(scenario, 1)
    waits = np.flatnonzero(work.parents.counts)
    assert len(waits) == len(work.jobs) / 2 > 2
    came, ended = frame["arrival_ms"].to_numpy(), frame["finish_ms"].to_numpy()
    assert came[waits] == pytest.approx(ended[work.parents.parent] + 5000.0)
    # Some had to wait: their drawn ends, 4 s after they came, are others.
    assert (ended[work.parents.parent] - came[work.parents.parent] > 4000.1).any()


def test_a_job_that_does_not_wait_follows_after_the_same_end():
    """Three jobs of a session: the second waits 5 s after the first one's end, the third comes 2 s after the second."""
    content = Content(
        first=np.array([0, 3, 5]), run_s=np.ones(5), tasks=np.ones(5), memory_mb=np.full(5, np.nan),
        requested_over_longest=np.full(2, np.nan), after_end=np.array([False, True, False, False, False]),
        delay_s=np.array([0.0, 5.0, 2.0, 0.0, 3.0]), response_s=np.full(5, 10.0),
    )  # fmt: skip
    assert content.offsets_s().tolist() == [0.0, 15.0, 17.0, 0.0, 3.0]
    # In the order of the table the second session comes first.
    parents, think_ms = _reacting(content, np.array([3, 4, 0, 1, 2]))
    assert parents.counts.tolist() == [0, 0, 0, 1, 1]
    assert parents.parent.tolist() == [2, 2]
    assert think_ms[3:].tolist() == [5000.0, 7000.0]
    assert np.isnan(think_ms[:3]).all()
    assert _reacting(content_of(3, {"jobs": {"mean": 2.0}}), np.arange(6)) == (None, None)


def test_open_users_submit_the_same_under_every_policy_and_users_who_react_do_not():
    times: dict[str, list[list[float]]] = {}
    for users in ("open", "react"):
        scenario = made(PAIR, nodes=2, **THINKING | {"users": users})
        times[users] = [run_of(scenario, policy)[1]["arrival_ms"].tolist() for policy in ("none", "batch-system")]
    assert times["open"][0] == times["open"][1]
    assert times["react"][0] != times["react"][1]


def test_a_seed_gives_the_same_jobs_and_another_seed_others():
    scenario = made(HEAVY, jobs_per_s=0.005, duration_s=DAY_S, sessions__hold_back_s=3600.0, sessions__users=[1.0, 1.0])
    first, again, other = (work_of(scenario, seed) for seed in (1, 1, 2))
    assert first.jobs.tobytes() == again.jobs.tobytes()
    assert (first.logged.users.numbers == again.logged.users.numbers).all()
    assert len(first.jobs) != len(other.jobs) or (first.jobs != other.jobs).any()


def test_a_run_says_how_fair_it_is_to_users_and_what_load_is_offered():
    scenario = made(PAIR, jobs_per_s=0.5, sessions__users=[1.0, 1.0, 1.0])
    model, _ = run_of(scenario, "jsq")
    summary = model.summary()
    assert 1 / 3 <= summary["metrics"]["jain_users"] <= 1.0
    jobs = work_of(scenario, 1).jobs
    cpu = (jobs["cpu_ms"] * jobs["tasks"]).sum() / 100_000.0 / 4
    assert summary["offered_load"]["cpu"] == pytest.approx(cpu)
    # Of users who react no window is known.
    assert run_of(made(PAIR, **THINKING), "jsq")[0].summary()["offered_load"] is None


def test_jobs_of_the_beginning_stand_before_them():
    first = {"node": 1, "cpu_ms": 40.0, "requested_ms": 90.0}
    group = PAIR | {"requested_over_longest": {"mean": 2.0}}
    alone, both = (work_of(made(group, **THINKING, initial=jobs), 1) for jobs in ([], [first]))
    assert len(both.jobs) == len(alone.jobs) + 1
    assert both.requested_ms.tolist() == [90.0, *alone.requested_ms.tolist()]
    assert both.logged.users.numbers.tolist() == [-1, *alone.logged.users.numbers.tolist()]
    assert both.parents.counts.tolist() == [0, *alone.parents.counts.tolist()]
    assert (both.parents.parent == alone.parents.parent + 1).all()


def test_a_script_has_sessions_come_faster():
    """From 50 s on twice as fast: what was to come at t comes at 50 + (t - 50) / 2."""
    plain = made({"jobs": {"mean": 2.0}, "gap_s": {"mean": 3.0}}, jobs_per_s=1.0)
    acts = {"script": [{"at_s": 50.0, "act": "arrivals", "factor": 2.0}]}
    faster = scenario_from(plain.model_dump(mode="json", exclude_unset=True), "test", acts)
    was_s = work_of(plain, 1).jobs["arrival_ns"] / 1e9
    found_s = work_of(faster, 1).jobs["arrival_ns"] / 1e9
    assert found_s == pytest.approx(np.where(was_s < 50.0, was_s, 50.0 + (was_s - 50.0) / 2.0), abs=1e-6)


def test_the_mean_slowdown_of_sessions_that_may_be_arbitrarily_short_does_not_exist():
    exponential, fixed = {"kind": "exponential", "mean": 1.0}, {"mean": 1.0}
    assert why_no_mean(made({"work_s": exponential}, {"work_s": fixed}, jobs_per_s=1.0))
    assert why_no_mean(made({"jobs": {"mean": 2.0}, "work_s": fixed, "spread": exponential}, jobs_per_s=1.0))
    assert not why_no_mean(made({"work_s": fixed, "spread": exponential}, jobs_per_s=1.0))


def test_a_plan_keeps_the_rate_of_sessions():
    """4 nodes at a half: 2 CPU seconds per second of jobs of 4 s, whatever cluster.nodes will be."""
    fixed = with_fixed_jobs(made(PAIR, utilisation=0.5), "cluster.nodes")
    assert fixed.scenario.workload.utilisation is None
    assert fixed.scenario.workload.jobs_per_s == pytest.approx(0.5)
