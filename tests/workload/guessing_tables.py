"""Tables of our own making in published schemas: names public, rows drawn by a seed, relations as in real logs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from drawn_jobs import DrawnJobs

BEGIN = datetime(2021, 3, 1, 8, 0, 0, tzinfo=UTC)


@dataclass(frozen=True)
class MadeTable:
    """A table, and the truth about it.

    Attributes:
        names: of the columns.
        rows: cells as texts.
        truth: field -> columns that are right for it; a field that is not there must be left empty.
        separator: between cells.
        header: whether the published files have one.
    """

    names: list[str]
    rows: list[list[str]]
    truth: dict[str, tuple[str, ...]]
    separator: str = ","
    header: bool = True

    def text(self, *, named: bool = True) -> str:
        """The file; without names they are c1 to cn, where the published files have a header."""
        head = self.names if named else [f"c{at + 1}" for at in range(len(self.names))]
        lines = [self.separator.join(row) for row in ([head] if self.header else []) + self.rows]
        return "\n".join(lines) + "\n"

    def column(self, name: str, *, named: bool = True) -> str | int:
        """What a map of `text` calls a column."""
        at = self.names.index(name) + 1
        return at if not self.header else name if named else f"c{at}"


def helios(jobs: DrawnJobs) -> MadeTable:
    """Helios (SenseTime): GPU jobs, dates as texts, `queue` is a wait in seconds."""
    gpus = np.where(jobs.rng.random(jobs.count) < 0.3, 0, np.minimum(jobs.cores, 8))
    names = _names("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue")
    columns = [
        7000 + np.arange(jobs.count) * 3,
        [f"u{one:03d}" for one in jobs.user],
        [f"vc{one % 7}" for one in jobs.user],
        gpus,
        jobs.cores,
        np.maximum(1, gpus // 8),
        jobs.state,
        *(_stamps(one) for one in (jobs.submit, jobs.start, jobs.end)),
        jobs.run,
        jobs.wait,
    ]
    truth = {
        "submit": ("submit_time",),
        "start": ("start_time",),
        "end": ("end_time",),
        "run": ("duration",),
        "cores": ("cpu_num",),
        "job": ("job_id",),
        "user": ("user",),
        "group": ("vc",),
        "resources.gpu": ("gpu_num",),
    }
    return MadeTable(names, _rows(columns), truth)


def cobalt(jobs: DrawnJobs) -> MadeTable:
    """ANL's job tables (Theta, Polaris): capitals, nodes and cores, a limit in seconds."""
    names = _names(
        "JOB_NAME,COBALT_JOBID,MACHINE_NAME,QUEUED_TIMESTAMP,START_TIMESTAMP,END_TIMESTAMP,USERNAME_GENID,"
        "PROJECT_NAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,NODES_REQUESTED,CORES_USED,"
        "CORES_REQUESTED,EXIT_STATUS"
    )
    nodes = jobs.cores
    columns = [
        [f"{500_000 + at}.theta" for at in range(jobs.count)],
        500_000 + np.arange(jobs.count) * 2,
        ["theta"] * jobs.count,
        *(_stamps(one) for one in (jobs.submit, jobs.start, jobs.end)),
        [f"{one * 77_377_713}" for one in jobs.user],
        [f"{(one % 9) * 55_124_501}" for one in jobs.user],
        [("default", "debug-cache-quad", "backfill")[one % 3] for one in jobs.user],
        [f"{one:.1f}" for one in jobs.asked],
        [f"{one:.1f}" for one in jobs.run],
        nodes,
        nodes,
        nodes * 64,
        nodes * 64,
        np.where(jobs.state == "COMPLETED", 0, 1),
    ]
    truth = {
        "submit": ("QUEUED_TIMESTAMP",),
        "start": ("START_TIMESTAMP",),
        "end": ("END_TIMESTAMP",),
        "run": ("RUNTIME_SECONDS",),
        "requested": ("WALLTIME_SECONDS",),
        "cores": ("CORES_USED", "CORES_REQUESTED"),
        "job": ("JOB_NAME", "COBALT_JOBID"),
        "user": ("USERNAME_GENID",),
        "group": ("PROJECT_NAME_GENID",),
        "partition": ("QUEUE_NAME",),
        "name": ("JOB_NAME",),
    }
    return MadeTable(names, _rows(columns), truth)


def azure(jobs: DrawnJobs) -> MadeTable:
    """Azure's virtual machines of 2017: no header, times of creation and deletion in steps of five minutes."""
    created = jobs.submit // 300 * 300
    names = _names("vmid,subscriptionid,deploymentid,created,deleted,maxcpu,avgcpu,p95cpu,category,cores,memory_gb")
    cores = jobs.rng.choice([1, 2, 4, 8, 16], jobs.count, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    average = jobs.rng.random(jobs.count) * 60
    columns = [
        [f"vm{at:06x}/{int(one):x}" for at, one in enumerate(jobs.rng.integers(0, 1 << 40, jobs.count))],
        [f"s{one:x}=" for one in jobs.user],
        [f"d{one % 11:x}=" for one in jobs.user],
        created,
        created + (jobs.run // 300 + 1) * 300,
        [f"{one:.6f}" for one in np.minimum(99.9, average * 1.7 + 5)],
        [f"{one:.6f}" for one in average],
        [f"{one:.6f}" for one in np.minimum(99.9, average * 1.4 + 3)],
        jobs.rng.choice(["Delay-insensitive", "Interactive", "Unknown"], jobs.count),
        cores,
        cores * 1.75,
    ]
    truth = {"start": ("created",), "end": ("deleted",), "cores": ("cores",), "job": ("vmid",)}
    return MadeTable(names, _rows(columns), truth, header=False)


def alibaba(jobs: DrawnJobs) -> MadeTable:
    """Alibaba's batch tasks of 2018: no header, hundredths of cores, ids of jobs that repeat."""
    names = _names("task_name,instance_num,job_name,task_type,status,start_time,end_time,plan_cpu,plan_mem")
    columns = [
        [f"M{at % 5 + 1}" if at % 5 == 0 else f"R{at % 5 + 1}_{at % 5}" for at in range(jobs.count)],
        np.floor(jobs.rng.lognormal(2.0, 2.0, jobs.count)) + 1,
        [f"j_{at // 5}" for at in range(jobs.count)],
        jobs.user % 12 + 1,
        jobs.rng.choice(["Terminated", "Failed", "Waiting", "Running"], jobs.count, p=[0.95, 0.02, 0.02, 0.01]),
        jobs.submit + 86_400,
        jobs.submit + 86_400 + jobs.run,
        jobs.rng.choice([50, 100, 200, 300, 400, 600], jobs.count, p=[0.2, 0.6, 0.1, 0.05, 0.03, 0.02]),
        [f"{one:.2f}" for one in jobs.rng.lognormal(-1.0, 0.5, jobs.count)],
    ]
    truth = {"start": ("start_time",), "end": ("end_time",), "cores": ("plan_cpu",)}
    return MadeTable(names, _rows(columns), truth, header=False)


def supercloud(jobs: DrawnJobs) -> MadeTable:
    """MIT Supercloud's dump of Slurm's table: seconds since 1970, limits in minutes, states as numbers."""
    names = _names(
        "id_job,id_user,kill_requid,nodes_alloc,cpus_req,constraints,mem_req,priority,state,timelimit,time_submit,"
        "time_eligible,time_start,time_end,gres_used,partition"
    )
    since = BEGIN.timestamp()
    columns = [
        90_000_000_000 + jobs.rng.permutation(jobs.count) * 7919,
        40_000_000 + jobs.user * 1_234_567,
        np.full(jobs.count, -1),
        np.maximum(1, jobs.cores // 40),
        jobs.cores,
        ["xeon-g6"] * jobs.count,
        4_000_000 + jobs.rng.integers(0, 5, jobs.count) * 1000,
        jobs.rng.integers(10_000, 400_000, jobs.count),
        jobs.rng.choice([3, 4, 5, 6], jobs.count, p=[0.8, 0.05, 0.1, 0.05]),
        jobs.asked // 60,
        *(since + one for one in (jobs.submit, jobs.submit, jobs.start, jobs.end)),
        np.where(jobs.user % 4 == 0, "gpu:volta:2", ""),
        np.where(jobs.user % 5 == 0, "gaia", "normal"),
    ]
    truth = {
        "submit": ("time_submit", "time_eligible"),
        "start": ("time_start",),
        "end": ("time_end",),
        "requested": ("timelimit",),
        "cores": ("cpus_req",),
        "job": ("id_job",),
        "user": ("id_user",),
        "partition": ("partition",),
    }
    return MadeTable(names, _rows(columns), truth)


def sacct(jobs: DrawnJobs) -> MadeTable:
    """Slurm's `sacct -P` of one cluster, with columns that one asked for."""
    names = _names("JobIDRaw,Partition,Account,User,Submit,Start,End,Elapsed,State,NNodes,NCPUS,Timelimit,JobName")
    columns = [
        1000 + np.arange(jobs.count),
        np.where(jobs.user % 5 == 0, "debug", "normal"),
        [f"account{one % 6}" for one in jobs.user],
        [f"user{one}" for one in jobs.user],
        *(_stamps(one, "T") for one in (jobs.submit, jobs.start, jobs.end)),
        [_clock(one) for one in jobs.run],
        jobs.state,
        np.maximum(1, jobs.cores // 32),
        jobs.cores,
        [_clock(one) for one in jobs.asked],
        [f"prog{one % 13}" for one in jobs.user],
    ]
    truth = {
        "submit": ("Submit",),
        "start": ("Start",),
        "end": ("End",),
        "run": ("Elapsed",),
        "requested": ("Timelimit",),
        "cores": ("NCPUS",),
        "job": ("JobIDRaw",),
        "user": ("User",),
        "group": ("Account",),
        "partition": ("Partition",),
        "name": ("JobName",),
    }
    return MadeTable(names, _rows(columns), truth, separator="|")


def swf(jobs: DrawnJobs) -> MadeTable:
    """The Standard Workload Format's 18 columns, with tabs and without its remarks."""
    names = _names(
        "job,submit,wait,run,allocated,cpu,memory,requested_cores,requested,requested_memory,status,user,group,program,"
        "queue,partition,before,think"
    )
    unknown = np.full(jobs.count, -1)
    used = np.round(jobs.run * (0.4 + 0.59 * jobs.rng.random(jobs.count)), 2)
    columns = [
        1 + np.arange(jobs.count),
        jobs.submit,
        jobs.wait,
        jobs.run,
        jobs.cores,
        np.where(jobs.rng.random(jobs.count) < 0.1, -1, used),
        unknown,
        jobs.cores,
        jobs.asked,
        unknown,
        np.where(jobs.state == "COMPLETED", 1, 0),
        jobs.user,
        jobs.user % 6 + 1,
        jobs.user % 11 + 1,
        jobs.user % 4,
        unknown,
        unknown,
        unknown,
    ]
    truth = {
        "submit": ("submit",),
        "run": ("run",),
        "requested": ("requested",),
        "cores": ("allocated", "requested_cores"),
        "cpu": ("cpu",),
        "job": ("job",),
    }
    return MadeTable(names, _rows(columns), truth, separator="\t", header=False)


def batsim(jobs: DrawnJobs) -> MadeTable:
    """Batsim's table of jobs: differences of all times, lists of hosts."""
    names = _names(
        "job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,"
        "execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources"
    )
    cores = np.minimum(jobs.cores, 8)
    columns = [
        jobs.rng.permutation(jobs.count),
        ["w0"] * jobs.count,
        jobs.submit,
        cores,
        jobs.asked,
        np.ones(jobs.count, int),
        jobs.start,
        jobs.run,
        jobs.end,
        jobs.wait,
        jobs.wait + jobs.run,
        [f"{one:.4f}" for one in (jobs.wait + jobs.run) / jobs.run],
        [" ".join(str(at) for at in range(one)) for one in cores],
    ]
    truth = {
        "submit": ("submission_time",),
        "start": ("starting_time",),
        "end": ("finish_time",),
        "run": ("execution_time",),
        "requested": ("requested_time",),
        "cores": ("requested_number_of_resources",),
        "job": ("job_id",),
    }
    return MadeTable(names, _rows(columns), truth)


def pods(jobs: DrawnJobs) -> MadeTable:
    """Alibaba's pods of 2023: thousandths of cores, memory in MiB, some never scheduled."""
    names = _names(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
    )
    shapes = jobs.rng.choice(6, jobs.count, p=[0.3, 0.25, 0.2, 0.1, 0.1, 0.05])
    pending = jobs.rng.random(jobs.count) < 0.08
    gpus = np.array([1, 1, 0, 2, 1, 8])[shapes]
    columns = [
        [f"pod-{at:04d}" for at in range(jobs.count)],
        np.array([4000, 8000, 3152, 16_000, 11_400, 64_000])[shapes],
        np.array([8192, 16_384, 5600, 65_536, 30_720, 262_144])[shapes],
        gpus,
        np.where(gpus > 0, 1000, 0),
        [""] * jobs.count,
        jobs.rng.choice(["LS", "BE", "Burstable"], jobs.count),
        np.where(pending, "Pending", jobs.rng.choice(["Succeeded", "Failed", "Running"], jobs.count)),
        jobs.submit,
        np.where(pending, jobs.submit + jobs.run, jobs.end),
        np.where(pending, "", jobs.start.astype(int).astype(str)),
    ]
    truth = {
        "submit": ("creation_time",),
        "start": ("scheduled_time",),
        "end": ("deletion_time",),
        "cores": ("cpu_milli",),
        "memory": ("memory_mib",),
        "job": ("name",),
        "resources.gpu": ("num_gpu",),
    }
    return MadeTable(names, _rows(columns), truth)


def eagle(jobs: DrawnJobs) -> MadeTable:
    """NREL's Eagle: dates as texts, requests in seconds, memory without a unit."""
    names = _names(
        "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,mem_req,submit_time,"
        "start_time,end_time,run_time,state,name"
    )
    columns = [
        532_000 + np.arange(jobs.count),
        [f"user{one:04d}" for one in jobs.user],
        [f"account{one % 8:04d}" for one in jobs.user],
        np.where(jobs.user % 5 == 0, "short", "standard"),
        np.where(jobs.user % 3 == 0, "high", "normal"),
        [f"{one:.1f}" for one in jobs.asked],
        np.maximum(1, jobs.cores // 36),
        jobs.cores,
        np.where(jobs.user % 9 == 0, 2, 0),
        [f"{one:.1f}" for one in jobs.rng.choice([0, 1000, 90_000, 184_000], jobs.count)],
        *(_stamps(one) for one in (jobs.submit, jobs.start, jobs.end)),
        [f"{one:.1f}" for one in jobs.run],
        jobs.state,
        [f"name{one % 40}" for one in jobs.user * 7],
    ]
    truth = {
        "submit": ("submit_time",),
        "start": ("start_time",),
        "end": ("end_time",),
        "run": ("run_time",),
        "requested": ("wallclock_req",),
        "cores": ("processors_req",),
        "job": ("job_id",),
        "user": ("user",),
        "group": ("account",),
        "partition": ("partition",),
        "name": ("name",),
        "resources.gpu": ("gpus_req",),
    }
    return MadeTable(names, _rows(columns), truth)


SCHEMAS: dict[str, Callable[[DrawnJobs], MadeTable]] = {
    one.__name__: one for one in (helios, cobalt, azure, alibaba, supercloud, sacct, swf, batsim, pods, eagle)
}


def made_table(schema: str, seed: int, count: int = 600) -> MadeTable:
    """A table of one of SCHEMAS."""
    return SCHEMAS[schema](DrawnJobs(count, np.random.default_rng([seed, list(SCHEMAS).index(schema)])))


def _names(text: str) -> list[str]:
    return text.split(",")


def _stamps(seconds: np.ndarray, between: str = " ") -> list[str]:
    return [(BEGIN + timedelta(seconds=int(one))).strftime(f"%Y-%m-%d{between}%H:%M:%S") for one in seconds]


def _clock(seconds: float) -> str:
    days, rest = divmod(int(seconds), 86_400)
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{text}" if days else text


def _rows(columns: list) -> list[list[str]]:
    texts = [[_cell(one) for one in column] for column in columns]
    return [list(row) for row in zip(*texts, strict=True)]


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return str(int(value)) if float(value).is_integer() else f"{value:g}"
    return str(value)
