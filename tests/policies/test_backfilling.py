"""EASY and conservative backfilling: schedules worked by hand, and what no backfill may do."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from batch_jobs import ends_ms, most_at_once, trace_of
from hypothesis import given, settings
from hypothesis import strategies as st
from support import scenario

from cluster_abm import ClusterModel

SLICE_MS = 10.0

# Arrival, tasks, CPU, request [ms]; a core whose task ends inside a slice of 10 ms is free from the next border on.
A, B, C, D, E = (0, 2, 95, 95), (1, 3, 95, 95), (2, 4, 95, 95), (3, 1, 295, 295), (4, 1, 85, 85)


def test_first_come_first_served(tmp_path):
    """Four nodes: A has two until 95 ms; B waits for three, C for four, D and E behind them for one each.

    A 0-95 (2)   B 100-195 (3)   C 200-295 (4)   D 300-595 (1), E 300-385 (1)
    """
    assert ends_ms(tmp_path, "batch-system", [A, B, C, D, E]) == [95, 195, 295, 595, 385]


def test_easy_lets_pass_what_does_not_delay_the_head(tmp_path):
    """The head B has its reservation at 100 ms, with one core to spare. D, which takes no more than that one, starts
    at 3 ms although it runs to 298 ms; E ends before 100 ms, and starts at 4 ms. C, which is not at the head, waits for
    D's core until 300 ms.

        A 0-95 (2), D 3-298 (1), E 4-89 (1)   B 100-195 (3)   C 300-395 (4)
    """
    assert ends_ms(tmp_path, "easy", [A, B, C, D, E]) == [95, 195, 395, 298, 89]
    model = ClusterModel(scenario(**trace_of(tmp_path, [A, B, C, D, E], policy__name="easy")), seed=1)
    model.run()
    rules = model.decisions_frame().groupby("task")["rule"].last()
    # Tasks 0 to 8 are those of A, B and C.
    assert set(rules[:9]) == {"head of the queue"}
    assert set(rules[9:]) == {"backfilling"}


@pytest.mark.slow
def test_conservative_lets_pass_what_delays_none(tmp_path):
    """C has a reservation, too, at 200 ms, for all cores: D would be in its way, and gets its own behind it.

    A 0-95 (2), E 4-89 (1)   B 100-195 (3)   C 200-295 (4)   D 300-595 (1)
    """
    assert ends_ms(tmp_path, "conservative", [A, B, C, D, E]) == [95, 195, 295, 595, 89]


OUTRUN = [(0, 2, 145, 95), (1, 4, 95, 95), (2, 2, 145, 145), (105, 2, 5, 5)]


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_a_job_that_outruns_its_request_is_not_killed_and_reservations_are_made_anew(tmp_path, policy):
    """A asks for 95 ms and takes 145. B, for all four nodes, is due at 100 ms, and C would run too long before that.
    From 100 ms on A is expected to end in the slice that begins: D, which comes at 105 ms and would end at 110 ms,
    known at 120 ms, could delay B. At 150 ms B starts, C and D at 250 ms.

        A 0-145 (2)   B 150-245 (4)   C 250-395 (2), D 250-255 (2)
    """
    model = ClusterModel(scenario(**trace_of(tmp_path, OUTRUN, policy__name=policy)), seed=1)
    model.run()
    assert model.jobs_frame().groupby("job")["finish_ms"].max().tolist() == [145, 245, 395, 255]
    if policy == "conservative":
        # When D comes, and when A has ended.
        assert model.load_managers[0].notes["made_anew"] == 2


def test_how_long_a_job_that_outran_its_request_is_expected_to_run_on(tmp_path):
    """With 100 ms more A is expected to be there at 200 ms still, when D comes: D passes."""
    assert ends_ms(tmp_path, "easy", OUTRUN, policy__extension_ms=100.0) == [145, 245, 395, 110]


@pytest.mark.parametrize(("policy", "expected"), [("easy", [45, 195, 97]), ("conservative", [45, 195, 97])])
def test_a_job_that_ends_early_lets_reservations_be_earlier(tmp_path, policy, expected):
    """A asks for 195 ms, and ends at 45. C, which would end long before B's reservation at 200 ms, has started: B, for
    all nodes, starts at 100 ms, when C has ended at 97, instead of at 200 ms."""
    assert ends_ms(tmp_path, policy, [(0, 3, 45, 195), (1, 4, 95, 95), (2, 1, 95, 95)]) == expected


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_cores_of_one_node_are_shared_among_jobs(tmp_path, policy):
    """One node of four cores, the same schedule as four nodes; a job with more tasks than cores has all of them for
    twice what it asks for: seven tasks of 40 ms on four cores, at 105 ms, end by 200."""
    one_node = {"cluster__nodes": 1, "cluster__cores": 4}
    expected = [95, 195, 395, 298, 89] if policy == "easy" else [95, 195, 295, 595, 89]
    assert ends_ms(tmp_path, policy, [A, B, C, D, E], **one_node) == expected
    wide = [(0, 2, 95, 95), (1, 7, 40, 40), (2, 2, 85, 85), (3, 2, 105, 105)]
    ends = ends_ms(tmp_path, policy, wide, **one_node)
    assert (ends[0], ends[2]) == (95, 87)
    assert 170.0 <= ends[1] <= 180.0
    assert ends[3] == 285.0


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_starting_elsewhere_counts_in_a_reservation(tmp_path, policy):
    """A start on another node takes 30 ms: A is expected to end at 125 ms, not at 95, and C passes, which asks for 90
    and is at home."""
    jobs = [(0, 3, 95, 95), (1, 4, 95, 95), (2, 1, 90, 90)]
    plain, slow = (ends_ms(tmp_path, policy, jobs, negotiation__remote_execution_ms=cost_ms) for cost_ms in (0.0, 30.0))
    assert plain == [95, 195, 92]
    assert slow[2] == 2 + 30 + 90


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_a_task_that_loses_its_node_begins_again_and_its_job_is_expected_later(tmp_path, policy):
    """A's second task loses node 1 at 5 s and begins again on node 2. C could end before 20 s, not before 15 s: it is
    not let in front of B, for which there are four nodes at 15.01 s."""
    jobs = [(0, 2, 10_000, 10_000), (6_000, 4, 1_000, 1_000), (6_001, 1, 9_500, 9_500), (6_002, 1, 500, 500)]
    failure = {"failures__event": [{"node": 1, "at_s": 5.0, "for_s": 0.5}]}
    assert ends_ms(tmp_path, policy, jobs, **failure) == [15_000, 16_010, 25_520, 6_502]


@pytest.mark.parametrize("policy", ["batch-system", "easy", "conservative"])
def test_a_job_leaves_the_core_of_a_node_that_has_failed_and_others_have_it_after_the_repair(tmp_path, policy):
    """As above, A goes on on nodes 0 and 2. From 5.5 s on node 1 is free, as node 3 is: B has both at once."""
    jobs = [(0, 2, 10_000, 10_000), (6_000, 2, 1_000, 1_000)]
    failure = {"failures__event": [{"node": 1, "at_s": 5.0, "for_s": 0.5}]}
    assert ends_ms(tmp_path, policy, jobs, **failure) == [15_000, 7_000]


# ---- as properties ------------------------------------------------------------------------------------------------

cases = st.lists(
    st.tuples(st.integers(0, 250), st.integers(1, 6), st.integers(1, 200), st.sampled_from([1.0, 1.0, 1.7, 9.0])),
    min_size=2,
    max_size=14,
)
machines = st.sampled_from([(4, 1), (1, 4), (2, 2), (1, 1)])
slices_ms = st.sampled_from([1.0, 7.3, 10.0])


def lived(policy: str, jobs, machine, slice_ms: float = SLICE_MS):
    """Run jobs of (arrival, tasks, CPU, request over CPU); after each slice the reservations, and each job's start."""
    sorted_jobs = [(arrival, tasks, cpu, cpu * ratio) for arrival, tasks, cpu, ratio in sorted(jobs)]
    keys = {"cluster__nodes": machine[0], "cluster__cores": machine[1], "cluster__slice_ms": slice_ms}
    with TemporaryDirectory() as folder:
        setup = scenario(**trace_of(Path(folder), sorted_jobs, policy__name=policy, **keys))
        model = ClusterModel(setup, seed=1)
        ran = ClusterModel(setup, seed=1)
    seen = []
    while model.running:
        now = round(model.now_ms / slice_ms)
        model.step()
        notes = model.load_managers[0].notes
        told = {notes["head"]: notes["reserved"]} if "head" in notes else {}
        queue = model.parts.submissions.queue
        if policy == "conservative":
            told = {job: int(at) for job, at in zip(queue, queue.notes["reserved"], strict=True) if not np.isnan(at)}
        seen.append((now, told, notes.get("made_anew", 0)))
    ran.run()
    frame = model.jobs_frame().sort_values("task")
    assert frame.equals(ran.jobs_frame().sort_values("task"))
    assert len(frame) == sum(tasks for _, tasks, _, _ in jobs)
    if max(tasks for _, tasks, _, _ in jobs) <= machine[0] * machine[1]:
        assert all(most <= machine[1] for most in most_at_once(frame).values())
    starts = frame.assign(start=frame["arrival_ms"] + frame["blocked_ms"]).groupby("job")["start"].min()
    # The border of the slice in which each job starts.
    return seen, np.floor(starts / slice_ms + 1e-6).astype(int).to_dict(), sorted_jobs


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(cases, machines, slices_ms)
def test_no_backfill_moves_the_heads_reservation_later(jobs, machine, slice_ms):
    seen, starts, _ = lived("easy", jobs, machine, slice_ms)
    reserved: dict[int, int] = {}
    for _, told, _ in seen:
        for job, border in told.items():
            assert border <= reserved.get(job, border)
            reserved[job] = border
    assert all(starts[job] <= border for job, border in reserved.items())


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(cases, machines, slices_ms)
def test_no_backfill_moves_any_reservation_later(jobs, machine, slice_ms):
    seen, starts, _ = lived("conservative", jobs, machine, slice_ms)
    reserved: dict[int, int] = {}
    for _, told, made_anew in seen:
        for job, border in told.items():
            assert border <= reserved.get(job, border)
            reserved[job] = border
        assert made_anew == 0
    assert all(starts[job] <= border for job, border in reserved.items())


wrong = st.lists(
    st.tuples(st.integers(0, 250), st.integers(1, 4), st.integers(1, 200), st.sampled_from([0.1, 0.5, 1.0, 3.0])),
    min_size=2,
    max_size=14,
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(wrong, machines.filter(lambda machine: machine != (1, 1)), st.sampled_from(["easy", "conservative"]))
def test_reservations_are_only_moved_later_when_a_job_has_outrun_its_request(jobs, machine, policy):
    seen, starts, sorted_jobs = lived(policy, jobs, machine)
    ends = {job: start * SLICE_MS + sorted_jobs[job][3] for job, start in starts.items()}
    finished = {job: start * SLICE_MS + sorted_jobs[job][2] for job, start in starts.items()}
    reserved: dict[int, int] = {}
    for now, told, _ in seen:
        later = any(border > reserved.get(job, border) for job, border in told.items())
        reserved |= told
        # One that runs beyond its request, or did until the slice before (a start can be 10 ms after its border).
        running = [job for job, start in starts.items() if start <= now <= finished[job] / SLICE_MS + 3]
        assert not later or any(ends[job] / SLICE_MS <= now + 1 for job in running)
