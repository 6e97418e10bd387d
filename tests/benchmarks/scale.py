"""Decisions on clusters of any size: their cost, beside the same run in Python; memory, first compilation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import own

from cluster_abm import ClusterModel
from cluster_abm.scenario import Scenario

Row = dict[str, Any]
POLICIES = ("none", "jsq", "power-of-d", "iolb", "wal-re", "data-access")
# The longest time that a decision may take [us], by number of nodes.
WANTED_US = {32: 2.0, 1000: 4.0, 10_000: 10.0}
IOLB_WANTED_US = {**WANTED_US, 10_000: 20.0}
# The longest that an hour may take [CPU s].
WANTED_HOUR_S = {1000: 20.0, 10_000: 400.0}


@dataclass(frozen=True)
class Window:
    """So many nodes, and how long they work [s]; in Python for a shorter time."""

    nodes: int
    seconds: float
    in_python_s: float


FULL = (Window(32, 3600.0, 300.0), Window(1000, 300.0, 10.0), Window(10_000, 60.0, 1.0))
QUICK = (Window(32, 120.0, 30.0), Window(1000, 10.0, 1.0))


def work(policy: str, nodes: int, seconds: float) -> Scenario:
    """CPU-only work on so many nodes; of `data-access` also two files a node, in clusters of nodes far apart."""
    if policy != "data-access":
        return own.cpu_only(seconds, nodes, {"policy.name": policy})
    clusters = {
        "interconnect.kind": "clusters", "interconnect.clusters": 4, "interconnect.latency_ms": 0.1,
        "interconnect.trunk_latency_ms": 20.0, "interconnect.trunk_bandwidth_mbps": 100.0, "data.files": 2 * nodes,
        "data.copies": 2, "data.size_mb": {"kind": "exponential", "mean": 0.016}, "data.popularity_skew": 0.5,
    }  # fmt: skip
    return own.cpu_only(seconds, nodes, {"policy.name": policy, **clusters})


def run_cpu_s(scenario: Scenario, compiles: bool = True) -> tuple[float, ClusterModel]:
    """CPU seconds of `run()`, and the model."""
    model = ClusterModel(scenario, seed=1, keep_decisions=False, compile_decisions=compiles)
    begun_s = time.process_time()
    model.run()
    return time.process_time() - begun_s, model


def deciding(windows: tuple[Window, ...], repeats: int) -> list[Row]:
    """CPU seconds of an hour under each policy, and of a decision: what the run takes more than one without policy.

    The least of several runs: other work on a machine only adds to it.
    """
    rows = []
    for window in windows:
        # Of more nodes the times to fetch all files are more than a table holds: managers decide in Python.
        policies = [policy for policy in POLICIES if policy != "data-access" or window.nodes <= 1000]
        taken: dict[str, list[float]] = {policy: [] for policy in policies}
        models: dict[str, ClusterModel] = {}
        # First of all once for nothing: what is compiled, and read from disk.
        for policy in policies:
            run_cpu_s(work(policy, window.nodes, 1.0))
        for _ in range(repeats):
            for policy in policies:
                cpu_s, models[policy] = run_cpu_s(work(policy, window.nodes, window.seconds))
                taken[policy].append(cpu_s)
        alone_s = min(taken["none"])
        for policy in policies:
            model, cpu_s = models[policy], min(taken[policy])
            decisions, hour_s = model.parts.log.taken, cpu_s / window.seconds * 3600.0
            row = {
                "policy": policy, "nodes": window.nodes, "jobs": len(model.jobs), "decisions": decisions,
                "cpu_s": cpu_s, "hour_s": hour_s, "jobs_per_cpu_s": len(model.jobs) / cpu_s,
            }  # fmt: skip
            if policy != "none":
                wanted_us = (IOLB_WANTED_US if policy == "iolb" else WANTED_US)[window.nodes]
                decision_us = (cpu_s - alone_s) / decisions * 1e6
                plain_s, plain = run_cpu_s(work(policy, window.nodes, window.in_python_s), compiles=False)
                row |= {
                    "decision_us": decision_us, "wanted_us": wanted_us, "met": decision_us <= wanted_us,
                    "in_python_us": plain_s / plain.parts.log.taken * 1e6,
                }  # fmt: skip
            if window.nodes in WANTED_HOUR_S and policy != "none":
                row["hour_met"] = hour_s <= WANTED_HOUR_S[window.nodes]
            rows.append(row)
    return rows


CHILD = """
import json, os, sys, time
os.sched_setaffinity(0, range(os.cpu_count()))
from cluster_abm import ClusterModel
scenario, keywords = sys.argv[1], json.loads(sys.argv[2])
for _ in range(keywords.pop("warm_ups", 0)):
    # What is compiled is read from the disk, and memory has been used before.
    ClusterModel(scenario, seed=1, keep_decisions=False, **keywords).run()
begun = time.perf_counter(), time.process_time()
model = ClusterModel(scenario, seed=1, keep_decisions=False, **keywords)
made = time.perf_counter(), time.process_time()
model.run()
done = time.perf_counter(), time.process_time()
model.summary()
peak_mb = int(next(line for line in open("/proc/self/status") if "VmHWM" in line).split()[1]) / 1024
print(json.dumps({"jobs": len(model.jobs), "wall_s": done[0] - made[0], "cpu_s": done[1] - made[1],
                  "all_s": time.perf_counter() - begun[0], "all_cpu_s": time.process_time(), "peak_mb": peak_mb}))
"""


def in_a_process(scenario: str, keywords: Row, environment: dict[str, str] | None = None) -> Row:
    """A run in a fresh process, on all cores: its times and its peak memory."""
    command = [sys.executable, "-c", CHILD, scenario, json.dumps(keywords)]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, check=True, text=True, env={**os.environ, **(environment or {})}
    )
    found: Row = json.loads(done.stdout)
    return found


def memory(seconds: float) -> list[Row]:
    """Peak memory of many nodes at work, imports included; of the most nodes no rows are kept."""
    rows = []
    for nodes, records in ((10_000, "all"), (100_000, "summary")):
        for policy in ("none", "jsq"):
            keywords = {
                "cluster__nodes": nodes, "workload__duration_s": seconds, "policy__name": policy,
                "measure__records": records, "run__until": seconds * 1000.0,
            }  # fmt: skip
            found = in_a_process("cpu-bound", keywords)
            rows.append({"nodes": nodes, "records": records, "policy": policy, "seconds": seconds, **found})
    return rows


def first_compilation(folder: str) -> Row:
    """Seconds that quickstart takes where nothing is compiled yet, and the second time."""
    keywords: Row = {"run__until": 1000.0}
    first, second = (in_a_process("quickstart", keywords, {"CLUSTER_ABM_CACHE_DIR": folder}) for _ in range(2))
    return {"first_cpu_s": first["all_cpu_s"], "second_cpu_s": second["all_cpu_s"]}
