"""Logs that are drawn from a log: by hand, by what every draw keeps, and by what draws are on average."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from trace_files import scenario_of

from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.errors import InputError
from cluster_abm.workload import work_of
from cluster_abm.workload.from_trace import chosen_jobs
from cluster_abm.workload.resampling.sessions import sessions_of
from cluster_abm.workload.resampling.shaking import shaken
from cluster_abm.workload.resampling.weeks import LONG_WEEKS, WEEK_MS, weeks_drawn
from cluster_abm.workload.traces.members import Members

MINUTE_MS = 60_000.0
WEEK_S = WEEK_MS / 1000.0


def members(numbers):
    return Members(np.array(numbers, np.int64), tuple(map(str, range(max(numbers) + 1))))


def log_of(begins):
    """Jobs of users: `begins` has (user, week, minute, jobs of the session, a minute apart). Sorted by time."""
    jobs = sorted(
        (week * WEEK_MS + (minute + place) * MINUTE_MS, user)
        for user, week, minute, count in begins
        for place in range(count)
    )
    arrival_ms = np.array([at for at, _ in jobs])
    users = members([user for _, user in jobs])
    return arrival_ms, users, sessions_of(arrival_ms, users)


def logs(weeks=8):
    session = st.tuples(
        st.integers(0, 5), st.integers(0, weeks - 1), st.integers(0, 7 * 24 * 60 - 1), st.integers(1, 30)
    )
    return st.lists(session, min_size=1, max_size=40).map(log_of)


def test_sessions_by_hand():
    at_min = np.array([0.0, 5.0, 10.0, 19.999, 25.0, 40.0, 45.0])
    found = sessions_of(at_min * MINUTE_MS, Members(np.array([0, 1, -1, 0, 1, 0, -1]), ("a", "b")))
    # a: 0, 19.999 | 40 (a gap of 20.001); b: 5 | 25 (of 20); jobs without a user each alone.
    assert found.of_jobs.tolist() == [0, 2, 4, 0, 3, 1, 5]
    assert found.user.tolist() == [0, 0, 1, 1, 2, 3]
    assert (found.first_ms / MINUTE_MS).tolist() == [0, 40, 5, 25, 10, 45]
    assert found.last_ms / MINUTE_MS == pytest.approx([19.999, 40, 5, 25, 10, 45])


@pytest.mark.slow
@given(logs(), st.integers(0, 2**32))
def test_draws_of_weeks_keep_hours_and_sessions(log, seed):
    arrival_ms, _, sessions = log
    found = weeks_drawn(arrival_ms, sessions, 8, np.random.default_rng(seed))
    assert (np.diff(found.arrival_ms) >= 0).all()
    moved = (found.arrival_ms - arrival_ms[found.rows]) / WEEK_MS
    assert np.array_equal(moved, moved.round())
    # Of a session all jobs come, equally often, and by the same moves.
    moves: dict[int, Counter[float]] = {}
    for row, move in zip(found.rows.tolist(), moved.tolist(), strict=True):
        moves.setdefault(row, Counter())[move] += 1
    for session in range(len(sessions.user)):
        of_jobs = [moves.get(row, Counter()) for row in np.flatnonzero(sessions.of_jobs == session).tolist()]
        assert all(one == of_jobs[0] for one in of_jobs)
        begins = [sessions.first_ms[session] + move * WEEK_MS for move in of_jobs[0]]
        assert all(0 <= begin < 8 * WEEK_MS for begin in begins)


@pytest.mark.slow
@given(logs(), st.integers(0, 2**32))
def test_weeks_of_long_term_users_stay_together(log, seed):
    """Every week of a draw has, of these users, exactly what some week of the log has."""
    arrival_ms, users, sessions = log
    found = weeks_drawn(arrival_ms, sessions, 8, np.random.default_rng(seed))
    week = (sessions.first_ms // WEEK_MS).astype(int)
    # Half of the window is four weeks.
    spans = {user: np.ptp(week[sessions.user == user]) + 1 for user in set(sessions.user.tolist())}
    long_term = {user for user, span in spans.items() if span >= 4}
    in_log = [sorted(np.flatnonzero((week == one) & np.isin(sessions.user, list(long_term)))) for one in range(8)]
    drawn: list[set[int]] = [set() for _ in range(8)]
    for row, at_ms in zip(found.rows.tolist(), found.arrival_ms.tolist(), strict=True):
        session = sessions.of_jobs[row]
        if sessions.user[session] in long_term:
            begin = sessions.first_ms[session] + at_ms - arrival_ms[row]
            drawn[int(begin // WEEK_MS)].add(int(session))
    assert all(sorted(one) in in_log for one in drawn)
    # The others come as often as their draws say: whole, so each job of a user equally often.
    counts = np.bincount(found.rows, minlength=len(arrival_ms))
    short = [user for user in spans if user not in long_term]
    per_user = [counts[users.numbers == user] for user in short]
    assert all(len(set(one.tolist())) == 1 for one in per_user)
    assert sum(int(one[0]) for one in per_user) == len(short)


def test_a_temporary_user_goes_on_from_the_last_week_to_the_first():
    """Weeks 1 and 3 of a user, two weeks apart whatever the draw; 200 draws begin in each of the eight weeks."""
    arrival_ms, _, sessions = log_of([(0, 1, 7, 1), (0, 3, 9, 1)])
    begins = set()
    for seed in range(200):
        found = weeks_drawn(arrival_ms, sessions, 8, np.random.default_rng(seed))
        at = {row: at_ms - (7, 9)[row] * MINUTE_MS for row, at_ms in zip(found.rows, found.arrival_ms, strict=True)}
        first, second = at[0] / WEEK_MS, at[1] / WEEK_MS
        assert (second - first) % 8 == 2
        begins.add(first)
    # Missing one of eight has a chance of 8 (7/8)^200 = 2e-11.
    assert begins == set(range(8))


def test_users_of_twelve_weeks_are_long_term():
    """Of 40 weeks: a user of 11 weeks comes whole or not at all, one of 12 by its weeks."""
    for span, weeks_apart in ((LONG_WEEKS - 1, True), (LONG_WEEKS, False)):
        arrival_ms, _, sessions = log_of([(0, 0, 0, 1), (0, span - 1, 0, 1)])
        kept = [weeks_drawn(arrival_ms, sessions, 40, np.random.default_rng(seed)) for seed in range(50)]
        whole = [sorted(one.rows.tolist()) == [0, 1] for one in kept]
        assert all(whole) == weeks_apart


def test_the_last_part_of_a_week_is_left_out(tmp_path):
    """Jobs of two users, one in each of 4.5 weeks: what begins in the last half week is in no draw."""
    rows = "".join(f"{week * WEEK_MS + 5:.0f},{week + 1},u\n" for week in range(5))
    setup = scenario_of(tmp_path, "arrival_ms,cpu_ms,user\n" + rows, {"resample": "users", "duration_s": 4.5 * WEEK_S})
    drawn = [chosen_jobs(setup, seed) for seed in range(1, 40)]
    assert {float(cpu) for _, columns in drawn for cpu in columns["cpu_ms"]} == {1.0, 2.0, 3.0, 4.0}
    assert all((at_ms == np.arange(4) * WEEK_MS + 5).all() for at_ms, _ in drawn)


@pytest.mark.slow
def test_draws_have_the_load_of_the_log_on_average():
    """Each week, and each temporary user, is drawn once on average: so is each job. 600 draws; normal at 4 sigma."""
    random = np.random.default_rng(5)
    begins = [
        (user, week, int(random.integers(9000)), int(random.integers(1, 20)))
        for user in range(12)
        for week in range(16)
        if random.random() < (0.6 if user < 6 else 0.1)
    ]
    arrival_ms, _, sessions = log_of(begins)
    draws = [weeks_drawn(arrival_ms, sessions, 16, np.random.default_rng(seed)) for seed in range(600)]
    sizes = np.array([len(one.rows) for one in draws])
    assert abs(sizes.mean() - len(arrival_ms)) < 4 * sizes.std() / math.sqrt(600)
    # And in each week of a draw.
    per_week = np.array([np.bincount((one.arrival_ms // WEEK_MS).astype(int), minlength=16)[:16] for one in draws])
    error = per_week.std(axis=0) / math.sqrt(600)
    assert (abs(per_week.mean(axis=0) - len(arrival_ms) / 16) < 4 * error).all()


@pytest.mark.slow
@given(logs(), st.integers(0, 2**32), st.floats(1.0, 1e9))
def test_a_shaken_log_has_the_same_jobs(log, seed, by_ms):
    arrival_ms, _, sessions = log
    end_ms = float(arrival_ms[-1])
    found = shaken(arrival_ms, sessions, by_ms, end_ms, np.random.default_rng(seed))
    assert sorted(found.rows.tolist()) == list(range(len(arrival_ms)))
    assert (np.diff(found.arrival_ms) >= 0).all()
    assert found.arrival_ms[0] >= 0
    assert found.arrival_ms[-1] <= end_ms
    moved = np.empty(len(arrival_ms))
    moved[found.rows] = found.arrival_ms - arrival_ms[found.rows]
    assert (abs(moved) <= by_ms * (1 + 1e-9)).all()
    for session in range(len(sessions.user)):
        own = moved[sessions.of_jobs == session]
        # Times of 1e9 ms have steps of 1e-7 ms.
        assert np.ptp(own) < 1e-5


def test_moves_of_sessions_are_uniform():
    """1,000 sessions of a user each, far from both ends, by the Kolmogorov-Smirnov test at 1e-4."""
    arrival_ms = np.linspace(1e7, 2e7, 1000)
    sessions = sessions_of(arrival_ms, members(list(range(1000))))
    found = shaken(arrival_ms, sessions, 600_000.0, 3e7, np.random.default_rng(3))
    moved = found.arrival_ms - arrival_ms[found.rows]
    assert scipy.stats.kstest(moved, scipy.stats.uniform(-600_000.0, 1_200_000.0).cdf).pvalue > 1e-4


def test_at_the_ends_a_session_moves_the_other_way():
    arrival_ms = np.array([0.0, 1e6, 2e6])
    sessions = sessions_of(arrival_ms, members([0, 1, 2]))
    found = [shaken(arrival_ms, sessions, 1e5, 2e6, np.random.default_rng(seed)).arrival_ms for seed in range(50)]
    assert all(0 < one[0] <= 1e5 and 1.9e6 <= one[2] < 2e6 for one in found)
    assert {one[1] > 1e6 for one in found} == {True, False}
    # A session from the first to the last instant cannot move at all.
    whole = sessions_of(np.array([0.0, 1e6, 2e6]), members([0, 0, 0]))
    assert shaken(arrival_ms, whole, 1e5, 2e6, np.random.default_rng(1)).arrival_ms.tolist() == arrival_ms.tolist()


ROWS = 60
HEAD = "arrival_ms,cpu_ms,home,memory_mb,tasks,requested_ms,recorded_wait_ms,user,group\n"


def long_log(tmp_path, **trace):
    """Job n of user n mod 7 in week n mod 10: all columns follow from n."""
    jobs = sorted((n % 10 * WEEK_MS + n * 3.6e6, n) for n in range(ROWS))
    lines = [f"{at:.0f},{n + 1},{n % 4},{n + 3},{n % 5 + 1},{500 + n},{n + 9},u{n % 7},g{n % 3}\n" for at, n in jobs]
    more = {"cluster__nodes": 4, "cluster__memory_mb": 1000.0}
    return scenario_of(tmp_path, HEAD + "".join(lines), trace, **more)


@pytest.mark.parametrize("how", ["users", "shake"])
def test_all_columns_go_along(tmp_path, how):
    work = work_of(long_log(tmp_path, resample=how), 3)
    numbers = np.rint(work.jobs["cpu_ms"] - 1).astype(int)
    assert work.jobs["home"].tolist() == (numbers % 4).tolist()
    assert work.jobs["memory_mb"] == pytest.approx(numbers + 3.0)
    assert work.jobs["tasks"].tolist() == (numbers % 5 + 1).tolist()
    assert work.requested_ms == pytest.approx(500.0 + numbers)
    assert work.logged.recorded_wait_ms == pytest.approx(numbers + 9.0)
    assert work.logged.tasks == pytest.approx(numbers % 5 + 1)
    for members_found, letter, count in ((work.logged.users, "u", 7), (work.logged.groups, "g", 3)):
        names = [members_found.names[number] for number in members_found.numbers]
        assert names == [f"{letter}{number % count}" for number in numbers]
    in_week = work.jobs["arrival_ns"] / NS_PER_MS % WEEK_MS
    if how == "users":
        assert in_week == pytest.approx(numbers * 3.6e6)
    else:
        assert sorted(numbers.tolist()) == list(range(ROWS))


def test_a_seed_is_a_draw_whatever_the_policy(tmp_path):
    setup = long_log(tmp_path, resample="users")
    jobs = [work_of(setup.model_copy(update={"policy": setup.policy.model_copy(update={"name": name})}), seed).jobs
            for seed in (1, 2) for name in ("none", "jsq")]  # fmt: skip
    assert jobs[0].tobytes() == jobs[1].tobytes()
    assert jobs[2].tobytes() == jobs[3].tobytes()
    assert jobs[0].tobytes() != jobs[2].tobytes()


def test_the_part_is_chosen_before_a_log_is_drawn_from_it(tmp_path):
    """From week 2 on for four weeks: jobs n with n mod 10 in 2..5 alone, at instants of those four weeks."""
    setup = long_log(tmp_path, resample="users", start_s=2 * WEEK_S, duration_s=4 * WEEK_S)
    at_ms, columns = chosen_jobs(setup, 1)
    assert {int(cpu - 1) % 10 for cpu in columns["cpu_ms"]} <= {2, 3, 4, 5}
    assert 0 <= at_ms.min() <= at_ms.max() < 4 * WEEK_MS + 60 * 3.6e6


WITHOUT_USERS = "arrival_ms,cpu_ms\n0,5\n2000000000,5\n"
NO_NAMES = "arrival_ms,cpu_ms,user\n0,5,\n2000000000,5,\n"
WAITING = "arrival_ms,cpu_ms,user,job,after\n0,5,u,a,\n2000000000,5,u,b,a\n"
SHORT = "arrival_ms,cpu_ms,user\n0,5,u\n700000000,5,u\n"


@pytest.mark.parametrize("how", ["users", "shake"])
@pytest.mark.parametrize(("text", "says"), [
    (WITHOUT_USERS, "no job has one"), (NO_NAMES, "no job has one"), (WAITING, "wait for others to end"),
])  # fmt: skip
def test_what_cannot_be_drawn_from_is_refused(tmp_path, how, text, says):
    with pytest.raises(InputError, match=says) as caught:
        chosen_jobs(scenario_of(tmp_path, text, {"resample": how}), 1)
    assert "jobs.csv" in str(caught.value)
    assert f'workload.trace.resample = "{how}"' in str(caught.value)
    assert 'allowed "none"' in str(caught.value)


def test_a_window_of_less_than_two_weeks_has_none_to_draw(tmp_path):
    with pytest.raises(InputError, match="needed are 2 weeks") as caught:
        chosen_jobs(scenario_of(tmp_path, SHORT, {"resample": "users"}), 1)
    assert "the window has 1: its jobs come in 8.102 days" in str(caught.value)
    # With a window of two weeks it has them; shaking takes any.
    chosen_jobs(scenario_of(tmp_path, SHORT, {"resample": "users", "duration_s": 2 * WEEK_S}), 1)
    chosen_jobs(scenario_of(tmp_path, SHORT, {"resample": "shake"}), 1)


@pytest.mark.slow
def test_a_draw_without_jobs_is_refused(tmp_path):
    """All jobs in the last of three weeks of one long-term user: 8 of 27 draws miss it."""
    text = f"arrival_ms,cpu_ms,user\n{2 * WEEK_MS:.0f},5,u\n"
    setup = scenario_of(tmp_path, text, {"resample": "users", "duration_s": 3 * WEEK_S})
    said = []
    for seed in range(1, 201):
        try:
            chosen_jobs(setup, seed)
        except InputError as problem:
            said.append(str(problem))
    assert all("draws none of the weeks in which jobs come" in one for one in said)
    # 59 on average, of 200; standard deviation 6.5.
    assert abs(len(said) - 200 * 8 / 27) < 4 * 6.5
