"""The shipped maps of accounting logs and public job tables, on small files of our own in their schemas: by hand.

Each file is recognised by its content. A job of several cores is a task for each, which share its CPU time and memory.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import read_trace

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "logs"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real logs are not here; CLUSTER_ABM_DATA says where")
FILTERED = "left out by the filter"
T = 1_700_000_000  # when the first job of each file is submitted [s since 1970]


def same(trace, **expected):
    """Check columns of the jobs: NaN where None is expected."""
    for name, values in expected.items():
        found = trace.table[name].tolist()
        if any(isinstance(value, str) for value in values):
            assert found == values, name
        else:
            np.testing.assert_allclose(found, [np.nan if one is None else one for one in values], 1e-9, err_msg=name)


PBS = (
    # Torque: four slots on two hosts; 300 s; 10 minutes of CPU time; 8,000 KiB.
    f"11/14/2023 22:19:20;E;1.srv;user=ann group=phys jobname=sim queue=long ctime={T} qtime={T + 1} etime={T + 1} "
    f"start={T + 60} exec_host=n1/0+n1/1+n2/0+n2/1 Resource_List.ncpus=1 Resource_List.nodes=2:ppn=2 "
    f"Resource_List.walltime=01:00:00 end={T + 360} resources_used.cput=00:10:00 resources_used.mem=8000kb\n"
    # PBS Professional: 16 cores, of which PBS saw no CPU time; 100 s; its walltime is in seconds.
    f"11/14/2023 22:19:20;E;2.srv;user=bob group=bio jobname=00:00:00 queue=gpu ctime={T + 10} start={T + 20} "
    f"exec_host=n1/0*16 Resource_List.ngpus=2 Resource_List.walltime=1800 end={T + 120} resources_used.ncpus=16 "
    f"resources_used.cput=00:00:00 resources_used.mem=1gb\n"
    # A start, a job that was deleted while it waited, and a line that is cut off.
    f"11/14/2023 22:20:00;S;3.srv;user=bob queue=gpu ctime={T + 20} start={T + 30}\n"
    f"11/14/2023 22:20:00;E;4.srv;user=bob queue=gpu ctime={T + 20} start=0 end={T + 50}\n"
    "11/14/2023 22:20\n"
    # Without hosts: the nodes that it asked for, 3 cores and 2 GPUs each; a day and an hour.
    f"11/14/2023 22:20:00;E;5[1].srv;user=ann group=phys queue=gpu ctime={T + 30} start={T + 30} "
    f"end={T + 90} Resource_List.nodes=2:ppn=3:gpus=2 Resource_List.walltime=25:00:00\n"
)


def test_pbs(trace_of):
    trace = trace_of(PBS, "pbs")
    same(
        trace,
        job=["1.srv", "2.srv", "5[1].srv"],
        arrival_ms=[0, 10_000, 30_000],
        recorded_wait_ms=[60_000, 10_000, 0],
        tasks=[4, 16, 6],
        cpu_ms=[150_000, 100_000, 60_000],
        memory_mb=[2.048, 2**30 / 1e6 / 16, None],
        requested_ms=[3_600_000, 1_800_000, 90_000_000],
        user=["ann", "bob", "ann"],
        group=["phys", "bio", "phys"],
        partition=["long", "gpu", "gpu"],
        name=["sim", "00:00:00", ""],
        resources=["", "gpu:2", "gpu:4"],
    )
    assert trace.begins_at_ms == T * 1000
    assert trace.skipped == {FILTERED: 2, "1 cells where 4 are expected": 1}
    assert trace.noted["CPU time not known, run time used"] == 2


def lsf(
    job, *, processors=4, asked=(), hosts=("3*n1", "n2"), start=60, end=360, usage=(500.0, 100.0), rest=True, **other
):
    """A JOB_FINISH record with seconds from T, as LSF writes it."""
    kind, memory, index = other.get("kind", "JOB_FINISH"), other.get("memory", 8000), other.get("index", 0)
    most, name = other.get("most", processors), other.get("name", 'sim ""fast""')

    def quoted(texts):
        return " ".join(f'"{text}"' for text in texts)

    listed = f"{len(asked)}{' ' if asked else ''}{quoted(asked)} {len(hosts)}{' ' if hosts else ''}{quoted(hosts)}"
    begin = (
        f'"{kind}" "10.1" {T + end} {job} 1001 33 {processors} {T} 0 0 {T + start if start else 0} "ann" "long" '
        f'"span[hosts=1]" "" "" "login" "/home/ann" "" "out" "" "{T}.{job}" {listed} 64 12.5 "{name}" '
        f'"#!/bin/sh;  run ""it"""'
    )
    if not rest:
        return begin + "\n"
    rusage = f"{usage[0]:.6f} {usage[1]:.6f} " + " ".join(["-1"] * 17)
    return f'{begin} {rusage} "" "climate" 0 {most} "" "" {index} {memory} 0 "" "" "" "" 0\n'


def test_lsf(trace_of):
    trace = trace_of(
        lsf(1)
        # Asked for hosts, which shifts the cells behind them; one processor; a task of an array.
        + lsf(2, processors=1, asked=("n1", "n2", "n3"), hosts=("n3",), start=10, end=20, usage=(4.0, 1.0), index=7)
        + lsf(3, hosts=(), start=0)
        + lsf(4, kind="JOB_RESIZE")
        # Usage that is not known, and a version without it: run time x processors.
        + lsf(5, processors=2, hosts=("2*n1",), usage=(-1.0, -1.0), memory=-1)
        + lsf(6, processors=2, hosts=("n1", "n1"), rest=False)
        # Cut off: the hosts are missing.
        + lsf(7).partition(' 2 "3*n1"')[0]
        + "\n",
        "lsf",
    )
    same(
        trace,
        job=["1/0", "2/7", "5/0", "6/"],
        recorded_wait_ms=[60_000, 10_000, 60_000, 60_000],
        tasks=[4, 1, 2, 2],
        cpu_ms=[150_000, 5000, 300_000, 300_000],
        memory_mb=[8000 * 1024 / 1e6 / 4, 8.192, None, None],
        user=["ann"] * 4,
        group=["climate", "climate", "climate", ""],
        partition=["long"] * 4,
        name=['sim "fast"'] * 4,
    )
    assert trace.skipped[FILTERED] == 2
    assert trace.noted["CPU time not known, run time used"] == 2
    assert trace.skipped == {FILTERED: 2, "ends within its lists": 1}


def test_lsf_counts_what_a_job_had_not_what_it_asked_for(trace_of):
    """Two to eight were asked for (bsub -n 2,8), and four had; without hosts the most that was asked for."""
    asked = {"processors": 2, "most": 8, "usage": (40.0, 20.0)}
    trace = trace_of(
        lsf(1, hosts=("n1", "n1", "n2", "n2"), **asked)
        + lsf(2, hosts=("3*n1", "n2"), **asked)
        + lsf(3, hosts=(), **asked)
        # A job may be called as what is not known of others.
        + lsf(4, hosts=(), processors=3, most=-1, name="-1", rest=False),
        "lsf",
    )
    same(trace, tasks=[4, 4, 8, 3], cpu_ms=[15_000, 15_000, 7500, 300_000], name=['sim "fast"'] * 3 + ["-1"])


def sge(job, *, unit=1, submit=0, start=60, end=360, slots=4, task=0, cpu=600.0, part="NONE", more="", category="NONE"):
    """A line of the file accounting, with times in s or ms."""
    submit, start, end = ((T + time) * unit if time is not None else 0 for time in (submit, start, end))
    return (
        f"long.q:n1:phys:ann:sim:{job}:sge:0:{submit}:{start}:{end}:0:0:300:500.5:99.5:104188.0:0:0:0:0:28001:0:0:0.0:24:"
        f"0:0:0:41:549:NONE:dep:mpi:{slots}:{task}:{cpu}:7.33:0.00004:{category}:0.0:{part}:8192000.0:0:0{more}\n"
    )


REQUEST = "-u ann,bob -l h_rt=3600,gpu=2,mem_free=4G -pe mpi 4"


def test_sge(trace_of):
    trace = trace_of(
        "# Version: 8.1.9\n#\n# DO NOT MODIFY THIS FILE MANUALLY!\n#\n"
        + sge(1, category=REQUEST)
        + sge(2, task=3, slots=1, cpu=10.0, start=10, end=20, category="-l h_rt=3605")
        # A part of a parallel job, and a job that never started.
        + sge(1, part="1.n2", submit=None)
        + sge(3, start=None, end=None),
        "sge",
    )
    same(
        trace,
        job=["1/0", "2/3"],
        recorded_wait_ms=[60_000, 10_000],
        tasks=[4, 1],
        cpu_ms=[150_000, 10_000],
        memory_mb=[2.048, 8.192],
        requested_ms=[3_600_000, 3_605_000],
        user=["ann", "ann"],
        group=["phys", "phys"],
        partition=["long.q", "long.q"],
        name=["sim", "sim"],
        resources=["gpu:2", ""],
    )
    assert trace.begins_at_ms == T * 1000
    assert trace.skipped == {FILTERED: 2}


def test_sge_of_univa(trace_of):
    # Milliseconds, and more cells: job_class, qdel_info, maxrss, maxpss, ...
    more = ":NONE:NONE:4096000:4000000:login:/home/ann:qsub job.sh:300.5:0:NONE"
    trace = trace_of(sge(1, unit=1000, more=more) + sge(2, unit=1000, submit=1.5, start=2, end=5, more=more), "sge")
    same(trace, arrival_ms=[0, 1500], recorded_wait_ms=[60_000, 500], cpu_ms=[150_000, 3000], memory_mb=[1.024] * 2)
    assert trace.begins_at_ms == T * 1000
    # 600 s of CPU time in 3 s on 4 cores cannot be.
    assert trace.noted["CPU time above that of its processors, cut to it"] == 1


CONDOR = [
    {
        "ClusterId": 7, "ProcId": 0, "JobUniverse": 5, "JobStatus": 4, "QDate": T, "JobStartDate": T + 30,
        "CompletionDate": T + 130, "RemoteWallClockTime": 100.0, "RemoteUserCpu": 150.0, "RemoteSysCpu": 10.0,
        "CpusProvisioned": 2, "RequestCpus": 1, "ResidentSetSize": 2000, "BlockReadKbytes": 1000,
        "BlockWriteKbytes": 500, "Owner": "ann", "AcctGroup": "phys", "Cmd": '/bin/a "b"', "RequestGPUs": 1,
        "AllowedJobDuration": 600,
    },
    # The manager of a workflow, which runs on the submit machine.
    {"ClusterId": 8, "ProcId": 0, "JobUniverse": 7, "QDate": T + 1, "RemoteWallClockTime": 9000.0},
    # Stopped once and started again: 80 s in all, 60 of them on its CPU, removed in the end.
    {
        "ClusterId": 9, "ProcId": 3, "JobUniverse": 5, "JobStatus": 3, "QDate": T + 2, "JobStartDate": T + 5,
        "JobCurrentStartDate": T + 50, "CompletionDate": 0, "RemoteWallClockTime": 80.0, "RemoteUserCpu": 20.0,
        "RemoteSysCpu": 1.0, "CumulativeRemoteUserCpu": 55.0, "CumulativeRemoteSysCpu": 5.0, "RequestCpus": 1,
        "Owner": "bob", "AccountingGroup": "bio.bob",
    },
    # Removed before it ran.
    {"ClusterId": 10, "ProcId": 0, "JobUniverse": 5, "JobStatus": 3, "QDate": T + 3, "RemoteWallClockTime": 0.0},
    # An older log: without a wall clock time and a number of cores, which is then 1.
    {
        "ClusterId": 11, "ProcId": 0, "QDate": T + 4, "JobCurrentStartDate": T + 14, "CompletionDate": T + 34,
        "RemoteUserCpu": 8.0, "RemoteSysCpu": 2.0, "Owner": "bob",
    },
]  # fmt: skip


def long_form(ad):
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in ad.items()) + "Requirements = (A == 1)\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "".join(map(long_form, CONDOR)),
        "".join(long_form(ad).rstrip("\n") + f"\n*** Offset = 0 ClusterId = {ad['ClusterId']}\n" for ad in CONDOR),
        json.dumps(CONDOR, indent=2),
        "".join(json.dumps(ad) + "\n" for ad in CONDOR),
    ],
    ids=["-long", "history file", "-json", "-jsonl"],
)
def test_htcondor(trace_of, text):
    trace = trace_of(text, "htcondor")
    same(
        trace,
        job=["7/0", "9/3", "11/0"],
        arrival_ms=[0, 2000, 4000],
        recorded_wait_ms=[30_000, 3000, 10_000],
        tasks=[2, 1, 1],
        cpu_ms=[80_000, 60_000, 10_000],
        memory_mb=[1.024, None, None],
        requested_ms=[600_000, None, None],
        user=["ann", "bob", "bob"],
        group=["phys", "bio.bob", ""],
        name=['/bin/a "b"', "", ""],
        resources=["gpu:1", "", ""],
    )
    # 1,500 KiB of two tasks, a third of it written.
    same(trace, disk_mb=[0.768, None, None], write_share=[1 / 3, None, None])
    assert trace.skipped == {FILTERED: 1, "zero run time": 1}


GWF = "# GWF\n# JobID SubmitTime WaitTime RunTime NProcs AverageCPUTimeUsed UsedMemory ...\n"


def gwf(job, submit, wait, run, processors, cpu, memory, asked, limit):
    return (
        f"{job} {submit}\t{wait} {run}  {processors} {cpu} {memory} {asked} {limit} -1 1 U{job % 2} G1 X{job} Q1 -1 "
        "O1 L1 UNITARY -1 -1 -1 -1 -1 -1 -1 -1 V1 P1\n"
    )


def test_gwf(trace_of):
    trace = trace_of(
        GWF
        # CPU time and memory of one processor.
        + gwf(1, T, 5, 100, 4, 80, 1000, 4, 600)
        # Processors that are known as a request alone; no CPU time; no wait.
        + gwf(2, T + 10, -1, 50, -1, -1, -1, 2, -1)
        + gwf(3, T + 20, 0, -1, 1, -1, -1, 1, -1)
        + "4 cut off\n",
        "gwf",
    )
    same(
        trace,
        job=["1", "2"],
        arrival_ms=[0, 10_000],
        recorded_wait_ms=[5000, None],
        tasks=[4, 2],
        cpu_ms=[80_000, 50_000],
        memory_mb=[1.024, None],
        requested_ms=[600_000, None],
        user=["U1", "U0"],
        group=["G1", "G1"],
        partition=["Q1", "Q1"],
        name=["X1", "X2"],
    )
    assert trace.skipped == {"no run time": 1, "3 cells where 29 are expected": 1}


def test_batsim(trace_of):
    profiles = {
        "wait": {"type": "delay", "delay": 20.25},
        "same": {"type": "parallel_homogeneous", "cpu": 5e9, "com": 1e6},
        "each": {"type": "ParallelTaskProfile", "cpu": [1e9, 0, 3e9], "com": [0] * 9},
        "total": {"type": "parallel_homogeneous_total", "cpu": 5e9, "com": 1e6},
        "spread": {
            "type": "ParallelTaskHomogeneousProfile", "cpu": 5e9,
            "generation_strategy": "DefinedAmountsSpreadUniformly",
        },
        "chain": {"type": "composed", "seq": ["wait", "same"]},
        "talk": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e6},
    }  # fmt: skip
    names = ["wait", "same", "each", "total", "spread", "chain", "talk", "none such"]
    jobs = [
        {"id": f"j{at}", "subtime": 2 * at, "walltime": -1 if at == 1 else 100, "res": at + 1, "profile": name}
        for at, name in enumerate(names)
    ]
    text = json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles})
    trace = trace_of(text, "batsim")
    same(
        trace,
        job=["j0", "j1", "j2"],
        name=["wait", "same", "each"],
        arrival_ms=[0, 2000, 4000],
        tasks=[1, 2, 3],
        # The largest of its parts says how long a parallel task takes; each core is kept for that long.
        cpu_ms=[20_250, 5000, 3000],
        requested_ms=[100_000, None, 100_000],
    )
    assert trace.skipped == {FILTERED: 2, "zero run time": 1, "no run time": 2}


def test_anl(trace_of):
    # Its other columns, which are many, are not read.
    head = (
        "JOB_NAME,MACHINE_NAME,QUEUED_TIMESTAMP,QUEUED_DATE_ID,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,"
        "PROJECT_NAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,NODES_REQUESTED,CORES_USED,"
        "EXIT_STATUS\n"
    )
    trace = trace_of(
        head
        + "1.theta,theta,2022-05-01 10:00:00,20220501,2022-05-01 10:01:40.5,2022-05-01 10:11:40.5,7,8,default,3600.0,"
        "600.0,2,2,128,0\n"
        # Deleted while it waited.
         + "2.theta,theta,2022-05-01 10:00:30,20220501,2022-05-01 11:00:00,2022-05-01 11:00:00,7,8,debug,60.0,0.0,"
        "1,1,64,1\n",
        "anl",
    )
    same(
        trace, job=["1.theta"], tasks=[128], cpu_ms=[600_000], recorded_wait_ms=[100_500], requested_ms=[3_600_000],
        user=["7"], group=["8"], partition=["default"],
    )  # fmt: skip
    assert trace.skipped == {"zero run time": 1}


def test_supercloud(trace_of):
    head = (
        "id_job,id_array_job,id_array_task,id_user,kill_requid,nodes_alloc,nodelist,cpus_req,derived_ec,exit_code,"
        "gres_used,array_max_tasks,array_task_pending,constraints,flags,mem_req,partition,priority,state,timelimit,time_submit,"
        "time_eligible,time_start,time_end,time_suspended,track_steps,tres_alloc,job_type\n"
    )

    def row(job, start, end, limit, resources):
        return (
            f"{job},0,0,31,-1,1,\"['n1', 'n2']\",1,0,0,gpu:volta:2,0,0,,0,9223372036854779808,p1,5,3,{limit},{T},{T},"
            f"{start},"
            f'{end},0,0,"{resources}",OTHER\n'
        )

    trace = trace_of(
        head
        + row(1, T + 40, T + 100, 1440, "1=40,2=170000,4=1,5=40,1002=2")
        + row(2, T + 10, T + 20, 4294967295, "1=2,4=1,5=2")
        # Cancelled while it waited.
        + row(3, 0, T + 9, 525600, "")
        # A year stands where no limit was set; as the number of a job it is a number.
        + row(525600, T + 10, T + 20, 525600, "1=1"),
        "supercloud",
    )
    same(
        trace,
        job=["1", "2", "525600"],
        tasks=[40, 2, 1],
        cpu_ms=[60_000, 10_000, 10_000],
        memory_mb=[170_000 * 1.048576 / 40, None, None],
        recorded_wait_ms=[40_000, 10_000, 10_000],
        requested_ms=[86_400_000, None, None],
        user=["31"] * 3,
        partition=["p1"] * 3,
        resources=["gpu:2", "", ""],
    )
    assert trace.skipped == {FILTERED: 1}


@pytest.mark.parametrize("name", ["pbs", "lsf", "htcondor", "sge", "batsim", "gwf"])
def test_a_file_of_another_kind_is_refused_in_one_line(tmp_path, name):
    path = tmp_path / "table"
    path.write_text("submit,run\n1,2\n")
    with pytest.raises(InputError) as raised:
        read_trace(path, format=name)
    assert len(str(raised.value).splitlines()) == 1
    assert str(path) in str(raised.value)


@needs_data
def test_the_logs_of_three_batch_systems():
    """Times are taken out of the text by a search; cores as counted by hand in exec_host and nodes."""
    text = (DATA / "pbs-accounting.log").read_text()
    start, end = (np.array(re.findall(rf" {key}=(\d+)", text), float) for key in ("start", "end"))
    cores = np.array([32, 32, 4, 65, 12, 28, 28, 28, 48])
    trace = read_trace(DATA / "pbs-accounting.log")
    assert (trace.format, trace.rows, trace.used) == ("pbs", 9, 9)
    same(trace, tasks=cores.tolist())
    # CPU time is known of two jobs: 10:16:36 and 03:23:13.
    cpu_s = (end - start) * cores
    cpu_s[[2, 8]] = 10 * 3600 + 16 * 60 + 36, 3 * 3600 + 23 * 60 + 13
    np.testing.assert_allclose(trace.table["cpu_ms"] * cores, cpu_s * 1000, rtol=1e-9)
    assert trace.table["resources"].tolist() == [""] * 5 + ["gpu:1", "", "gpu:2", "gpu:4"]

    # Two JOB_FINISH records from 1389642771 to 1389683139; more CPU time than that is cut. The second is the first with
    # other hosts: 8 hosts of 16 slots each are 128, 4 hosts that stand there twice each are 8.
    trace = read_trace(DATA / "lsf-accounting.log")
    assert (trace.format, trace.rows, trace.used) == ("lsf", 2, 2)
    same(trace, tasks=[128, 8], cpu_ms=[40_368_000] * 2)
    same(trace, memory_mb=[10_725_376 * 1024 / 1e6 / 128, 10_725_376 * 1024 / 1e6 / 8])
    same(trace, recorded_wait_ms=[453_000] * 2)

    # 60 s on one slot.
    trace = read_trace(DATA / "sge-accounting.log")
    assert (trace.format, trace.rows, trace.used) == ("sge", 2, 2)
    same(trace, cpu_ms=[60_000] * 2, requested_ms=[36_000_000] * 2, recorded_wait_ms=[333_733_000] * 2)
