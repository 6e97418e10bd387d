"""What a processor of a log is on the simulated machine: a task, a core or a node; and whose its memory is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, load_scenario, scenario_from
from cluster_abm.workload.jobs import job_table

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real logs are not here; CLUSTER_ABM_DATA says where")

# Submit, run, processors, CPU time [s], used and requested memory [KB]; a blank row that waited only.
ROWS = ((0, 100, 3, 80, 600, 900), (5, 50, 4, 0, -1, 300), (9, 60, 1, -1, 800, 0), (9, 0, 2, 7, 500, 400))


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A log of four jobs."""
    path = tmp_path / "log.swf"
    path.write_text(
        "; MaxProcs: 4\n"
        + "".join(
            f"{number} {submit} 2 {run} {tasks} {cpu} {used} {tasks} 200 {requested} 1 1 1 1 1 1 -1 -1\n"
            for number, (submit, run, tasks, cpu, used, requested) in enumerate(ROWS, 1)
        )
    )
    return str(path)


def machine(file: str, nodes: int = 2, cores: int = 2, **trace: Any) -> Scenario:
    """A cluster that runs a file; jobs without memory get 7 MB."""
    tree: dict[str, Any] = {
        "cluster": {"nodes": nodes, "cores": cores, "quantum_ms": "inf", "context_switch_ms": 0.0},
        "workload": {"kind": "trace", "memory_mb": {"kind": "fixed", "mean": 7.0}, "trace": {"file": file, **trace}},
        "policy": {"name": "batch-system"},
        "negotiation": {"mode": "papers", "remote_execution_ms": 0.0},
    }
    return scenario_from(tree, "test", {})


def column(name: str, *arguments: Any, **keys: Any) -> list[float]:
    """A column of the job table."""
    values: list[float] = job_table(machine(*arguments, **keys), seed=1)[name].tolist()
    return values


def refusal(*arguments: Any, **keys: Any) -> str:
    with pytest.raises(InputError) as caught:
        job_table(machine(*arguments, **keys), seed=1)
    return str(caught.value)


def test_a_processor_is_a_task_unless_said_otherwise_however_few_cores_there_are(log: str) -> None:
    assert column("tasks", log, nodes=1, cores=1) == [3, 1, 2]
    assert np.array_equal(
        job_table(machine(log), 1),
        job_table(machine(log, processor="task", cpu_time="used", memory="used", memory_per="processor"), 1),
    )


def test_as_a_core_it_is_the_same_task_where_the_machine_has_the_cores(log: str) -> None:
    assert column("tasks", log, processor="core") == [3, 1, 2]
    assert column("tasks", log, nodes=3, cores=1, processor="core") == [3, 1, 2]


def test_a_node_has_as_many_tasks_as_cores_and_they_share_its_memory(log: str) -> None:
    assert column("tasks", log, nodes=3, cores=4, processor="node") == [12, 4, 8]
    assert column("memory_mb", log, nodes=3, cores=4, processor="node") == pytest.approx([0.15, 0.2, 0.125])
    assert column("cpu_ms", log, nodes=3, cores=4, processor="node") == [80_000, 60_000, 7000]


@pytest.mark.parametrize(
    ("whose", "processor", "expected"),
    [
        # 600 KB are those of one of three processors, of each of the two nodes they are on, or of all three.
        ("processor", "core", [0.6, 0.8, 0.5]),
        ("node", "core", [0.4, 0.8, 0.25]),
        ("job", "core", [0.2, 0.8, 0.25]),
        # As nodes, of two tasks each.
        ("processor", "node", [0.3, 0.4, 0.25]),
        ("node", "node", [0.3, 0.4, 0.25]),
        ("job", "node", [0.1, 0.4, 0.125]),
    ],
)
def test_memory_is_that_of_a_processor_a_node_or_a_job(
    log: str, whose: str, processor: str, expected: list[float]
) -> None:
    assert column("memory_mb", log, nodes=4, processor=processor, memory_per=whose) == pytest.approx(expected)


def test_memory_may_be_what_was_requested_or_drawn_as_it_is_for_jobs_without(log: str) -> None:
    assert column("memory_mb", log, memory="requested") == [0.9, 7.0, 0.4]
    assert column("memory_mb", log, memory="drawn") == [7.0, 7.0, 7.0]
    assert column("memory_mb", log, cpu_time="run") == [0.6, 7.0, 0.8, 0.5]


def test_run_times_stand_in_for_cpu_times_and_keep_jobs_that_held_processors_without_computing(log: str) -> None:
    assert column("cpu_ms", log) == [80_000, 60_000, 7000]
    assert column("cpu_ms", log, cpu_time="run") == [100_000, 50_000, 60_000, 7000]
    assert column("tasks", log, cpu_time="run") == [3, 4, 1, 2]


def test_a_job_wider_than_all_cores_is_refused_with_the_widest_and_how_many_there_are(log: str) -> None:
    said = refusal(log, nodes=1, cores=2, processor="core", cpu_time="run")
    assert "log.swf: 4 processors of the job at 5000 ms (2 such jobs)" in said
    assert 'workload.trace.processor = "core" allows 2 cores on 1 nodes' in said
    assert "workload.trace.max_tasks" in said


def test_a_job_wider_than_all_nodes_is_refused_where_processors_are_nodes(log: str) -> None:
    said = refusal(log, nodes=2, cores=8, processor="node")
    assert "3 processors of the job at 0 ms (1 such jobs)" in said
    assert "allows 2 nodes" in said


def test_what_is_left_out_or_cut_is_not_too_wide(log: str) -> None:
    assert column("tasks", log, nodes=1, cores=2, processor="core", start_s=6.0) == [1, 2]
    assert column("tasks", log, nodes=1, cores=2, processor="core", max_tasks=2) == [2, 1, 2]
    # A task of a job that is cut has the memory that it had.
    assert column("memory_mb", log, max_tasks=1, memory_per="job") == pytest.approx([0.2, 0.8, 0.25])


@pytest.mark.parametrize(("key", "plain"), [("processor", "task"), ("memory_per", "processor")])
def test_nodes_unlike_in_cores_have_no_number_of_tasks(log: str, key: str, plain: str) -> None:
    tree: dict[str, Any] = {
        "cluster": {"nodes": 2, "cores": 2, "group": [{"count": 1, "cores": 4}]},
        "workload": {"kind": "trace", "trace": {"file": log, key: "node"}},
    }
    with pytest.raises(InputError, match=rf'workload\.trace\.{key} "node": nodes differ in cores \(2, 4\).*"{plain}"'):
        scenario_from(tree, "test", {})
    tree["cluster"]["group"][0]["count"] = 2
    assert scenario_from(tree, "test", {}).workload.trace.model_dump()[key] == "node"


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        ({"cpu_time": "run"}, 'workload.trace.cpu_time = "run": needs the column recorded_run_ms, which it lacks'),
        ({"memory": "requested"}, 'workload.trace.memory = "requested": allowed for these formats alone: swf'),
        ({"processor": "core"}, 'workload.trace.processor = "core": 1 of the chosen jobs say no tasks'),
        ({"memory_per": "job"}, 'workload.trace.memory_per = "job": 1 of the chosen jobs say no tasks'),
    ],
)
def test_what_a_csv_does_not_say_is_no_choice(tmp_path: Path, trace: dict[str, str], said: str) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms,memory_mb,tasks\n0,10,4,2\n1,10,4,\n")
    assert f"{path}: {said}" in refusal(str(path), **trace)
    path.write_text("arrival_ms,cpu_ms,memory_mb,tasks\n0,10,4,2\n1,10,4,1\n")
    if "alone" not in said and "lacks" not in said:
        assert column("tasks", str(path), **trace) == [2, 1]


@pytest.mark.parametrize("key", ["processor", "cpu_time", "memory", "memory_per"])
def test_other_values_are_refused_with_what_is_allowed(log: str, key: str) -> None:
    with pytest.raises(InputError, match=rf"workload\.trace\.{key}"):
        machine(log, **{key: "socket"})


def test_a_batch_system_gives_a_core_to_each_processor_and_queues_jobs_in_order(log: str) -> None:
    model = ClusterModel(machine(log, processor="core", cpu_time="run", memory="drawn"), seed=1)
    model.run()
    tasks = model.jobs_frame()
    ends = tasks.groupby("job")["finish_ms"].max().to_numpy()
    # Four cores: three until 100 s; then all four until 150 s, since none overtakes; then one until 210 s, two more
    # until 157 s.
    assert ends == pytest.approx([100_000, 150_000, 210_000, 157_000], abs=50.0)
    # A core each, two of them on a node.
    wide = tasks[tasks["job"] == tasks["job"].min() + 1]
    assert sorted(wide["node"].tolist()) == [0, 0, 1, 1]
    assert tasks["cpu_queue_ms"].max() == 0.0


@needs_data
@pytest.mark.parametrize(
    ("name", "file", "processors"),
    [("replay-hpc2n", "HPC2N-2002-2.2-cln.swf.xz", 240), ("replay-lanl-cm5", "LANL-CM5-1994-4.1-cln.swf.xz", 1024)],
)
def test_real_logs_fit_their_own_machines_and_no_smaller_one(name: str, file: str, processors: int) -> None:
    keys = {"workload.trace.file": str(DATA / file)}
    scenario = load_scenario(name, keys)
    assert scenario.cluster.nodes * scenario.cluster.cores == processors
    jobs = job_table(scenario, seed=1)
    assert (jobs["tasks"] <= processors).all()
    widest = int(jobs["tasks"].max())
    assert (jobs["memory_mb"] > 0).all()
    with pytest.raises(InputError, match=f"{widest:,} processors of the job"):
        job_table(load_scenario(name, {**keys, "cluster.nodes": widest // scenario.cluster.cores - 1}), seed=1)


@needs_data
def test_hpc2n_requests_of_two_processors_fit_a_node_for_nearly_all_jobs() -> None:
    scenario = load_scenario("replay-hpc2n", {"workload.trace.file": str(DATA / "HPC2N-2002-2.2-cln.swf.xz")})
    memory_mb = job_table(scenario, seed=1)["memory_mb"]
    assert np.mean(np.abs(memory_mb - 409.6) < 1e-6) > 0.94
    assert np.mean(2 * memory_mb <= scenario.cluster.memory_mb) > 0.98
