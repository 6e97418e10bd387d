"""Snapshots that are written and never read again: where they stay behind, a migration carries none of them."""

from __future__ import annotations

import numpy as np
import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario
from cluster_abm.workload import job_table

STAYS = {"workload__write_only_moves": False}
TRACE = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,write_share\n0,0,900,0.1,4,0.5\n0,0,900,0.1,4,\n0,1,900,0.1,4,1\n"


def others_are_alike(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one.dtype.names if name != "write_share")


def given_by(tmp_path, **more):
    (tmp_path / "jobs.csv").write_text(TRACE)
    trace = {"workload__kind": "trace", "workload__trace__file": str(tmp_path / "jobs.csv")}
    return scenario(**trace | more)


def test_the_share_that_a_trace_gives_is_left_out_too(tmp_path):
    moves, stays = (job_table(given_by(tmp_path, **more), 1) for more in ({}, STAYS))
    assert moves["write_share"].tolist() == [0.5, 0.2, 1.0]
    assert stays["write_share"].tolist() == [0.0, 0.0, 0.0]
    assert others_are_alike(moves, stays)


def test_and_so_is_that_of_an_application():
    moves, stays = (
        job_table(load_scenario("iocm-applications", {"workload.application.name": "lu", "workload.jobs_per_s": 0.1,
                                                      "workload.write_only_moves": one}), 1)
        for one in (True, False)
    )  # fmt: skip
    assert (moves["write_share"] > 0).all()
    assert not stays["write_share"].any()
    assert others_are_alike(moves, stays)


@pytest.mark.parametrize("more", [{}, STAYS])
def test_what_a_running_task_would_bring_along(more, tmp_path):
    """After some CPU at speed 1 half of its accesses have written 64 KB each, and all of that moves, or none.

    f, 4 MB of image at 128 MB/s, and each MB written over the network at 128 MB/s and two disks at 40 MB/s.
    """
    model = ClusterModel(given_by(tmp_path, workload__request_kb__mean=64.0, **more))
    model.run(until_ms=600)
    view = model.view_of(model.load_managers[0])
    task = view.candidates[0]
    assert task.age_ms > 50
    written_mb = 0.0 if more else task.age_ms * 0.1 * 0.5 * 64 / 1000
    assert task.written_mb == pytest.approx(written_mb)
    assert view.cost_ms(task, 1) == pytest.approx(100 + 31.25 + written_mb * (7.8125 + 25 + 25))


@pytest.mark.slow
@pytest.mark.parametrize("network", [{}, {"interconnect__mode": "contended", "interconnect__kind": "star"}])
def test_a_run_is_that_of_tasks_that_write_nothing(network):
    settings = busy(policy__name="wal-pm", workload__write_share=0.9, workload__request_kb__mean=200.0, **network)
    moves, stays = finished(3, **settings), finished(3, **settings, **STAYS)
    assert moves.summary()["metrics"]["migrations"] > 5
    assert not same_records(moves, stays)
    silent = finished(3, **settings | {"workload__write_share": 0.0})
    assert same_records(stays, silent)
    assert stays.decisions_frame().equals(silent.decisions_frame())
    # What a task does itself is the same wherever its data goes.
    one, other = (model.engine.records[model.engine.records["task"].argsort()] for model in (moves, stays))
    for name in ("isolated_cpu_ns", "isolated_io_ns", "isolated_paging_ns", "arrival_ns"):
        assert (one[name] == other[name]).all()


@pytest.mark.parametrize("value", ["no", 0, 1.0, None])
def test_it_is_true_or_false(value):
    with pytest.raises(InputError, match=r"workload\.write_only_moves"):
        scenario(workload__write_only_moves=value)
