"""Hours of a log's sessions, group by group: what a fitted scenario draws has the log's course over the day."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.clock import DAY_S, HOUR_S
from cluster_abm.scenario import Scenario, scenario_from
from cluster_abm.scenario.unused import keys_without_effect
from cluster_abm.study.fitting.courses import Course, fit_course
from cluster_abm.study.fitting.log import JobHoldings, Jobs
from cluster_abm.study.fitting.users.fit_sessions import FittedSessions, with_sessions
from cluster_abm.study.fitting.users.hours import MORE_SESSIONS, hours_of_groups
from cluster_abm.study.fitting.users.section import section_of
from cluster_abm.study.fitting.users.seen import seen_jobs, seen_sessions
from cluster_abm.workload.drawing.rates import weights_of_pieces
from cluster_abm.workload.sessions import drawn_sessions
from cluster_abm.workload.sessions.hours import begins_of

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261130"))
FLAT = Course(daily=(1.0,) * 24)


def test_hours_of_two_groups_by_hand():
    """96 sessions of each in 20 days, of one at 0 h, of the other at 12 h. Of 96 + 48 sessions of the first 96 + 24 are
    at 0 h and 24 at 12 h: 5/6 and 1/6 of its own."""
    hours, groups = np.repeat([0, 12], 96), np.repeat([0, 1], 96)
    assert MORE_SESSIONS == 48
    found = hours_of_groups(hours, groups, FLAT, 20 * DAY_S)
    wanted = np.zeros((2, 24))
    wanted[:, [0, 12]] = [[20.0, 4.0], [4.0, 20.0]]
    assert found.daily == pytest.approx(wanted)
    assert found.shares == pytest.approx([96.0, 96.0])


def test_a_log_whose_hours_do_not_differ_has_none_in_all():
    """Hours of groups differ; over both groups they are the same."""
    hours, groups = np.arange(480) % 24, (np.arange(480) % 24 >= 12).astype(int)
    hours = np.append(hours, [5] * 40)
    found = hours_of_groups(hours, np.append(groups, [0] * 40), Course(), 20 * DAY_S)
    assert (found.daily[0, :12] > 1.2).all()
    assert (found.daily[1, 12:] > 1.2).all()
    assert found.shares @ found.daily == pytest.approx([520.0] * 24)


@pytest.mark.slow
@given(
    st.integers(0, 2**32), st.integers(1, 5), st.floats(14.0, 40.0), st.floats(0.0, 167.0), st.booleans(),
    st.sampled_from([(), (1.0, 1.1, 1.2, 1.1, 1.0, 0.5, 0.4), (0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0)]),
)  # fmt: skip
def test_as_many_sessions_come_in_each_hour_and_of_each_group_as_in_a_log(seed, count, days, starts_h, differ, weekly):
    """In a window that is no whole days, whatever the groups: as the drawing of sessions has it."""
    rng = np.random.default_rng(seed)
    # Some hours are without any session.
    hours = rng.choice(24, 50 * count, p=rng.dirichlet(np.full(24, 0.5)))
    groups = np.append(np.arange(count), rng.choice(count, 49 * count, p=rng.dirichlet(np.ones(count))))
    hours = hours[: len(groups)]
    course = Course(FLAT.daily if differ else (), weekly, starts_h)
    found = hours_of_groups(hours, groups, course, days * DAY_S)
    tables = [
        {"share": float(share), "daily": daily.tolist()} for share, daily in zip(found.shares, found.daily, strict=True)
    ]
    work = scenario_from({"workload": {
        "kind": "sessions", "jobs_per_s": 1.0, "duration_s": days * DAY_S, "sessions": {"group": tables},
        "arrivals": {"weekly": list(weekly), "starts_h": starts_h},
    }}).workload  # fmt: skip
    begins = begins_of(work)
    assert begins.shares == pytest.approx(np.bincount(groups) / len(groups), rel=1e-3)
    of_hour = begins.rates.sum(axis=0) * weights_of_pieces(work.arrivals, days * DAY_S, 24)
    if differ:
        assert of_hour / of_hour.sum() == pytest.approx(np.bincount(hours, minlength=24) / len(hours), rel=1e-3)
    else:
        assert begins.rates.sum(axis=0) == pytest.approx([1.0] * 24, rel=1e-3)


NIGHT = np.array([0, 1, 2, 3, 4, 5, 22, 23])


def logged(rng: np.random.Generator) -> tuple[Jobs, np.ndarray, np.ndarray]:
    """4,000 sessions of one job in 60.5 days from 6 h on: three in four of 60 s at hours of the day, and the others of
    an hour, nine in ten of them at night. Their hours and groups."""
    groups = (np.arange(4000) % 4 == 0).astype(int)
    at_night = rng.random(4000) < np.where(groups, 0.9, 0.1)
    hours = np.where(at_night, rng.choice(NIGHT, 4000), rng.integers(7, 20, 4000))
    # A begin within the window that is in that hour.
    times_s = ((hours - 6) % 24 + rng.random(4000)) * HOUR_S + rng.integers(60, size=4000) * DAY_S
    order = np.argsort(times_s)
    times_s, groups, hours = times_s[order], groups[order], hours[order]
    cpu_s = np.where(groups, 3600.0, 60.0)
    jobs = Jobs(
        times_s=times_s, window_s=60.5 * DAY_S, columns={"cpu_ms": cpu_s * 1000.0}, homes=None,
        held=JobHoldings(cpu_s * 1000.0, np.ones(4000), None), users=np.arange(4000) % 400, waits_s=None,
    )  # fmt: skip
    return jobs, groups, hours


def fitted_to(jobs: Jobs, groups: np.ndarray) -> Scenario:
    sessions = seen_sessions(seen_jobs(jobs), 1e-3)
    course = fit_course(jobs.times_s, jobs.window_s, {}, 6 * HOUR_S)
    section = section_of(sessions, groups[sessions.jobs.rows], None, course, jobs.window_s)
    base = {"workload": {"kind": "sessions", "duration_s": jobs.window_s, "jobs_per_s": 4000 / jobs.window_s}}
    return scenario_from(with_sessions(base, FittedSessions(section, course, 4000, 400, 0.0)), "fitted")


@pytest.mark.slow
def test_draws_of_a_fitted_scenario_have_the_hours_of_the_log():
    """In all and of the long sessions; and nothing is said twice."""
    jobs, groups, hours = logged(np.random.default_rng(SEED))
    scenario = fitted_to(jobs, groups)
    arrivals = scenario.workload.arrivals
    assert arrivals.daily == ()
    assert arrivals.starts_h == 6.0
    assert not {"workload.arrivals.starts_h", "workload.sessions.group.0.daily"} & keys_without_effect(scenario).keys()
    drawn = [drawn_sessions(scenario, SEED + place, 4000 / jobs.window_s) for place in range(30)]
    at_s = np.concatenate([one.arrival_ms for one in drawn]) / 1000.0
    is_long = np.concatenate([one.columns["cpu_ms"] for one in drawn]) > 1e6
    found = (at_s / HOUR_S + 6.0).astype(int) % 24
    # About 30 times as many, and of the long ones 48 in 1,048 are at the hours of all.
    for chosen, wanted in ((np.ones(len(found), bool), hours), (is_long, hours[groups == 1])):
        got, have = np.bincount(found[chosen], minlength=24) / 30, np.bincount(wanted, minlength=24).astype(float)
        more = np.bincount(hours, minlength=24) / len(hours) * 48 * chosen.mean()
        assert np.abs(got - have) == pytest.approx(np.zeros(24), abs=4.9 * np.sqrt(have.max() / 30) + more.max())
        assert got.sum() == pytest.approx(have.sum(), abs=4.9 * np.sqrt(have.sum() / 30))
    assert np.bincount(found[is_long], minlength=24)[NIGHT].sum() / is_long.sum() > 0.85
