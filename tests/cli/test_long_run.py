"""What a run says of itself after ten seconds, by a clock that is set by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cluster_abm import ClusterModel
from cluster_abm.cli.long_run import LongRunNote


def remarks_of(model, seconds_a_look):
    said, now = [], [0.0]
    note = LongRunNote(model, said.append, lambda: now[0])

    def look(share):
        now[0] += seconds_a_look
        note.look(share)

    model.run(look)
    return said


def model_at(utilisation, **keys):
    return ClusterModel(
        "cpu-bound", seed=1, cluster__nodes=2, workload__utilisation=utilisation, workload__duration_s=2000.0, **keys
    )


@pytest.fixture(scope="module")
def overloaded():
    return remarks_of(model_at(3.0), 1.0)


@pytest.mark.slow
def test_an_overloaded_run_says_that_jobs_gather_and_why(overloaded):
    (said,) = overloaded
    first, system, why, cure = said.splitlines()
    assert first.split(",")[0].endswith(" s simulated in 10 s")
    assert "of the tasks have ended: about " in first
    assert system.endswith(": they gather, for the jobs demand more than there is")
    assert why.startswith("    (offered load: CPU ")
    assert "Ctrl-C ends the run and keeps what is finished; --set run.until=MS" in cure


@pytest.mark.slow
def test_jobs_in_the_system_are_those_that_have_come_and_not_ended(overloaded):
    """Without a disk and at load 3 two nodes end about a third of what has come: by conservation the rest is there."""
    words = overloaded[0].replace(",", "").split()
    simulated_s = float(words[words.index("simulated") - 2])
    jobs = int(words[words.index("jobs") - 1])
    # 6 jobs a second of 1 s of CPU each come to two nodes, which end 2; within a third, for demands are drawn.
    assert jobs == pytest.approx(4.0 * simulated_s, rel=1 / 3)


def test_a_run_that_is_soon_over_says_nothing():
    assert remarks_of(model_at(0.3), 0.01) == []


def test_a_run_that_keeps_up_does_not_say_that_jobs_gather():
    (said,) = remarks_of(model_at(0.3), 1.0)
    assert "they gather" not in said
    assert " jobs are in the system" in said


def test_of_a_run_until_a_time_that_time_is_said():
    (said,) = remarks_of(model_at(0.3, run__until=2_000_000.0), 1.0)
    assert " of the 2,000 s of run.until: about " in said


@pytest.mark.slow
def test_watching_changes_no_number():
    watched, alone = model_at(3.0), model_at(3.0)
    remarks_of(watched, 1.0)
    alone.run()
    assert watched.summary() == alone.summary()


class Model:
    """Stands in for a run: it simulates 100 s in each second and has `live` jobs in the system."""

    def __init__(self, until=100_000.0):
        self.now_ms, self.live, self.offered_load = 0.0, 10, None
        self.setup = SimpleNamespace(run=SimpleNamespace(until=until))
        self.engine = SimpleNamespace(live_jobs=lambda: range(self.live))


def remarks_at(shares, jobs=None, seconds=1.0, **more):
    """The remarks on a run. One look comes every `seconds`, with the next share that is done and number of jobs."""
    # A monotonic clock may begin at any number.
    model, now, said = Model(**more), [5000.0], []
    note = LongRunNote(model, said.append, lambda: now[0])
    for number, share in enumerate(shares):
        model.live = 10 if jobs is None else jobs[number]
        note.look(share)
        now[0] += seconds
        model.now_ms += 100_000.0 * seconds
    return said


@pytest.mark.parametrize(("share", "left"), [
    # After 10 s: a share of 0.25 leaves 30 s, which is far. A share of 0.26 leaves 28 s, which is not.
    (0.25, "about 30 s to go"), (0.26, None), (0.1, "about 90 s to go"), (0.0, "the end is not in sight"), (1.0, None),
])  # fmt: skip
def test_an_end_is_far_from_thirty_seconds_on(share, left):
    said = remarks_at([share] * 11)
    assert len(said) == (0 if left is None else 1)
    if left is not None:
        assert said[0].splitlines()[0] == f"note: 1,000 s simulated in 10 s of the 100 s of run.until: {left}"


def test_a_far_end_is_remarked_once_after_ten_seconds():
    # The first look is at 0 s: ten looks end at 9 s.
    assert remarks_at([0.1] * 10) == []
    assert len(remarks_at([0.1] * 11)) == 1
    # No second remark comes, and no later one if the end was near at 10 s.
    assert len(remarks_at([0.1] * 40)) == 1
    assert remarks_at([0.9] * 11 + [0.01] * 20) == []


def test_a_run_until_drained_says_its_share_of_tasks():
    (said,) = remarks_at([0.12] * 11, until="drained")
    assert ", 12 % of the tasks have ended: about " in said


@pytest.mark.parametrize(("later", "gather"), [(12, False), (13, True), (10, False), (5, False)])
def test_jobs_gather_if_they_are_a_fifth_more_than_half_way(later, gather):
    # 1000 s are simulated. Half way, at 500 s, 10 jobs are counted: more than 12 jobs at the end gather.
    (said,) = remarks_at([0.01] * 11, jobs=[10] * 6 + [later] * 5)
    line = said.splitlines()[1]
    assert line == f"  {later} jobs are in the system" + (", 10 at 500 s: they gather" if gather else "")


def test_jobs_are_counted_once_a_second_at_any_rate_of_looks():
    counted, model, now = [], Model(), [5000.0]
    model.engine = SimpleNamespace(live_jobs=lambda: counted.append(now[0]) or range(10))
    note = LongRunNote(model, lambda _: None, lambda: now[0])
    for _ in range(41):
        note.look(0.1)
        now[0] += 0.25
    # Counted at 1, 2 ... 10 s.
    assert counted == [5000.0 + second for second in range(1, 11)]
