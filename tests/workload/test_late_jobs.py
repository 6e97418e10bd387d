"""Jobs that are drawn as a run goes on are those that are drawn before it."""

import numpy as np
import pytest
from support import scenario

from cluster_abm import large_tables
from cluster_abm.errors import InputError
from cluster_abm.workload import job_table, offered_load, work_of

ONE_TASK = {"workload__tasks__parallel_share": 0.0, "workload__duration_s": 40.0}
LATE = {
    "poisson": {},
    "by the hour": {"workload__arrivals__daily": [0.2, 1.0, 3.0], "workload__duration_s": 7e4,
                    "workload__jobs_per_s": 0.01, "workload__utilisation": None},
    "by the week": {"workload__arrivals__weekly": [0, 0, 1, 1, 1, 1, 1], "workload__duration_s": 2e5,
                    "workload__jobs_per_s": 0.003, "workload__utilisation": None},
    "two numbers a draw": {"workload__cpu_ms": {"kind": "hbd97", "mean": 300.0}},
    "copies": {"workload__repeats__share": 0.5},
    "dependent": {"workload__dependence": {"cpu_ms,memory_mb": 0.5}},
    "few": {"workload__duration_s": 0.5},
}  # fmt: skip


@pytest.mark.parametrize("name", LATE)
def test_the_rows_are_those_of_the_table(name, monkeypatch):
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 7)
    of = scenario(**ONE_TASK | LATE[name])
    whole, work = job_table(of, 3), work_of(of, 3, may_be_late=True)
    late = work.late
    assert len(whole) == len(late.table) > 0
    again = [rows.copy() for rows in late.again(7)]
    assert (np.concatenate(again) == whole).all()
    for rows in (1, 8, 9, len(whole)):
        late.draw(rows)
        assert late.drawn >= min(rows, len(whole))
        assert (late.table[: late.drawn] == whole[: late.drawn]).all()
    assert late.drawn == len(whole)
    assert offered_load(of, work) == offered_load(of, work_of(of, 3))


@pytest.mark.parametrize("settings", [
    {"workload__tasks__parallel_share": 0.5},
    {"workload__tasks__widths": {"1": 1.0, "2": 1.0}},
    {"workload__jobs": 50, "workload__utilisation": None},
    {"workload__arrivals__kind": "bursty"},
    {"workload__arrivals__batch_mean": 3.0},
    {"workload__requested_over_actual__mean": 2.0},
    {"workload__announced_error": 2.0},
    {"workload__programs__mix": {"bit-r": 1.0}},
    {"data__files": 9},
    {"workload__arrivals__kind": "closed"},
])  # fmt: skip
def test_other_jobs_are_there_before_the_run(settings):
    assert work_of(scenario(**ONE_TASK | settings), 3, may_be_late=True).late is None


def test_more_than_a_run_may_have_is_refused():
    of = scenario(**ONE_TASK | {"workload__jobs_per_s": 1e9, "workload__utilisation": None})
    with pytest.raises(InputError, match="workload: 4e\\+10 jobs: allowed are 2,000,000,000"):
        work_of(of, 3, may_be_late=True)
