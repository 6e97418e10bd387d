"""What a run says of itself after ten seconds, by a clock that is set by hand."""

from __future__ import annotations

import pytest

from cluster_abm import ClusterModel
from cluster_abm.cli.far_end import FarEnd


def remarks_of(model, seconds_a_look):
    said, now = [], [0.0]
    far_end = FarEnd(model, said.append, lambda: now[0])

    def look(share):
        now[0] += seconds_a_look
        far_end.look(share)

    model.run(look)
    return said


def model_at(utilisation, **keys):
    return ClusterModel(
        "cpu-bound", seed=1, cluster__nodes=2, workload__utilisation=utilisation, workload__duration_s=2000.0, **keys
    )


@pytest.fixture(scope="module")
def overloaded():
    return remarks_of(model_at(3.0), 1.0)


def test_an_overloaded_run_says_that_jobs_gather_and_why(overloaded):
    (said,) = overloaded
    first, system, why, cure = said.splitlines()
    assert first.split(",")[0].endswith(" s simulated in 10 s")
    assert "of the tasks have ended: about " in first
    assert system.endswith(": they gather, for the jobs demand more than there is")
    assert why.startswith("    (offered load: CPU ")
    assert "Ctrl-C ends the run and keeps what is finished; --set run.until=MS" in cure


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


def test_watching_changes_no_number():
    watched, alone = model_at(3.0), model_at(3.0)
    remarks_of(watched, 1.0)
    alone.run()
    assert watched.summary() == alone.summary()
