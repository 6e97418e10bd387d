"""What a job costs under every policy, by the number of nodes; and EASY on a whole log, beside one by hand."""

from __future__ import annotations

import inspect
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import easy_by_hand
from own import cpu_only

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.policies import available, create
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.schema import PolicyChoice

Row = dict[str, Any]
# Simulated seconds by nodes: enough for some ten thousand jobs each.
WINDOWS_S = {32: 600.0, 100: 200.0, 320: 60.0}
REQUESTS = {"workload.requested_over_actual": {"kind": "uniform", "mean": 1.5}}
# Memory-centric policies are about nodes that page, those of files about files.
MEMORY = {
    "workload.memory_mb": {"kind": "exponential", "mean": 25.0}, "cluster.memory_mb": 100.0,
    "cluster.page_fault_rate_per_ms": 0.01, "cluster.paging": "oversize", "policy.settling_ms": 200.0,
}  # fmt: skip
OF_MEMORY = ("age", "combined", "io-active", "no-ls-blocking", "pf-rate", "working-set")
OF_FILES = ("data-access", "data-class", "data-majority")
HPC2N_CORES = 240
# Of these a copy in a file of a user's own is measured beside the shipped one.
COPIED = ("jsq", "easy", "jiq")


def work_for(policy: str, nodes: int, window_s: float) -> Scenario:
    """CPU-only jobs of 1 s in the mean at utilisation 0.7, with what else the policy is about."""
    overrides: dict[str, object] = {"policy.name": policy}
    if "requested_ms" in available()[policy].required_demands:
        overrides |= REQUESTS
    if policy in OF_MEMORY:
        overrides |= MEMORY
    if policy in OF_FILES:
        overrides |= {"data.files": 2 * nodes}
    return cpu_only(window_s, nodes, overrides)


def cost_us(scenario: Scenario, repeats: int, policy: str | None = None) -> tuple[float, str]:
    """CPU time of a run per job, the least of several [us]; and why managers decide in Python ("": they do not).

    Args:
        scenario: what runs.
        repeats: how many runs.
        policy: FILE.py:CLASS in the place of the scenario's policy.
    """
    ClusterModel(scenario, seed=1, policy=policy, keep_decisions=False).run(until_ms=2000.0)
    least, reason = float("inf"), ""
    for _ in range(repeats):
        model = ClusterModel(scenario, seed=1, policy=policy, keep_decisions=False)
        begun_s = time.process_time()
        model.run()
        taken_s = time.process_time() - begun_s
        least, reason = min(least, taken_s / max(1, model.submitted_jobs) * 1e6), model.decides_in_python
    return least, reason


def of_copy(name: str, nodes: tuple[int, ...], shrink: float, repeats: int) -> Row:
    """What a copy of a shipped policy's file costs, given as FILE.py:CLASS, as a row of `by_policy`."""
    shipped = available()[name]
    source = inspect.getsourcefile(shipped)
    assert source is not None
    row: Row = {"policy": f"{name}, a copy", "us": {}, "in_python": ""}
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(source, Path(folder) / "copied.py")
        for count in nodes:
            scenario = work_for(name, count, WINDOWS_S[count] / shrink)
            row["us"][count], row["in_python"] = cost_us(scenario, repeats, f"{copy}:{shipped.__name__}")
    return row


def by_policy(shrink: float, repeats: int, nodes: tuple[int, ...] = tuple(WINDOWS_S)) -> Row:
    """CPU us a job of every policy that this machine has, `jsq` first.

    Args:
        shrink: by what the windows are shorter.
        repeats: of each run the least of so many counts.
        nodes: sizes of clusters, of WINDOWS_S.
    """
    names = ["jsq", "none", *sorted(set(available()) - {"jsq", "none"})]
    rows: list[Row] = []
    for name in names:
        row: Row = {"policy": name, "us": {}, "in_python": ""}
        for count in nodes:
            try:
                create(PolicyChoice(name=name))
                row["us"][count], row["in_python"] = cost_us(work_for(name, count, WINDOWS_S[count] / shrink), repeats)
            except InputError as refusal:
                row["in_python"] = f"not measured: {refusal}"[:100]
        rows.append(row)
        if name in COPIED:
            rows.append(of_copy(name, nodes, shrink, repeats))
    return {"windows_s": {count: WINDOWS_S[count] / shrink for count in nodes}, "rows": rows}


def on_a_log(path: Path) -> Row:
    """A whole log of parallel jobs under `easy`, HPC2N's on its own machine, and EASY by hand: CPU seconds of each."""
    model = ClusterModel(
        "replay-hpc2n",
        policy="easy",
        seed=1,
        keep_decisions=False,
        workload__trace__file=str(path),
        # Each day, not each hour: measurements are no part of what is compared.
        measure__period_ms=86_400_000.0,
    )
    begun_s = time.process_time()
    model.run()
    ours_s = time.process_time() - begun_s
    jobs = easy_by_hand.jobs_of(path)
    begun_s = time.process_time()
    starts = easy_by_hand.starts_of(jobs, HPC2N_CORES)
    by_hand_s = time.process_time() - begun_s
    waits_s = [start - job.submit for start, job in zip(starts, jobs, strict=True)]
    held = model.jobs_frame().groupby("job")["blocked_ms"].max()
    return {
        "log": path.name, "jobs": len(model.jobs), "tasks": model.engine.finished, "easy_cpu_s": ours_s,
        "by_hand_cpu_s": by_hand_s, "ratio": ours_s / by_hand_s, "easy_mean_wait_s": float(held.mean()) / 1000.0,
        "by_hand_mean_wait_s": sum(waits_s) / len(waits_s),
    }  # fmt: skip
