"""The part of a trace that a scenario uses: interval, share, scale and columns, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import scenario
from trace_files import scenario_of

from cluster_abm.engine.tables import JOB
from cluster_abm.errors import InputError
from cluster_abm.scenario.data import Data
from cluster_abm.workload import data as drawing
from cluster_abm.workload import job_table, work_of
from cluster_abm.workload.data import draw_catalogue
from cluster_abm.workload.from_trace import chosen_jobs

ROWS = """arrival_ms,cpu_ms,home,memory_mb,requested_ms,job,after
0,10,0,1,100,a,
1000,20,1,2,200,b,a
2000,30,2,3,,c,b
3000,40,3,4,400,d,b
"""


@pytest.fixture
def of_trace(tmp_path):
    return lambda **keys: scenario_of(tmp_path, ROWS, keys)


@pytest.mark.parametrize(("keys", "begin_ms", "rows"), [
    ({}, 0, [0, 1, 2, 3]),
    # The begin of the part is included, its end is not. Times count from the begin.
    ({"start_s": 1.0}, 1000, [1, 2, 3]), ({"start_s": 0.999}, 999, [1, 2, 3]), ({"start_s": 1.001}, 1001, [2, 3]),
    ({"duration_s": 2.0}, 0, [0, 1]), ({"duration_s": 2.001}, 0, [0, 1, 2]),
    ({"start_s": 1.0, "duration_s": 2.0}, 1000, [1, 2]), ({"start_s": 3.0, "duration_s": 0.001}, 3000, [3]),
    # CPU times and requested times are scaled; memory is not.
    ({"cpu_scale": 0.5}, 0, [0, 1, 2, 3]),
])  # fmt: skip
def test_a_part_of_a_trace(of_trace, keys, begin_ms, rows):
    arrival_ms, columns = chosen_jobs(of_trace(**keys), 1)
    scale = keys.get("cpu_scale", 1.0)
    assert arrival_ms.tolist() == pytest.approx([1000 * row - begin_ms for row in rows])
    assert columns["cpu_ms"].tolist() == [scale * (10.0, 20.0, 30.0, 40.0)[row] for row in rows]
    requested = [scale * (100.0, 200.0, math.nan, 400.0)[row] for row in rows]
    assert columns["requested_ms"].tolist() == pytest.approx(requested, nan_ok=True)
    assert columns["memory_mb"].tolist() == [row + 1.0 for row in rows]
    assert columns["home"].tolist() == rows


@pytest.mark.parametrize(("keys", "left"), [
    ({"start_s": 3.001}, "from 0 to 3 s"), ({"start_s": 1.5, "duration_s": 0.5}, "start_s = 1.5, duration_s = 0.5"),
])  # fmt: skip
def test_a_part_without_jobs_is_refused(of_trace, keys, left):
    with pytest.raises(InputError, match="no job left") as caught:
        chosen_jobs(of_trace(**keys), 1)
    assert left in str(caught.value)


def test_jobs_of_a_part_wait_only_for_jobs_of_the_part(of_trace):
    work = work_of(of_trace(start_s=1.0), 1)
    assert work.parents is not None
    assert work.parents.first.tolist() == [0, 0, 1, 2]
    assert work.parents.parent.tolist() == [0, 0]
    # The parent of all jobs is not in this part.
    assert work_of(of_trace(start_s=2.0), 1).parents is None


@pytest.mark.parametrize(("keys", "gone"), [
    ({"homes": "drawn"}, "home"), ({"memory": "drawn"}, "memory_mb"),
])  # fmt: skip
def test_a_column_of_the_trace_may_be_replaced_by_draws(of_trace, keys, gone):
    every, left = chosen_jobs(of_trace(), 1)[1], chosen_jobs(of_trace(**keys), 1)[1]
    assert set(every) - set(left) == {gone}
    assert all(np.array_equal(every[name], left[name], equal_nan=True) for name in left)


def test_a_share_of_the_jobs_is_drawn_anew_with_each_seed(tmp_path):
    rows = "arrival_ms,cpu_ms\n" + "".join(f"{row},1\n" for row in range(1000))
    kept = []
    for seed, share in ((1, 0.25), (2, 0.25), (1, 0.75)):
        setup = scenario_of(tmp_path, rows, {"keep_share": share})
        kept.append({*chosen_jobs(setup, seed)[0].tolist()})
        # Six standard deviations of a binomial number of 1000 draws are 6 x sqrt(1000 x 0.25 x 0.75) = 82.
        assert len(kept[-1]) == pytest.approx(1000 * share, abs=82)
    assert kept[0] != kept[1]
    assert kept[0] < kept[2]


@pytest.mark.parametrize(("home", "is_there"), [(3, True), (4, False)])
def test_a_home_is_one_of_the_nodes(tmp_path, home, is_there):
    setup = scenario_of(tmp_path, f"arrival_ms,cpu_ms,home\n0,1,0\n5,1,{home}\n6,1,{home}\n")
    if is_there:
        assert job_table(setup, 1)["home"].tolist() == [0, 3, 3]
        return
    with pytest.raises(InputError, match=r"home = 4 of the job at 5 ms \(2 such jobs\): allowed 0\.\.3"):
        job_table(setup, 1)


def test_without_a_trace_no_jobs_can_be_chosen(of_trace):
    with pytest.raises(InputError, match='kind "synthetic": allowed: "trace"'):
        chosen_jobs(scenario(), 1)
    with pytest.raises(InputError, match='a workload of kind "trace" needs a file'):
        chosen_jobs(scenario(workload={"kind": "trace"}), 1)


VM = "Timestamp [ms];CPU cores;CPU usage [%];Memory usage [KB];Disk read throughput [KB/s];Disk write throughput [KB/s]"


@pytest.mark.parametrize("programs", [{"mix": {"MCLS": 1.0}}, {"file": "mcls"}])
def test_a_trace_with_its_own_programs_accepts_no_others(tmp_path, programs):
    path = tmp_path / "1.csv"
    path.write_text(f"{VM}\n1000000;1;40;1000;0;0\n1000300;1;40;1000;0;0\n")
    alone = {"kind": "trace", "trace": {"file": str(path)}}
    assert job_table(scenario(workload=alone), 1)["program"].tolist() == [0]
    with pytest.raises(InputError, match="says what its jobs do over time"):
        job_table(scenario(workload=alone | {"programs": programs}), 1)


@pytest.mark.parametrize(("most", "needs", "fits"), [
    # 10 files x 5 jobs = 50; 5 jobs need 2 files each, 10 needs.
    (50, 10, True), (49, 10, False), (50, 9, False),
])  # fmt: skip
def test_the_largest_numbers_of_files_and_needs(monkeypatch, most, needs, fits):
    monkeypatch.setattr(drawing, "MOST_FILE_JOBS", most)
    monkeypatch.setattr(drawing, "MOST_NEEDED", needs)
    data = Data(files=10, files_per_job={"minimum": 2, "maximum": 2}, size_mb={"kind": "fixed", "mean": 1e12})
    jobs, cluster_of = np.zeros(5, JOB), np.zeros(4, np.int64)
    if fits:
        found = draw_catalogue(data, 1, jobs, cluster_of)
        assert len(found.needed_files) == 10
        assert [len(found.files_of(job)) for job in range(5)] == [2] * 5
        return
    with pytest.raises(InputError, match=r"data\.files = 10: 5 jobs"):
        draw_catalogue(data, 1, jobs, cluster_of)
