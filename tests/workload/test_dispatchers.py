"""workload.dispatchers: jobs are submitted at the first nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.workload import work_of
from cluster_abm.workload.homes import count_of_homes, homes_of

MANY = {"cluster__nodes": 8, "workload__utilisation": None, "workload__jobs": 4000, "workload__duration_s": 1000.0}


@pytest.mark.parametrize("dispatchers", [1, 3, 8])
def test_jobs_appear_at_the_first_nodes_alike(dispatchers):
    made = scenario(**MANY, workload__dispatchers=dispatchers)
    jobs = work_of(made, 1).jobs
    counts = np.bincount(jobs["home"], minlength=8)
    assert not counts[dispatchers:].any()
    if dispatchers > 1:
        assert scipy.stats.chisquare(counts[:dispatchers]).pvalue > 1e-4
    assert homes_of(made, jobs).tolist() == [node < dispatchers for node in range(8)]
    assert count_of_homes(made) == dispatchers


def test_nothing_but_homes_differs():
    alone, all_nodes = (work_of(scenario(**MANY, **more), 1).jobs for more in ({"workload__dispatchers": 2}, {}))
    assert all((alone[name] == all_nodes[name]).all() for name in alone.dtype.names if name != "home")


def test_as_many_dispatchers_as_nodes_are_the_default():
    every, default = (work_of(scenario(**MANY, **more), 1).jobs for more in ({"workload__dispatchers": 8}, {}))
    assert every.tobytes() == default.tobytes()


def test_homes_of_a_trace_give_way(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n0,3,10,0,1\n1,2,10,0,1\n2,3,10,0,1\n")
    trace = {"cluster__nodes": 4, "workload__kind": "trace", "workload__trace__file": str(path)}
    assert work_of(scenario(**trace), 1).jobs["home"].tolist() == [3, 2, 3]
    assert count_of_homes(scenario(**trace)) == 2
    one = scenario(**trace, workload__dispatchers=1)
    assert work_of(one, 1).jobs["home"].tolist() == [0, 0, 0]
    assert count_of_homes(one) == 1


def test_users_sit_at_the_dispatchers():
    users = {"cluster__nodes": 5, "workload__utilisation": None, "workload__arrivals": {"kind": "closed"}}
    made = scenario(**users, workload__dispatchers=2)
    assert set(work_of(made, 1).jobs["home"].tolist()) == {0, 1}
    assert count_of_homes(made) == 2
    assert count_of_homes(scenario(**users)) == 5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"workload__home__kind": "skewed"}, r"dispatchers 2: workload\.home says it too"),
        ({"workload__arrivals__user_nodes": [1]}, r"dispatchers 2: workload\.arrivals\.user_nodes says it too"),
        ({"cluster__nodes": 1}, r"workload\.dispatchers 2: must be at most cluster\.nodes 1"),
    ],
)
def test_what_contradicts_it_is_refused(settings, words):
    with pytest.raises(InputError, match=words):
        scenario(**{**MANY, **settings}, workload__dispatchers=2)
