"""The shipped maps of cluster traces, on small tables of our own in their schemas: values worked by hand.

Each table is recognised by its content. A job of several cores is a task for each core, rounded up, which share its CPU
time: that of 2.5 cores for 60 s is 150 s on three tasks, 50 s each.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support import scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.workload.laws.bound import bound_ms
from cluster_abm.workload.traces import read_trace, trace_info

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
PODS = DATA / "logs" / "alibaba-gpu-2023-pods.csv.xz"
AFTER = 2**63 - 1  # the time of what Google's trace did not see
HASH = "x/XsOfHO4ocsV99i4NluqKDuxctW2MMVmwqOPAlg4wp8mqbBOe3wxBlQo0+Qx+uf"


def column(trace, name):
    return trace.table[name].tolist()


def same(found, expected):
    """Whether numbers are the same, NaN included."""
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def google(time_s, job, task, kind, cpu="0.03125", memory="0.0625", user="ann="):
    time_us = time_s if time_s in (0, AFTER) else round(time_s * 1e6)
    return f"{time_us},,{job},{task},,{kind},{user},2,9,{cpu},{memory},0.0003,0\n"


def test_a_task_of_google_2011_that_is_evicted_has_several_runs(trace_of):
    # Submitted at 600 s, runs 610 to 640, is submitted again, runs 700 to 790 s: 120 s of one core (1/32 of 32).
    trace = trace_of(
        google(600, 1, 0, 0) + google(610, 1, 0, 1) + google(640, 1, 0, 2)
        + google(640, 1, 0, 0) + google(700, 1, 0, 1) + google(790, 1, 0, 4)
        # Another task of the same job, of 2 cores: 5 s.
        + google(601, 1, 1, 0, cpu="0.0625") + google(602, 1, 1, 1, cpu="0.0625") + google(607, 1, 1, 5, cpu="0.0625"),
        "google-2011",
    )  # fmt: skip
    assert column(trace, "job") == ["1/0", "1/1"]
    same(column(trace, "arrival_ms"), [0.0, 1000.0])
    same(column(trace, "tasks"), [1, 2])
    same(column(trace, "cpu_ms"), [120_000.0, 5000.0])
    same(column(trace, "recorded_wait_ms"), [10_000.0, 1000.0])
    # 1/16 of 128 GB, of two tasks half of it each.
    same(column(trace, "memory_mb"), [8000.0, 4000.0])
    assert column(trace, "user") == ["ann=", "ann="]
    # Nine rows are two jobs.
    assert trace.rows == 9
    assert sum(trace.skipped.values()) == 7


def test_google_2011_what_was_before_or_after_the_trace_is_no_event_of_it(trace_of):
    trace = trace_of(
        # Was there before the trace began: its begin is not known.
        google(0, 1, 0, 0) + google(0, 1, 0, 1) + google(700, 1, 0, 4)
        # Updated while it waited and while it ran (7, 8), which neither begins nor ends a run.
        + google(700, 2, 0, 0) + google(701, 2, 0, 7) + google(702, 2, 0, 1) + google(705, 2, 0, 8)
        + google(712, 2, 0, 3)
        # Lost, when is not known.
        + google(800, 3, 0, 0) + google(801, 3, 0, 1) + google(AFTER, 3, 0, 6),
        "google-2011",
    )  # fmt: skip
    assert column(trace, "job") == ["2/0"]
    same(column(trace, "cpu_ms"), [10_000.0])
    assert trace.rows == 11


HEADER_2019 = (
    "time,type,collection_id,scheduling_class,collection_type,priority,instance_index,resource_request.cpus,"
    "resource_request.memory\n"
)


def test_google_2019_as_a_table_with_types_as_numbers(trace_of):
    rows = [
        # 1/32 of 64 cores are 2; of 256 GB 1/64 are 4 GB. Evicted after 10 s, submitted again, and killed after 5 s.
        "600000000,0,77,2,0,103,4,0.03125,0.015625", "600000001,1,77,2,0,103,4,0.03125,0.015625",
        "600000002,2,77,2,0,103,4,0.03125,0.015625", "603000000,3,77,2,0,103,4,0.03125,0.015625",
        "613000000,4,77,2,0,103,4,0.03125,0.015625", "613000000,0,77,2,0,103,4,0.03125,0.015625",
        "620000000,3,77,2,0,103,4,0.03125,0.015625", "625000000,7,77,2,0,103,4,0.03125,0.015625",
        # An instance of an alloc set.
        "600000000,0,78,2,1,103,0,0.5,0.5", "601000000,3,78,2,1,103,0,0.5,0.5", "900000000,6,78,2,1,103,0,0.5,0.5",
    ]  # fmt: skip
    trace = trace_of(HEADER_2019 + "\n".join(rows) + "\n", "google-2019")
    assert column(trace, "job") == ["77/4"]
    same(column(trace, "tasks"), [2])
    # 10 s and 5 s on two tasks.
    same(column(trace, "cpu_ms"), [15_000.0])
    same(column(trace, "memory_mb"), [2000.0])
    same(column(trace, "recorded_wait_ms"), [3000.0])
    assert trace.rows == 11


def test_google_2019_as_lines_of_json_with_types_as_names(trace_of):
    def line(time_us, kind, index, **more):
        request = {"cpus": 0.0078125, "memory": 0.001}  # half a core of 64
        known = {"time": str(time_us), "type": kind, "collection_id": "77", "collection_type": "JOB"}
        return json.dumps(known | {"instance_index": index, "resource_request": request} | more) + "\n"

    trace = trace_of(
        line(600_000_000, "SUBMIT", 4) + line(603_000_000, "SCHEDULE", 4) + line(613_000_000, "FINISH", 4)
        + line(613_000_000, "SUBMIT", 5) + line(614_000_000, "SCHEDULE", 5) + line(618_000_000, "FAIL", 5),
        "google-2019",
    )  # fmt: skip
    assert column(trace, "job") == ["77/4", "77/5"]
    same(column(trace, "tasks"), [1, 1])
    same(column(trace, "cpu_ms"), [5000.0, 2000.0])
    same(column(trace, "arrival_ms"), [0.0, 13_000.0])


def test_alibaba_2017(trace_of):
    trace = trace_of(
        "1000,1060,3,4,5,Terminated,50,0.01\n"
        "1030,1070,3,5,1,Terminated,300,0.05\n"
        "1040,1050,4,7,393,Waiting,,\n"
        "1050,1050,4,8,1,Terminated,100,0.01\n",
        "alibaba-2017",
    )
    assert column(trace, "job") == ["3/4", "3/5"]
    # Five instances of half a core for 60 s are five tasks of 30 s; one instance of 3 cores is three tasks.
    same(column(trace, "tasks"), [5, 3])
    same(column(trace, "cpu_ms"), [30_000.0, 40_000.0])
    # An instance has 1 % and 5 % of 128 GB; the latter is shared by three tasks.
    same(column(trace, "memory_mb")[0], 1280.0)
    assert trace.rows == 4
    assert trace.used == 2
    assert sorted(trace.skipped.values()) == [1, 1]


def test_the_names_of_tasks_of_alibaba_2018_say_what_they_come_after(trace_of):
    trace = trace_of(
        "M1,1,j_7,1,Terminated,100,110,100.0,0.5\n"
        "M2,2,j_7,1,Terminated,100,120,200.0,0.5\n"
        "R3_1_2,1,j_7,1,Terminated,120,130,50.0,1.0\n"
        # A job with the same numbers, and a task with a name that says nothing.
        "M1,1,j_8,1,Terminated,150,160,100.0,0.5\n"
        "R2_1,1,j_8,1,Terminated,160,165,100.0,0.5\n"
        "task_Nzg3ODAwNDgzMTAwNTc2NTQ2Mw==,1,j_8,1,Terminated,161,165,100.0,0.5\n"
        "M4,1,j_9,1,Running,170,0,100.0,0.5\n"
        "M5,1,j_9,1,Failed,170,180,100.0,0.5\n",
        "alibaba-2018",
    )
    same(column(trace, "tasks"), [1, 4, 1, 1, 1, 1])
    same(column(trace, "cpu_ms"), [10_000.0, 20_000.0, 5000.0, 10_000.0, 5000.0, 4000.0])
    assert trace.parents is not None
    pairs = sorted(zip(trace.parents.waiting.tolist(), trace.parents.parent.tolist(), strict=True))
    assert pairs == [(2, 0), (2, 1), (4, 3)]
    assert trace_info(trace)["recorded_wait_s"] is None
    # Half a per cent of 512 GB for each instance; M2's two instances of two cores are four tasks.
    same(column(trace, "memory_mb")[:1], [2560.0])
    assert trace.rows == 8
    assert trace.used == 6


def test_alibaba_gpu_2020(trace_of):
    trace = trace_of(
        "4f057009a5d481acec67b088,tensorflow,1.0,Terminated,1739162.0,1739200.0,600.0,29.296875,50.0,MISC\n"
        "4f057009a5d481acec67b088,ps,2.0,Failed,1739170.0,1739180.0,100.0,10.0,0.0,MISC\n"
        "aaaa7009a5d481acec67b088,worker,1.0,Running,1739171.0,,600.0,29.296875,50.0,P100\n"
        "bbbb7009a5d481acec67b088,worker,1.0,Waiting,,,600.0,29.296875,50.0,\n",
        "alibaba-gpu-2020",
    )
    assert column(trace, "job") == ["4f057009a5d481acec67b088/tensorflow", "4f057009a5d481acec67b088/ps"]
    same(column(trace, "tasks"), [6, 2])
    same(column(trace, "cpu_ms"), [38_000.0, 10_000.0])
    assert trace_info(trace)["resources"] == {"gpu": {"jobs": 1, "total": 0.5}}
    # 30,000 MiB on six tasks; 10 GiB an instance.
    same(column(trace, "memory_mb"), [30_000 * 1.048576 / 6, 10 * 1024 * 1.048576])
    assert trace.rows == 4
    assert sorted(trace.skipped.values()) == [2]


PODS_HEADER = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)


def test_alibaba_gpu_2023(trace_of):
    trace = trace_of(
        PODS_HEADER + "p-0,2500,3000,1,460,,LS,Running,1000,1100,1040\n"
        "p-1,8000,16000,8,1000,G2|P100,BE,Succeeded,1030,1050,1030\n"
        "p-2,1000,1000,0,0,,BE,Failed,1040,1044,1042\n"
        "p-3,4000,1000,1,1000,,BE,Pending,1050,1060,\n",
        "alibaba-gpu-2023",
    )
    assert column(trace, "job") == ["p-0", "p-1", "p-2"]
    same(column(trace, "tasks"), [3, 8, 1])
    # 2.5 cores for 60 s on three tasks.
    same(column(trace, "cpu_ms"), [50_000.0, 20_000.0, 2000.0])
    same(column(trace, "memory_mb"), [1048.576, 2097.152, 1048.576])
    same(column(trace, "recorded_wait_ms"), [40_000.0, 0.0, 2000.0])
    same(column(trace, "arrival_ms"), [0.0, 30_000.0, 40_000.0])
    assert trace.rows == 4
    assert sum(trace.skipped.values()) == 1


def test_azure_vm_2017_uses_the_cpu_that_it_was_seen_to_use(trace_of):
    vm = f"{HASH},{HASH[:-1]}A,{HASH[:-1]}B"
    trace = trace_of(
        f"{vm},0,3000,99.0,10.0,90.0,Delay-insensitive,4,7\n{vm}c,600,1600,80,50.5,70,Interactive,1,1.75\n",
        "azure-vm-2017",
    )
    # A tenth of four cores for 3000 s: each of four tasks 300 s.
    same(column(trace, "tasks"), [4, 1])
    same(column(trace, "cpu_ms"), [300_000.0, 505_000.0])
    same(column(trace, "memory_mb"), [7 * 1073.741824 / 4, 1.75 * 1073.741824])
    assert column(trace, "user") == [f"{HASH[:-1]}A"] * 2


def test_azure_vm_2019_a_bucket_counts_as_its_bound(trace_of):
    vm = f"{HASH},{HASH[:-1]}A,{HASH[:-1]}B"
    trace = trace_of(
        f"{vm},0,3000,99.0,10.0,90.0,Delay-insensitive,4,8\n{vm},600,1600,80,50,70,Unknown,>24,>64\n", "azure-vm-2019"
    )
    same(column(trace, "tasks"), [4, 24])
    same(column(trace, "cpu_ms"), [300_000.0, 500_000.0])
    same(column(trace, "memory_mb"), [8 * 1073.741824 / 4, 64 * 1073.741824 / 24])


def test_azure_functions_2019_spreads_the_invocations_of_a_minute(trace_of):
    minutes = [0] * 1440
    minutes[1] = 3
    other = [0] * 1440
    other[1439] = 1
    header = ",".join(["HashOwner", "HashApp", "HashFunction", "Trigger", *map(str, range(1, 1441))])
    rows = [",".join(["o", "a", "f", "http", *map(str, minutes)]), ",".join(["o", "a", "g", "timer", *map(str, other)])]
    trace = trace_of("\n".join([header, *rows]) + "\n", "azure-functions-2019")
    # Three in the second minute: at 70, 90 and 110 s; one in the middle of the last one.
    same(column(trace, "arrival_ms"), [0.0, 20_000.0, 40_000.0, 86_370_000.0 - 70_000.0])
    assert column(trace, "name") == ["f", "f", "f", "g"]
    assert trace_info(trace)["filled"]["cpu_ms"] == "in no row: by workload.cpu_ms"


def test_philly(trace_of):
    def attempt(start, end, *servers):
        detail = [
            {"ip": f"m{number}", "gpus": [f"gpu{one}" for one in range(gpus)]} for number, gpus in enumerate(servers)
        ]
        return {"start_time": start, "end_time": end, "detail": detail}

    def job(name, submitted, *attempts):
        known = {"status": "Pass", "vc": "v1", "jobid": name, "attempts": list(attempts)}
        return known | {"submitted_time": submitted, "user": "u1"}

    day = "2017-10-07"
    jobs = [
        # Two attempts: runs from 01:12:09 to 01:20:09, the last time on 8 + 4 GPUs.
        job(
            "a", f"{day} 01:11:39", attempt(f"{day} 01:12:09", f"{day} 01:13:23", 8),
            attempt(f"{day} 01:13:30", f"{day} 01:20:09", 8, 4),
        ),
        job("b", f"{day} 01:12:39", attempt(f"{day} 01:12:49", "None", 1)),
        job("c", f"{day} 01:13:39"),
        # Clocks go back on 2017-11-05 at 02:00: from 00:30 to 03:30 are four hours.
        job("d", "2017-11-05 00:30:00", attempt("2017-11-05 00:30:00", "2017-11-05 03:30:00", 1)),
    ]  # fmt: skip
    trace = trace_of(json.dumps(jobs, indent=1), "philly")
    assert column(trace, "job") == ["a", "d"]
    same(column(trace, "tasks"), [12, 1])
    same(column(trace, "cpu_ms"), [480_000.0, 4 * 3_600_000.0])
    same(column(trace, "recorded_wait_ms"), [30_000.0, 0.0])
    assert trace_info(trace)["resources"] == {"gpu": {"jobs": 2, "total": 13.0}}
    assert trace.rows == 4
    assert sum(trace.skipped.values()) == 2


def test_helios(trace_of):
    trace = trace_of(
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
        "11,uX,vcA,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:37,2020-06-09 18:45:36,239,10\n"
        "12,uY,vcB,0,1,1,COMPLETED,2020-06-09 18:42:27,2020-06-09 18:42:27,2020-06-10 18:42:27,86400,0\n",
        "helios",
    )
    same(column(trace, "tasks"), [16, 1])
    same(column(trace, "cpu_ms"), [239_000.0, 86_400_000.0])
    same(column(trace, "recorded_wait_ms"), [10_000.0, 0.0])
    same(column(trace, "arrival_ms"), [0.0, 60_000.0])
    assert column(trace, "user") == ["uX", "uY"]


def test_a_file_with_fewer_cells_than_the_map_has_columns(tmp_path):
    path = tmp_path / "another.csv"
    path.write_text("6459,6524,3,4,15740,Terminated,50,0.007956928\n")
    wanted = "column 'cpu_request' is number 10: the first row has 8 cells$"
    with pytest.raises(InputError, match=wanted):
        read_trace(path, format="google-2011")


def scenario_of(path, **workload):
    return scenario(
        workload={"kind": "trace", "trace": {"file": str(path)}, "io_per_ms": {"kind": "fixed", "mean": 0.0}}
        | workload,
        negotiation={"remote_execution_ms": 0.0},
    )


def test_slowdowns_of_a_batch_systems_map_are_bounded_as_those_of_its_logs(tmp_path):
    # One second of CPU time is short for a batch system; it is the map that says what it is.
    path = tmp_path / "cluster_log.csv"
    path.write_text(
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
        "11,uX,vcA,4,1,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:37,2020-06-09 18:41:38,1,10\n"
    )
    assert bound_ms(scenario_of(path)) == 10_000.0
    pods = tmp_path / "pods.csv"
    pods.write_text(PODS_HEADER + "p-0,1000,3000,0,0,,LS,Running,1000,1041,1040\n")
    # A hundredth of the second that a pod takes.
    assert bound_ms(scenario_of(pods)) == pytest.approx(10.0)


def test_cpu_times_that_a_file_does_not_say_are_drawn(tmp_path):
    path = tmp_path / "functions.csv"
    header = ",".join(["HashOwner", "HashApp", "HashFunction", "Trigger", *map(str, range(1, 1441))])
    path.write_text(header + "\n" + ",".join(["o", "a", "f", "http", "3", *["0"] * 1439]) + "\n")
    found = scenario_of(path, cpu_ms={"kind": "fixed", "mean": 200.0})
    assert bound_ms(found) == pytest.approx(2.0)
    model = ClusterModel(found, seed=1)
    model.run()
    jobs = model.jobs_frame()
    assert jobs["arrival_ms"].tolist() == [0.0, 20_000.0, 40_000.0]
    assert jobs["cpu_ms"].tolist() == [200.0] * 3


@pytest.mark.skipif(not PODS.exists(), reason="the real pods are not here")
def test_the_real_pods_of_2023_counted_by_pandas():
    pods = pd.read_csv(PODS)
    ran = pods[pods["pod_phase"] != "Pending"]
    run_s, cores = ran["deletion_time"] - ran["scheduled_time"], ran["cpu_milli"] / 1000
    trace = read_trace(PODS)
    assert trace.format == "alibaba-gpu-2023"
    assert (trace.rows, trace.used) == (len(pods), len(ran)) == (8152, 7255)
    assert list(trace.skipped.values()) == [int((pods["pod_phase"] == "Pending").sum())]
    work_s = trace.table["cpu_ms"] * trace.table["tasks"] / 1000.0
    assert float(work_s.sum()) == pytest.approx(float((run_s * cores).sum()), rel=1e-9)
    gpus = ran["num_gpu"] * ran["gpu_milli"] / 1000
    found = trace_info(trace)["resources"]["gpu"]
    assert found["jobs"] == int((gpus > 0).sum())
    assert found["total"] == pytest.approx(float(gpus.sum()))
    waits_s = (ran["scheduled_time"] - ran["creation_time"]).sort_values().to_numpy(float)
    same(np.sort(trace.table["recorded_wait_ms"].to_numpy(float)) / 1000.0, waits_s)
