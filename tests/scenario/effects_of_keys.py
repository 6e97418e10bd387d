"""For every key of a scenario: settings under which it matters, another value, and what that value changes.

`EFFECTS` has one entry a key: settings of the base run, the other value, and the first thing that differs:

jobs: the job table, or what jobs request or wait for;
run: not the jobs, but the records of tasks, the summary, or the loads that were measured;
refused: the other value is refused, by a message that names the key (or says `says`).

Values are chosen away from 0 and 1.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

Settings = dict[str, Any]


class Effect(NamedTuple):
    """What a key is set to, in which settings, and what it changes."""

    base: Settings
    value: Any
    changes: str
    says: str = ""


# 100 jobs of 0.1 s in 4 s on four nodes: CPUs and disks are busy for about 60 % of the time.
BUSY: Settings = {
    "cluster.nodes": 4, "cluster.memory_mb": 60.0, "cluster.buffer_mb": 8.0, "workload.jobs": 100,
    "workload.duration_s": 4.0, "workload.cpu_ms.mean": 100.0, "workload.io_per_ms": {"kind": "uniform", "mean": 0.1},
    "workload.memory_mb": {"kind": "exponential", "mean": 6.0}, "workload.reaccess_rate": 0.5,
    "workload.initial_data_mb.mean": 1.0, "negotiation.remote_execution_ms": 7.0, "policy.name": "jsq",
}  # fmt: skip
FEW: Settings = {"cluster.nodes": 4, "workload.jobs": 30, "workload.duration_s": 4.0, "workload.cpu_ms.mean": 20.0}
FULL = BUSY | {"cluster.memory_mb": 24.0, "cluster.page_fault_ratio_cap": 2.0, "workload.memory_mb.mean": 9.0}
OVERSIZE = FULL | {"cluster.paging": "oversize", "cluster.page_fault_ratio_cap": None}
ENERGY = BUSY | {"cluster.idle_watts": 90.0}
FEEDBACK = FULL | {"cluster.buffer_control.kind": "feedback", "cluster.buffer_control.period_ms": 300.0}
MOVING = BUSY | {"policy.name": "wal-pm", "negotiation.migration_ms": 3.0}
PARALLEL = BUSY | {"workload.tasks.parallel_share": 0.5, "workload.tasks.maximum": 4}
BARRIERS = PARALLEL | {"workload.tasks.barrier_ms": 20.0}
LOGNORMAL = FEW | {"workload.arrivals.kind": "lognormal-window"}
BURSTS = FEW | {"workload.arrivals.kind": "bursty", "workload.arrivals.burst_s": 0.5, "workload.arrivals.quiet_s": 1.0}
SCALES = FEW | {
    "workload.arrivals.kind": "multiscale", "workload.arrivals.scales_s": [0.5], "workload.arrivals.variations": [1.0],
}  # fmt: skip
BATCHES = FEW | {"workload.arrivals.batch_mean": 4.0}
A_WEEK = FEW | {"workload.duration_s": 604_800.0}
DAYS = A_WEEK | {"workload.arrivals.daily": [1.0, 5.0]}
CLOSED: Settings = {
    "cluster.nodes": 4, "workload.arrivals.kind": "closed", "workload.arrivals.jobs_per_user": 3,
    "workload.arrivals.think_s.mean": 0.5, "workload.cpu_ms.mean": 100.0,
}  # fmt: skip
PROGRAMS = FEW | {"workload.programs.mix": {"bit-r": 1.0}}
APPLICATION = FEW | {"workload.application.name": "pgrep", "workload.application.scale": 0.001}
BACKGROUND: Settings = {"node": 1, "cpu_share": 0.3, "io_per_ms": 0.05, "memory_mb": 20.0}
INITIAL: Settings = {"node": 1, "cpu_ms": 40.0, "age_ms": 10.0}
SESSION: Settings = {
    "jobs": {"mean": 3.0}, "work_s": {"kind": "exponential", "mean": 1.0}, "spread": {"kind": "uniform", "mean": 1.0},
    "widths": {"1": 1.0, "2": 1.0}, "one_width": 0.4, "same_width": 0.3, "gap_s": {"mean": 5.0}, "after_end": 0.4,
    "longest_s": 50.0,
}  # fmt: skip
PAIR: Settings = {"jobs": {"mean": 2.0}, "gap_s": {"mean": 9.0}}
SESSIONS: Settings = {
    "cluster.nodes": 4, "workload.kind": "sessions", "workload.jobs_per_s": 1.0, "workload.duration_s": 100.0,
    "workload.sessions.users": [2.0, 1.0, 1.0], "workload.sessions.group": [SESSION, PAIR],
}  # fmt: skip
# Work for 70 hours of the reference machine, in sessions of 4 hours each.
HOLDING_BACK = SESSIONS | {
    "workload.jobs_per_s": 0.001, "workload.duration_s": 259_200.0, "workload.sessions.hold_back_s": 3600.0,
    "workload.sessions.group": [SESSION | {"work_s": {"kind": "exponential", "mean": 14_400.0}, "longest_s": 1e9}],
}  # fmt: skip
FILES = FEW | {
    "interconnect.kind": "clusters", "interconnect.clusters": 2, "data.files": 12, "data.size_mb.mean": 5.0,
    "data.files_per_job.maximum": 2, "policy.name": "data-access",
}  # fmt: skip
PATH = json.dumps({
    "nodes": [{"id": vertex} for vertex in range(4)],
    "edges": [{"source": vertex, "target": vertex + 1, "bandwidth_mbps": 8.0} for vertex in range(3)],
})  # fmt: skip
LOSING = BUSY | {"interconnect.loss_share": 0.4, "interconnect.latency_ms": 3.0}
FAR = BUSY | {"cluster.nodes": 8, "interconnect.latency_ms": 5.0}
DRAGONFLY = FAR | {
    "interconnect.kind": "dragonfly", "interconnect.nodes_per_router": 1, "interconnect.routers_per_group": 3,
}  # fmt: skip
FAILING = BUSY | {
    "failures.node.kind": "weibull", "failures.node.mean_up_s": 1.0, "failures.node.mean_down_s": 0.5,
    "run.until": 8000.0,
}  # fmt: skip
CUT_LINKS = BUSY | {
    "interconnect.kind": "star", "failures.link.kind": "weibull", "failures.link.mean_up_s": 1.0,
    "failures.link.mean_down_s": 0.5, "run.until": 8000.0,
}  # fmt: skip
EVENT: Settings = {"node": 1, "at_s": 1.0, "for_s": 1.0}
LINK_EVENT: Settings = {"link": [0, "switch"], "at_s": 1.0, "for_s": 1.0}
SLOW: Settings = {"device": "cpu", "factor": 0.3, "at_s": 1.0, "for_s": 1.0}
OFTEN_SLOW: Settings = {"device": "cpu", "factor": 0.3, "kind": "weibull", "mean_up_s": 1.0, "mean_down_s": 0.5}


def listed(base: Settings, key: str, entry: Settings, changes: str, **values: Any) -> dict[str, Effect]:
    """Keys of the one entry of a list of tables, each with another value; `key` is the list's."""
    return {
        f"{key}.{name}": Effect(
            base | {key: [entry]},
            [{other: one for other, one in {**entry, name: value}.items() if one is not None}],
            changes,
        )
        for name, value in values.items()
    }


def distribution(base: Settings, key: str, mean: float, changes: str, **more: Any) -> dict[str, Effect]:
    """The keys of a distribution, each at a kind that takes it, around a mean."""
    fixed, gamma, pareto, lifetime, quantiles = (
        {name: value for name, value in base.items() if not name.startswith(key)} | {key: law | more}
        for law in (
            {"kind": "fixed", "mean": mean},
            {"kind": "gamma", "mean": mean, "sd": mean / 2},
            {"kind": "pareto", "mean": mean, "shape": 1.5},
            {"kind": "lifetime", "shape": 1.0, "minimum": mean / 2, "maximum": 2 * mean},
            {"kind": "quantiles", "values": [mean / 2, mean, 2 * mean]},
        )
    )
    found = {
        "kind": (fixed, "exponential"),
        "mean": (fixed, 1.5 * mean),
        "sd": (gamma, mean),
        "shape": (pareto, 2.5),
        "minimum": (lifetime, 0.8 * mean),
        "maximum": (lifetime, 3 * mean),
        "values": (quantiles, [mean / 2, mean, 3 * mean]),
        "probabilities": (quantiles, [0.0, 0.2, 1.0]),
        "scale": (quantiles, 1.7),
    }
    return {f"{key}.{name}": Effect(settings, value, changes) for name, (settings, value) in found.items()}


def of_node(base: Settings, values: Settings, prefix: str = "cluster.") -> dict[str, Effect]:
    """What nodes have, as keys of the cluster."""
    return {prefix + name: Effect(base, value, "run") for name, value in values.items()}


CLUSTER = (
    {"cluster.nodes": Effect(BUSY, 5, "jobs"), "cluster.hardware": Effect(FEW, "hdd-2015", "run")}
    | of_node(BUSY, {
        "slice_ms": 4.0, "cores": 2, "quantum_ms": 3.0, "context_switch_ms": 0.7,
        "cpu_speed": 1.7, "memory_mb": 20.0, "buffer_mb": 3.0, "system_mb": 45.0, "disk_seek_rotation_ms": 5.0,
        "disk_mb_per_s": 25.0, "disk_channels": 2, "disk_latency": "exponential", "idle_watts": 50.0,
        "exchange_period_ms": 200.0, "group": [{"count": 2, "cpu_speed": 3.0}],
    })
    | of_node(FULL, {
        "swap_mb": 2.0, "buffer_in_memory": False, "paging": "oversize", "page_fault_rate_per_ms": 0.2,
        "page_fault_law": "overflow", "page_fault_ratio_cap": 1.2, "page_kb": 64.0, "fault_service_ms": 3.0,
        "buffer_control.kind": "feedback", "remote_memory": True,
    })
    | of_node(OVERSIZE | {"workload.programs.mix": {"bit-r": 1.0}, "workload.jobs": 6, "cluster.memory_mb": 80.0,
                          "run.until": 20_000.0}, {"fault_evenness": 0.6})
    | of_node(ENERGY, {"cpu_watts": 30.0, "disk_watts": 5.0})
    | of_node(FEEDBACK, {"buffer_control.period_ms": 700.0, "buffer_control.gain": 0.2})
)  # fmt: skip
TWO = {"count": 2, "memory_mb": 50.0}
GROUPS = (
    listed(BUSY, "cluster.group", {"count": 2, "cpu_speed": 3.0}, "run", count=1, hardware="hdd-2015")
    | listed(
        BUSY, "cluster.group", TWO, "run", cores=2, quantum_ms=3.0, context_switch_ms=0.7, cpu_speed=1.7,
        memory_mb=20.0, buffer_mb=3.0, system_mb=35.0, disk_seek_rotation_ms=5.0, disk_mb_per_s=25.0, disk_channels=2,
        disk_latency="exponential", policy="random",
    )
    | listed(
        FULL | {"cluster.swap_mb": 500.0}, "cluster.group", {"count": 2}, "run", page_kb=64.0, swap_mb=2.0,
        page_fault_rate_per_ms=0.2, fault_service_ms=3.0,
    )
    | listed(ENERGY, "cluster.group", {"count": 2}, "run", idle_watts=20.0, cpu_watts=30.0, disk_watts=5.0)
    | listed(
        BUSY, "cluster.group", {"count": 2, "policy": "power-of-d", "policy_parameters": {"d": 1}}, "run",
        policy_parameters={"d": 3},
    )
)  # fmt: skip
ARRIVALS = (
    {f"workload.arrivals.{name}": Effect(base, value, "jobs") for base, values in [
        (FEW, {"kind": "bursty", "batch_mean": 3.0}),
        (LOGNORMAL, {"mu": 1.0, "sigma": 1.5, "time_unit_s": 0.5, "regular": True}),
        (BURSTS, {"burst_factor": 6.0, "burst_s": 0.2, "quiet_s": 0.3}),
        (SCALES, {"scales_s": [0.3], "variations": [0.5]}),
        (BATCHES, {"batch_gap_s": 0.3}),
        (A_WEEK, {"daily": [1.0, 5.0], "weekly": [1.0, 5.0, 1.0, 1.0, 1.0, 1.0, 1.0]}),
        (DAYS, {"starts_h": 7.0}),
        (CLOSED, {"users_per_node": 2, "jobs_per_user": 4, "user_nodes": [2, 3], "first_gap_s": 0.3}),
    ] for name, value in values.items()}
    | distribution(CLOSED, "workload.arrivals.think_s", 0.4, "jobs")
)  # fmt: skip
WORKLOAD = (
    {f"workload.{name}": Effect(base, value, "jobs") for base, values in [
        (FEW, {
            "duration_s": 9.0, "jobs": 31, "no_io_share": 0.4, "write_share": 0.7, "reaccess_rate": 1.5,
            "tasks.parallel_share": 0.6, "tasks.widths": {"1": 1.0, "3": 2.0}, "home.kind": "skewed", "dispatchers": 2,
            "requested_over_actual": {"kind": "fixed", "mean": 2.5}, "repeats.share": 0.5,
            "dependence": {"cpu_ms,memory_mb": 0.8}, "programs.mix": {"bit-r": 1.0}, "application.name": "lu",
        }),
        (BUSY, {"no_io_share": 0.4}),
        (FEW | {"workload.jobs_per_s": 9.0, "workload.jobs": None}, {"jobs_per_s": 14.0}),
        (FEW | {"workload.utilisation": 0.3, "workload.jobs": None}, {"utilisation": 0.6}),
        (PARALLEL, {"memory_of": "job", "tasks.minimum": 4, "tasks.maximum": 3}),
        (BUSY | {"workload.request_kb": {"kind": "gamma", "mean": 50.0, "sd": 40.0}}, {"request_kb.per": "job"}),
        (FEW | {"workload.home.kind": "skewed"}, {"home.skew": 2.5}),
        (FEW | {"workload.home": {"kind": "weights", "weights": [1.0, 2.0, 3.0, 4.0]}}, {"home.weights": [3.0, 1.0]}),
        (FEW | {"workload.repeats.share": 0.5}, {"repeats.back": 6}),
        (PARALLEL, {"task_cpu": "each"}),
        (APPLICATION, {"application.cpu_share": 0.2, "application.scale": 0.003}),
    ] for name, value in values.items()}
    | {
        "workload.write_only_moves": Effect(MOVING, False, "jobs"),
        "workload.announced_error": Effect(BUSY | {"policy.name": "lwl"}, 3.0, "run"),
        "workload.tasks.barrier_ms": Effect(PARALLEL, 20.0, "jobs"),
        "workload.tasks.communication_ms": Effect(BARRIERS, 4.0, "jobs"),
        "workload.background": Effect(BUSY, [BACKGROUND], "run"),
        "workload.initial": Effect(FEW, [INITIAL], "jobs"),
    }
    | listed(
        FEW, "workload.initial", INITIAL, "jobs", node=2, cpu_ms=60.0, age_ms=7.0, tasks=3, io_per_ms=0.2,
        request_kb=400.0, memory_mb=5.0, initial_data_mb=3.0, write_share=0.7, reaccess_rate=1.5, requested_ms=90.0,
    )
    | listed(
        BUSY, "workload.background", BACKGROUND, "run", node=2, cpu_share=0.6, period_ms=300.0, io_per_ms=0.2,
        request_kb=400.0,
    )
    | listed(FULL, "workload.background", BACKGROUND, "run", memory_mb=5.0)
    | distribution(FEW, "workload.cpu_ms", 30.0, "jobs")
    | distribution(FEW, "workload.memory_mb", 5.0, "jobs")
    | distribution(FEW, "workload.io_per_ms", 0.1, "jobs")
    | distribution(FEW, "workload.request_kb", 80.0, "jobs", per="job")
    | distribution(FEW, "workload.initial_data_mb", 7.0, "jobs")
    | {f"workload.requested_over_actual.{name.rpartition('.')[2]}": effect for name, effect in distribution(
        FEW, "workload.requested_over_actual", 4.0, "jobs").items()}
)  # fmt: skip
ITS_GROUP = "workload.sessions.group"
WORKLOAD |= (
    {f"workload.{name}": Effect(base, value, changes) for base, changes, values in [
        (SESSIONS, "jobs", {"users": "react", "sessions.longest_gap_s": 0.1, "sessions.group": [PAIR]}),
        (SESSIONS, "run", {"sessions.users": [1.0, 9.0, 3.0]}),
        (HOLDING_BACK, "jobs", {"sessions.hold_back_s": 36_000.0, "sessions.reference_load": 1.5}),
    ] for name, value in values.items()}
    | {
        f"{ITS_GROUP}.{name}": Effect(SESSIONS, [SESSION | {name: value}, PAIR], "jobs") for name, value in {
            "share": 3.0, "jobs": {"mean": 4.0}, "work_s": {"mean": 2.0},
            "spread": {"kind": "exponential", "mean": 1.0}, "work_with_tasks": 0.7,
            "longest_s": 0.3, "widths": {"1": 1.0, "3": 2.0}, "one_width": 0.8,
            "same_width": 0.8, "requested_over_longest": {"mean": 2.0}, "memory_mb": {"mean": 3.0},
            "gap_s": {"mean": 9.0}, "after_end": 0.8, "daily": [0.3, 2.0],
        }.items()
    }
    | {f"{ITS_GROUP}.users": Effect(SESSIONS, [SESSION | {"users": {"1": 2.0, "other": 1.0}}, PAIR], "run")}
    | distribution(SESSIONS, "workload.sessions.gap_spread", 1.7, "jobs")
    | distribution(SESSIONS, "workload.sessions.think_s", 4.0, "jobs")
    | distribution(SESSIONS, "workload.sessions.wait_s", 4.0, "jobs")
)  # fmt: skip
DATA = distribution(FILES, "data.size_mb", 5.0, "run") | {
    f"data.{name}": Effect(base, value, "run") for base, values in [
        (FILES | {"data.files": 0}, {"files": 12}),
        (FILES, {
            "copies": 2, "files_per_job.minimum": 2, "files_per_job.maximum": 5, "popularity_skew": 2.0,
            "affinity": 0.9,
        }),
        (FILES | {"data.affinity": 1.0}, {"drift_period_s": 0.7}),
    ] for name, value in values.items()
}  # fmt: skip
NEGOTIATION = {
    f"negotiation.{name}": Effect(base, value, "run") for base, values in [
        (BUSY, {"mode": "papers", "remote_execution_ms": 30.0}),
        (BUSY | {"cluster.exchange_period_ms": 4000.0}, {"refusals": False, "offers": 1}),
        (FAR | {"negotiation.mode": "head-node", "interconnect.kind": "tree", "interconnect.rack_nodes": 3,
                "interconnect.latency_ms": 50.0, "cluster.exchange_period_ms": 300.0},
         {"head_node": 5}),
        (FAR | {"policy.name": "iolb-net", "interconnect.mode": "contended", "interconnect.bandwidth_mbps": 60.0},
         {"bandwidths": "measured"}),
        (MOVING, {"migration_ms": 90.0}),
        (LOSING, {"timeout_ms": 400.0}),
        (FAILING, {"missed_reports": 1}),
    ] for name, value in values.items()
}  # fmt: skip
NETWORK = {
    f"interconnect.{name}": Effect(base, value, "run") for base, values in [
        (FAR, {
            "kind": "star", "mode": "contended", "hardware": "ethernet-10g", "bandwidth_mbps": 30.0,
            "latency_ms": 12.0, "loss_share": 0.5,
        }),
        (FAR | {"interconnect.kind": "clusters"}, {
            "trunk_bandwidth_mbps": 20.0, "trunk_latency_ms": 40.0, "clusters": 3, "cluster_nodes": [6, 2],
        }),
        (FAR | {"interconnect.kind": "tree"}, {"rack_nodes": 3}),
        (FAR | {"interconnect.kind": "fat-tree"}, {"arity": 6}),
        (FAR | {"interconnect.kind": "torus"}, {"dimensions": [8]}),
        (DRAGONFLY, {"routers_per_group": 4, "nodes_per_router": 2}),
        (FAR | {"cluster.nodes": 4}, {"file": "two-pairs", "graph": PATH}),
    ] for name, value in values.items()
} | {
    # With 2 at each of the four vertices there are 8 nodes, among which jobs are submitted.
    "interconnect.nodes_per_vertex": Effect(FEW | {"cluster.nodes": None, "interconnect.file": "two-pairs"}, 2, "jobs"),
}  # fmt: skip
FAILURES = (
    {f"failures.{part}.{name}": Effect(base, value, "run") for part, base in [("node", FAILING), ("link", CUT_LINKS)]
     for name, value in {
         "kind": "exponential", "mean_up_s": 3.0, "shape": 3.0, "mean_down_s": 0.2, "repair": "fixed",
     }.items()}
    | {
        "failures.event": Effect(BUSY, [EVENT], "run"), "failures.degrade": Effect(BUSY, [SLOW], "run"),
        "failures.on_failure": Effect(FAILING, "lost", "run"),
        "failures.checkpoint_period_ms": Effect(
            FAILING | {"failures.on_failure": "checkpoint", "failures.checkpoint_period_ms": 40.0}, 200.0, "run"),
    }
    | listed(BUSY, "failures.event", EVENT, "run", at_s=1.7, for_s=0.2, node=2)
    | listed(BUSY | {"interconnect.kind": "star"}, "failures.event", LINK_EVENT, "run", link=[2, "switch"])
    | listed(BUSY, "failures.degrade", SLOW, "run", device="disk", factor=0.7, nodes=[1], at_s=1.7, for_s=0.2)
    | listed(BUSY, "failures.degrade", OFTEN_SLOW, "run", kind="exponential", mean_up_s=3.0, shape=3.0,
             mean_down_s=0.2, repair="fixed")
)  # fmt: skip
SCRIPT = (
    {"script": Effect(BUSY, [{"at_s": 1.0, "act": "fail", "node": 1}], "run")}
    | listed(BUSY, "script", {"at_s": 1.0, "act": "fail", "node": 1}, "run", at_s=1.7, act="drain", node=2)
    | listed(BUSY, "script", {"at_s": 1.0, "act": "slow", "node": 1, "device": "cpu", "factor": 0.2}, "run",
             device="disk", factor=0.7)
    | listed(BUSY, "script", {"at_s": 1.0, "act": "kill", "job": 25}, "run", job=24)
    | listed(BUSY, "script", {"at_s": 1.0, "act": "send", "task": 25, "node": 1}, "run", task=24)
)  # fmt: skip
OTHERS = {
    "policy.name": Effect(BUSY, "random", "run"),
    "measure.period_ms": Effect(BUSY, 400.0, "run"),
    "measure.records": Effect(BUSY, "summary", "run"),
    "measure.bound_ms": Effect(BUSY, 300.0, "run"),
    "measure.metrics": Effect(BUSY, ["p99_response_ms"], "run"),
    "measure.from_s": Effect(BUSY, 1.7, "run"),
    "measure.warmup": Effect(BUSY, "mser", "run"),
    "run.seed": Effect(BUSY, 2, "jobs"),
    "run.until": Effect(BUSY, 2000.0, "run"),
}

OWN_CSV = "arrival_ms,home,cpu_ms,memory_mb,tasks,requested_ms\n" + "".join(
    f"{number * 100},{number % 4},{20 + number},{number + 3},{number % 5 + 1},500\n" for number in range(20)
)
# A job in each of nine weeks.
USERS_CSV = "arrival_ms,cpu_ms,user\n" + "".join(f"{604_800_000 * week},20,u\n" for week in range(9))
FILES_CSV = "arrival_ms,home,cpu_ms,files\n0,0,20,maps\n500,1,20,maps;images\n"
MAPS: Settings = {"name": "maps", "size_mb": 7.0, "at": [3]}
IMAGES: Settings = {"name": "images", "size_mb": 11.0, "at": [5]}
HBD = "run,host,submit_s,cpu_s,prog\n0,1,0.5,0.09,make\n0,3,0.7,0.005,stty\n4,1,0.2,2,sed\n4,0,1.3,0.01,csh\n"
SWIM = "".join(f"job{number}\t{number}\t1\t{number + 1}0000000\t3000000\t1000000\n" for number in range(6))
SACCT = (
    "JobID|State|Submit|ElapsedRaw|NCPUS|TotalCPU|NTasks|MaxDiskRead|MaxDiskWrite\n"
    "1|COMPLETED|2023-05-01T10:00:00|90|2|00:20|1|80M|60M\n"
)
TABLE = "submitted,took,cpus\n" + "".join(f"{number},{number + 1},{number % 3 + 1}\n" for number in range(9))
BY_COLUMNS = {
    "submit": {"column": "submitted", "unit": "s"}, "run": {"column": "took", "unit": "s"}, "cores": {"column": "cpus"},
}  # fmt: skip
PLAIN_SACCT = "1|COMPLETED|2023-05-01T10:00:00|90|2\n2|COMPLETED|2023-05-01T10:00:30|60|4\n"
SACCT_ORDER = "JobID,State,Submit,ElapsedRaw,NCPUS"
# 18 fields of SWF: job, submit, wait, run 60 s, 2 processors, CPU 30 s, memory 100 KB, requested: 2, 90 s, 400 KB.
SWF = "1 0 0 60 2 30 100 2 90 400 1 1 1 1 1 1 -1 -1\n"
# The second one after the first, 30 s later than that ends.
PRECEDED_SWF = SWF + "2 10 0 60 2 30 100 2 90 400 1 1 1 1 1 1 1 30\n"
PROFILES = "program,cpu_ms,memory_mb,accesses\nbit-r,70,3,5\n"
# Larger than 1 MB.
LARGE = "arrival_ms,cpu_ms\n" + "1,1\n" * 300_000
PARTS = '{"nodes": [{"id": 0}, {"id": 1}, {"id": 2}], "edges": [{"source": 0, "target": 1}]}'
PLATFORM = """<platform version="4.1"><zone id="z" routing="Full"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
<link id="l" bandwidth="1Gbps"/><route src="a" dst="b"><link_ctn id="l"/></route></zone></platform>"""
OUTAGES = "node,down_s,up_s\n1,1,1.5\n2,1.2,1.7\n"
RECORDED = (
    "System,nodenum,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time,node,down_s,up_s\n"
    "2,5,06/21/03 10:54,06/21/03 10:55,1,3,1.25,2\n"
)
TEXTS = {
    "own.csv": OWN_CSV, "hbd.csv": HBD, "swim.tsv": SWIM, "sacct.txt": SACCT, "log.swf": SWF, "large.csv": LARGE,
    "users.csv": USERS_CSV, "files.csv": FILES_CSV, "table.csv": TABLE, "plain-sacct.txt": PLAIN_SACCT,
    "programs.csv": PROFILES, "users.swf": PRECEDED_SWF,
    "large-programs.csv": PROFILES + ("#" * 99 + "\n") * 11_000, "parts.json": PARTS, "platform.xml": PLATFORM,
    "outages.csv": OUTAGES, "recorded.csv": RECORDED, "large-outages.csv": OUTAGES + "1,9000,9001\n" * 100_000,
    "large.json": PARTS.replace('"nodes"', '"graph": {"name": "' + "x" * 1_100_000 + '"}, "nodes"'),
}  # fmt: skip


def of_files(folder: Path) -> dict[str, Effect]:
    """Keys about files, which lie in a folder by the names of TEXTS."""
    cluster: Settings = {"cluster.nodes": 8, "cluster.cores": 2, "workload.kind": "trace"}

    def read(name: str, **more: Any) -> Settings:
        values = {"file": str(folder / name), **more}
        return cluster | {f"workload.trace.{key}": value for key, value in values.items()}

    placed = read("files.csv") | {"data.file": [MAPS, IMAGES]}
    own, swim, swf = read("own.csv"), read("swim.tsv", cpu_ms_per_mb=10.0, task_mb=8.0), read("log.swf")
    return {
        f"workload.trace.{name}": Effect(base, value, changes) for base, changes, values in [
            (own, "jobs", {
                "file": str(folder / "log.swf"), "start_s": 0.5, "duration_s": 1.0, "keep_share": 0.5, "max_tasks": 2,
                "homes": "drawn", "cpu_scale": 3.0, "processor": "node", "memory": "drawn", "memory_per": "job",
                "sample": 0.5,
            }),
            (read("table.csv", columns=BY_COLUMNS), "jobs", {
                "columns": BY_COLUMNS | {"run": {"column": "took", "unit": "ms"}},
            }),
            (read("plain-sacct.txt", map="sacct-n", fields=SACCT_ORDER), "jobs", {
                "fields": "JobID,State,Submit,NCPUS,ElapsedRaw",
            }),
            (read("hbd.csv", run=0), "jobs", {"run": 4}),
            (read("swim.tsv", task_mb=8.0), "jobs", {"cpu_ms_per_mb": 30.0}),
            (swim, "jobs", {"task_mb": 20.0}),
            (read("users.csv"), "jobs", {"resample": "users"}),
            (read("users.csv", resample="shake"), "jobs", {"shake_s": 7000.0}),
            (swf, "jobs", {"cpu_time": "run"}),
            (read("users.swf"), "jobs", {"dependences": True}),
            (read("sacct.txt"), "jobs", {"disk_read_share": 0.6, "disk_write_share": 0.8}),
            (read("large.csv"), "refused", {"max_mb": 1}),
        ] for name, value in values.items()
    } | {
        f"data.file.{name}": Effect(placed, [MAPS | {name: value}, IMAGES], changes, "files = 'maps': no")
        for name, value, changes in [("name", "tiles", "refused"), ("size_mb", 9.0, "run"), ("at", [0], "run")]
    } | {
        "data.file": Effect(placed, [MAPS, IMAGES | {"size_mb": 30.0}], "run"),
        "workload.trace.format": Effect(own, "swf", "refused", "allowed: 18 numbers"),
        "workload.trace.map": Effect(own, "swf", "refused", "allowed: 18 numbers"),
        "workload.kind": Effect(FEW | {"workload.trace": {}}, "trace", "refused"),
        "workload.programs.file": Effect(PROGRAMS, str(folder / "programs.csv"), "jobs"),
        "workload.programs.max_mb": Effect(
            PROGRAMS | {"workload.programs.file": str(folder / "large-programs.csv")}, 1, "refused"),
        "interconnect.part": Effect(FEW | {
            "cluster.nodes": 2, "interconnect.part": "largest", "interconnect.file": str(folder / "parts.json")},
            None, "refused"),
        "interconnect.max_mb": Effect(FEW | {
            "cluster.nodes": 2, "interconnect.part": "largest", "interconnect.file": str(folder / "large.json")},
            1, "refused"),
        "interconnect.gflops_per_speed": Effect(FEW | {
            "cluster.nodes": 2, "interconnect.file": str(folder / "platform.xml")}, 2.0, "run"),
    } | {
        f"failures.{name}": Effect(BUSY | {"failures.file": str(folder / file)}, value, changes)
        for file, name, value, changes in [
            ("outages.csv", "file", str(folder / "recorded.csv"), "run"), ("recorded.csv", "map", "lanl", "run"),
            ("outages.csv", "columns", {"node": "node", "down": {"column": "up_s"}}, "run"),
            ("outages.csv", "filter", "node == 2", "run"), ("outages.csv", "start_s", 0.3, "run"),
            ("large-outages.csv", "max_mb", 1, "refused"),
        ]
    }  # fmt: skip


EFFECTS = CLUSTER | GROUPS | ARRIVALS | WORKLOAD | DATA | NEGOTIATION | NETWORK | FAILURES | SCRIPT | OTHERS
