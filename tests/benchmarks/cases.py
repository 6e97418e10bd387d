"""The benchmarks: what is measured against what, and what was asked for. Each returns plain data for table and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import decisions
import families
import learning
import own
import plain_mesa
import scale
import simpy_cpu
import simpy_disk
import talking
from measuring import cpu_seconds
from work import CPU_MEAN_S, NODES, UTILISATION, Outcome

from cluster_abm import load_scenario

Row = dict[str, Any]
SEED = 1

# Measured once, on another day, on the machine that the project's targets were written on: not from this run.
QUOTED_JOBS_PER_CPU_S = {"SimPy virtual time": 73_000, "SimGrid 3.32 C++": 28_000, "Mesa 10 ms slices": 10_000}
QUOTED_REQUESTS_PER_CPU_S = {"SimGrid 3.32 C++": 152_000, "SimPy": 55_800}


@dataclass(frozen=True)
class Sizes:
    """Simulated seconds of each case, and how often it is repeated.

    Rates are per unit of work, so the slow yardsticks may run shorter than the fast ones.
    """

    repeats: int = 3
    cpu_s: float = 3600.0
    round_robin_s: float = 600.0
    stepped_s: float = 600.0
    disk_s: float = 600.0
    disk_yardstick_s: float = 60.0
    scale_s: float = 600.0
    idle_s: float = 1200.0
    many_cores_s: float = 300.0
    decision_cpu_s: float = 0.2
    policy_s: float = 300.0
    learning_s: float = 600.0
    talking_s: float = 300.0


QUICK = Sizes(
    repeats=1, cpu_s=300.0, round_robin_s=60.0, stepped_s=60.0, disk_s=60.0, disk_yardstick_s=10.0, scale_s=60.0,
    idle_s=120.0, many_cores_s=10.0, decision_cpu_s=0.02, policy_s=30.0,
    learning_s=60.0, talking_s=20.0,
)  # fmt: skip


def warm_up() -> None:
    """Compile, import and touch everything once; not measured."""
    for work in (own.cpu_only(5.0), own.disk_bound(5.0)):
        own.run_watched(work)
    for yardstick in (
        plain_mesa.run_usual, plain_mesa.run_fast, simpy_cpu.run_usual, simpy_cpu.run_fast, simpy_cpu.run_round_robin,
        simpy_disk.run_usual, simpy_disk.run_fast,
    ):  # fmt: skip
        yardstick(SEED, 5.0)
    decisions.policy_cost(decisions.io_work(5.0, NODES, "iolb"))


def cpu_only(sizes: Sizes) -> Row:
    """Jobs per CPU second on the CPU-only work."""
    every_second = {"measure.period_ms": own.WATCHED_EVERY_MS}
    whole, watched = own.cpu_only(sizes.cpu_s), own.cpu_only(sizes.cpu_s, overrides=every_second)
    stepped = own.cpu_only(sizes.stepped_s)
    cases: dict[str, Callable[[], Outcome]] = {
        "cluster_abm run()": partial(own.run, whole),
        "cluster_abm run(), watched each second": partial(own.run_watched, watched),
        "cluster_abm step(), watched each slice": partial(own.run_stepped, stepped),
        "plain Mesa 10 ms slices, usual": partial(plain_mesa.run_usual, SEED, sizes.cpu_s),
        "plain Mesa 10 ms slices, fastest": partial(plain_mesa.run_fast, SEED, sizes.cpu_s),
        "SimPy virtual time, usual": partial(simpy_cpu.run_usual, SEED, sizes.cpu_s),
        "SimPy virtual time, fastest": partial(simpy_cpu.run_fast, SEED, sizes.cpu_s),
        "SimPy round robin 10 ms": partial(simpy_cpu.run_round_robin, SEED, sizes.round_robin_s),
    }
    short = own.cpu_only(min(60.0, sizes.stepped_s), overrides=every_second)
    return {
        "unit": "jobs",
        "theory": f"mean response {CPU_MEAN_S / (1.0 - UTILISATION) * 1000.0:,.0f} ms at utilisation {UTILISATION}",
        "rows": _rates(cases, sizes.repeats),
        "quoted": QUOTED_JOBS_PER_CPU_S,
        "share_of_jobs_made_agents": {
            "cluster_abm run()": 0.0,
            "cluster_abm run(), watched each second": own.share_of_jobs_made_agents(short, stepped=False),
            "cluster_abm step(), watched each slice": own.share_of_jobs_made_agents(short, stepped=True),
        },
    }


def disk_bound(sizes: Sizes) -> Row:
    """Disk requests per CPU second on the disk-bound work."""
    cases: dict[str, Callable[[], Outcome]] = {
        "cluster_abm run()": partial(own.run, own.disk_bound(sizes.disk_s)),
        "SimPy, resources (usual)": partial(simpy_disk.run_usual, SEED, sizes.disk_yardstick_s),
        "SimPy, no queues (fastest)": partial(simpy_disk.run_fast, SEED, sizes.disk_yardstick_s),
    }
    return {
        "unit": "requests",
        "theory": f"disk utilisation {UTILISATION} (in a short window less: it begins empty)",
        "rows": _rates(cases, sizes.repeats),
        "quoted": QUOTED_REQUESTS_PER_CPU_S,
    }


def idle_nodes(sizes: Sizes) -> Row:
    """The same work alone and inside a cluster of 1024 nodes, and 1024 nodes with next to nothing to do."""
    few, many = NODES, 1024
    cases: dict[str, Callable[[], Outcome]] = {
        f"{few} nodes, all at work": partial(own.run, own.work_for_few(sizes.idle_s, few, few)),
        f"{many} nodes, {few} at work": partial(own.run, own.work_for_few(sizes.idle_s, many, few)),
    }
    rows = _rates(cases, sizes.repeats)
    extra_s = rows[1]["cpu_s"] - rows[0]["cpu_s"]
    slices = sizes.idle_s * 100.0
    return {
        "unit": "jobs",
        "rows": rows,
        "cost_ratio": rows[1]["cpu_s"] / rows[0]["cpu_s"],
        "idle_node_slice_ns": extra_s / (slices * (many - few)) * 1e9,
    }


def many_cores(sizes: Sizes) -> Row:
    """As many cores in few nodes and in many; and nodes of many cores that have nothing to do."""
    cases: dict[str, Callable[[], Outcome]] = {
        "100 nodes, 64 cores each": partial(own.run, own.many_cores(sizes.many_cores_s, 100, 64)),
        "6400 nodes, 1 core each": partial(own.run, own.many_cores(sizes.many_cores_s, 6400, 1)),
        "32 nodes at work, 992 idle ones of 64 cores": partial(
            own.run, own.beside_idle_cores(sizes.idle_s, 1024, NODES, 64)
        ),
        "32 nodes at work, 992 idle ones of 1 core": partial(
            own.run, own.beside_idle_cores(sizes.idle_s, 1024, NODES, 1)
        ),
    }
    rows = _rates(cases, sizes.repeats)
    each = [row["us_per_unit"] for row in rows]
    return {"unit": "jobs", "rows": rows, "cost_ratio": each[0] / each[1], "idle_ratio": each[2] / each[3]}


def scaling(sizes: Sizes) -> Row:
    """Cost per unit of work at equal load per node, and over longer windows."""
    cases: dict[str, Callable[[], Outcome]] = {}
    for nodes in (32, 256, 1024):
        cases[f"CPU-only, {nodes} nodes"] = partial(own.run, own.cpu_only(sizes.scale_s, nodes))
    for nodes in (32, 256, 1024):
        cases[f"disk-bound, {nodes} nodes"] = partial(own.run, own.disk_bound(sizes.scale_s / 10.0, nodes))
    for factor in (1, 4, 16):
        cases[f"CPU-only, 32 nodes, {factor}x as long"] = partial(own.run, own.cpu_only(sizes.scale_s * factor))
    return {"unit": "jobs or requests", "rows": _rates(cases, sizes.repeats)}


def theorem_1(sizes: Sizes) -> Row:
    """Cost of placing one job with IOLB over n nodes and m tasks, and the fit of m (a + b n)."""
    costs = decisions.iolb_decision_costs([32, 256, 1024], [1, 4, 16], sizes.decision_cpu_s)
    per_task_us, per_task_and_node_us, worst = decisions.fit_o_of_nm(costs)
    return {
        "rows": [{"nodes": cost.nodes, "tasks": cost.tasks, "job_us": cost.job_us} for cost in costs],
        "per_task_us": per_task_us,
        "per_task_and_node_us": per_task_and_node_us,
        "worst_relative_error": worst,
    }


def policies(sizes: Sizes) -> Row:
    """CPU seconds inside and outside the engine: I/O-intensive jobs on 32 and 1,000 nodes, and the papers' own work."""
    names = ("none", "jsq", "clb", "iolb", "wal-re", "wal-pm", "iocm-re", "iocm-pm", "hbd")
    runs = {f"{name}, 32 nodes": decisions.io_work(sizes.policy_s, 32, name) for name in names}
    runs |= {f"{name}, 1000 nodes": decisions.io_work(sizes.policy_s / 25, 1000, name) for name in names}
    window = {"workload.duration_s": sizes.policy_s * 4}
    for paper, name in (("iolb-table-1", "iolb"), ("wal-pm-fig2", "wal-pm"), ("iocm-io", "iocm-pm")):
        runs[f"{name}, {paper}"] = load_scenario(paper, {**window, "policy.name": name})
    costs: dict[str, list[decisions.PolicyCost]] = {what: [] for what in runs}
    for _ in range(sizes.repeats):
        for what, scenario in runs.items():
            costs[what].append(decisions.policy_cost(scenario))
    rows = []
    for what in runs:
        # The run of median cost, whole: its parts then add up.
        cost = sorted(costs[what], key=lambda cost: cost.run_cpu_s)[sizes.repeats // 2]
        measured = {"decision_us": cost.decision_us, "beside_engine": cost.beside_engine}
        rows.append({"name": what, **asdict(cost), **measured})
    return {"simulated_s": sizes.policy_s, "rows": rows}


def every_policy(sizes: Sizes) -> Row:
    """CPU time a job under every policy, by the number of nodes."""
    is_quick = sizes.cpu_s <= QUICK.cpu_s
    return families.by_policy(
        30.0 if is_quick else 1.0, sizes.repeats, (32,) if is_quick else tuple(families.WINDOWS_S)
    )


def large_clusters(sizes: Sizes) -> Row:
    """Decisions by policy and number of nodes; memory and first compilation in processes of their own."""
    is_quick = sizes.cpu_s <= QUICK.cpu_s
    windows = scale.QUICK if is_quick else scale.FULL
    found: Row = {"deciding": scale.deciding(windows, sizes.repeats), "memory": scale.memory(2.0 if is_quick else 60.0)}
    if not is_quick:
        with TemporaryDirectory() as folder:
            found["first_compilation"] = scale.first_compilation(folder)
    return found


def environment(sizes: Sizes) -> Row:
    """Decisions per CPU second of the environment for learners, 32 nodes."""
    environments = learning.environments(sizes.learning_s)
    next(iter(environments.values())).reset(seed=2)
    rows = []
    played = cpu_seconds({name: partial(learning.play, env) for name, env in environments.items()}, sizes.repeats)
    for name, (cpu_s, episode) in played.items():
        rate = episode.decisions / cpu_s
        ratio = rate / learning.WANTED_PER_CPU_S
        rows.append({"name": name, **asdict(episode), "cpu_s": cpu_s, "per_cpu_s": rate, "of_wanted": ratio})
    return {"wanted_per_cpu_s": learning.WANTED_PER_CPU_S, "rows": rows}


def talk(sizes: Sizes) -> Row:
    """Policies whose load managers talk, beside one that is compiled."""
    return {"rows": talking.rows(sizes.talking_s, sizes.repeats)}


def targets(cpu: Row, disk: Row, large: Row) -> list[Row]:
    """What was asked for, against this run's yardsticks and against the quoted figures."""
    jobs = {row["name"]: row["per_cpu_s"] for row in cpu["rows"]}
    requests = {row["name"]: row["per_cpu_s"] for row in disk["rows"]}
    rows: list[Row] = []

    def compare(what: str, rate: float, yardstick: str, yard_rate: float, wanted: float) -> None:
        ratio = rate / yard_rate
        rows.append({"what": what, "yardstick": yardstick, "ratio": ratio, "wanted": wanted, "met": ratio >= wanted})

    for name in (name for name in jobs if name.startswith("cluster_abm")):
        compare(name, jobs[name], "plain Mesa 10 ms slices, usual", jobs["plain Mesa 10 ms slices, usual"], 10.0)
        compare(name, jobs[name], "plain Mesa 10 ms slices, fastest", jobs["plain Mesa 10 ms slices, fastest"], 10.0)
        compare(name, jobs[name], "SimPy virtual time, usual", jobs["SimPy virtual time, usual"], 1.0)
    for row in large["deciding"]:
        if row["nodes"] == 1000:
            what, simpy = f"{row['policy']}, 1,000 nodes", "SimPy virtual time, usual"
            compare(what, row["jobs_per_cpu_s"], f"{simpy}, 32, no policy", jobs[simpy], 1.0)
        compare(name, jobs[name], "SimPy virtual time, fastest", jobs["SimPy virtual time, fastest"], 1.0)
        compare(name, jobs[name], "SimPy virtual time (quoted)", QUOTED_JOBS_PER_CPU_S["SimPy virtual time"], 1.0)
        compare(name, jobs[name], "Mesa 10 ms slices (quoted)", QUOTED_JOBS_PER_CPU_S["Mesa 10 ms slices"], 10.0)
    own_disk = "cluster_abm run()"
    what = "disk-bound"
    compare(what, requests[own_disk], "SimPy, resources (usual)", requests["SimPy, resources (usual)"], 20.0)
    compare(what, requests[own_disk], "SimPy, no queues (fastest)", requests["SimPy, no queues (fastest)"], 20.0)
    compare(what, requests[own_disk], "SimPy (quoted)", QUOTED_REQUESTS_PER_CPU_S["SimPy"], 20.0)
    compare(what, requests[own_disk], "SimGrid C++ (quoted)", QUOTED_REQUESTS_PER_CPU_S["SimGrid 3.32 C++"], 5.0)
    return rows


def faster_than_quoted(disk: Row) -> float:
    """How many times this run's usual SimPy disk model is as fast as the quoted one: what quoted ratios flatter by."""
    usual = next(row for row in disk["rows"] if row["name"] == "SimPy, resources (usual)")
    return float(usual["per_cpu_s"] / QUOTED_REQUESTS_PER_CPU_S["SimPy"])


def _rates(cases: Mapping[str, Callable[[], Outcome]], repeats: int) -> list[Row]:
    return [
        {
            "name": name,
            "units": outcome.units,
            "cpu_s": cpu_s,
            "per_cpu_s": outcome.units / cpu_s,
            "us_per_unit": cpu_s / outcome.units * 1e6,
            "mean_response_ms": outcome.mean_response_ms,
            "utilisation": outcome.utilisation,
        }
        for name, (cpu_s, outcome) in cpu_seconds(cases, repeats).items()
    ]
