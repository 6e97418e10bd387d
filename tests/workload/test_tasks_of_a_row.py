"""How many tasks a row of a workflow gets: alone on a machine its job takes as long as the row ran."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import PLAIN, finished

from cluster_abm.workload.traces import read_trace

RAN_MS = 10_000.0


def nextflow(folder: Path, percent: float, cpus: object) -> Path:
    path = folder / "trace.txt"
    path.write_text(
        f"task_id\tname\tstatus\tsubmit\trealtime\t%cpu\tcpus\n1\tA\tCOMPLETED\t0\t{RAN_MS:.0f}\t{percent}\t{cpus}\n"
    )
    return path


def wfformat(folder: Path, percent: float, cores: object) -> Path:
    path = folder / "w.json"
    ran = {"name": "a", "runtimeInSeconds": RAN_MS / 1000, "avgCPU": percent, "parents": [], "children": []}
    path.write_text(json.dumps({"workflow": {"tasks": [ran | ({} if cores == "-" else {"coreCount": cores})]}}))
    return path


def response_ms(path: Path) -> float:
    """Of the only job, on an idle node of eight cores where nothing costs anything."""
    model = finished(
        **PLAIN, cluster__nodes=1, cluster__cores=8, workload__kind="trace", workload__trace__file=str(path),
        workload__io_per_ms={"kind": "fixed", "mean": 0.0}, policy__name="none",
    )  # fmt: skip
    return float(model.jobs_frame()["response_ms"].max())


@pytest.mark.slow
@pytest.mark.parametrize("write", [nextflow, wfformat])
@pytest.mark.parametrize(
    ("percent", "cpus"),
    [
        *((99.9, 1), (100.0, 1), (100.1, 1), (104.9, 1), (101.3, "-"), (104.9, "-")),
        *((199.9, 2), (200.4, 2), (204.0, "-"), (300.1, 8), (705.0, "-")),
    ],
)
def test_a_job_alone_takes_as_long_as_its_row_ran(tmp_path: Path, write, percent: float, cpus: object) -> None:
    assert response_ms(write(tmp_path, percent, cpus)) == pytest.approx(RAN_MS, rel=0.06)


@pytest.mark.parametrize(
    ("percent", "cpus", "tasks"),
    [
        # ceil(busy - 0.1): 1.1 is one core, 1.11 are two; no fewer than one, no more than cpus.
        *((5.0, "-", 1), (110.0, "-", 1), (111.0, "-", 2), (210.0, "-", 2), (211.0, "-", 3), (130.0, "-", 2)),
        *((170.0, 1, 1), (350.0, 2, 2), (350.0, 16, 4), (170.0, 0, 2)),
    ],
)
def test_the_work_of_a_row_is_kept_whatever_its_tasks(tmp_path: Path, percent: float, cpus: object, tasks: int) -> None:
    (job,) = read_trace(nextflow(tmp_path, percent, cpus)).jobs.to_dict("records")
    assert job["tasks"] == tasks
    assert job["cpu_ms"] * tasks == pytest.approx(RAN_MS * percent / 100)


@pytest.mark.parametrize(("cores", "tasks", "busy"), [(1, 1, 1.0), (2, 2, 1.7), (0, 2, 1.7), (1.5, 1, 1.5)])
def test_a_workflows_task_has_no_more_tasks_than_cores(tmp_path: Path, cores: float, tasks: int, busy: float) -> None:
    """avgCPU of 170 %: no processor computes longer than the task is there; a coreCount of 0 says nothing."""
    (job,) = read_trace(wfformat(tmp_path, 170.0, cores)).jobs.to_dict("records")
    assert (job["tasks"], job["cpu_ms"] * tasks) == (tasks, pytest.approx(RAN_MS * busy))
