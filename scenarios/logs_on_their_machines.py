"""Two logs of the Parallel Workloads Archive on their own machines: simulated against recorded waits.

    python scenarios/logs_on_their_machines.py --hpc2n HPC2N-2002-2.2-cln.swf.xz \
        --lanl LANL-CM5-1994-4.1-cln.swf.xz --out docs/validation

Four weeks at a time, after a week that is replayed before them and not counted, from the scenarios `replay-hpc2n` and
`replay-lanl-cm5`; nothing is scaled. Writes `logs.csv`; it takes six minutes. docs/validation/logs.md discusses it.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pandas as pd
from script_options import out_option

from cluster_abm import ClusterModel, load_scenario

DAY_S = 86_400.0
COUNTED_S, BEFORE_S = 28 * DAY_S, 7 * DAY_S
# First days that are counted: a light, a middling and a heavy stretch of each log.
STRETCHES = {"replay-hpc2n": (1008, 56, 560), "replay-lanl-cm5": (476, 56, 252)}
# Shorter jobs count as so long in slowdowns, as is usual for such logs (bounded slowdown).
SHORTEST_S = 10.0
SUBMIT, WAIT, RUN, ALLOCATED, CPU, REQUESTED = 1, 2, 3, 4, 5, 7


def recorded(path: Path, cpu_time: str, begin_s: float, end_s: float) -> pd.DataFrame:
    """What a log says of the jobs submitted from `begin_s` to `end_s`, those that ran, by submission [s]."""
    log = pd.read_csv(path, sep=r"\s+", comment=";", header=None)
    # The simulator's rules (workload/traces/formats/swf.py), here on the file itself.
    run, cpu = log[RUN], log[CPU]
    task_s = run.where((cpu < 0) | ((run > 0) & (cpu > run)), cpu)
    if cpu_time == "run":
        task_s = run.where(run > 0, cpu)
    processors = log[ALLOCATED].where(log[ALLOCATED] > 0, log[REQUESTED])
    jobs = pd.DataFrame(
        {
            "submit_s": log[SUBMIT],
            "wait_s": log[WAIT].clip(lower=0),
            "run_s": run,
            "task_s": task_s,
            "tasks": processors,
        }
    )
    ran = (jobs["task_s"] > 0) & (jobs["tasks"] > 0)
    jobs = jobs[ran & (jobs["submit_s"] >= begin_s) & (jobs["submit_s"] < end_s)]
    return jobs.sort_values("submit_s", kind="stable", ignore_index=True)


def simulated(name: str, path: Path, begin_s: float, end_s: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tasks of a run of these jobs, and its jobs by submission: submit_s, tasks, task_s and response_s."""
    keys = {"file": str(path), "start_s": begin_s, "duration_s": end_s - begin_s}
    model = ClusterModel(load_scenario(name, {f"workload.trace.{key}": value for key, value in keys.items()}), seed=1)
    model.run()
    tasks = model.jobs_frame()
    by_job = tasks.groupby("job").agg(
        arrival_ms=("arrival_ms", "first"),
        tasks=("task", "size"),
        cpu_ms=("cpu_ms", "first"),
        last=("finish_ms", "max"),
    )
    jobs = pd.DataFrame(
        {
            "submit_s": by_job["arrival_ms"] / 1000.0 + begin_s,
            "tasks": by_job["tasks"],
            "task_s": by_job["cpu_ms"] / 1000.0,
            "response_s": (by_job["last"] - by_job["arrival_ms"]) / 1000.0,
        }
    ).reset_index(drop=True)
    return tasks, jobs


def held(start_s: pd.Series, end_s: pd.Series, processors: pd.Series | float, begin_s: float, window_s: float) -> float:
    """Processor-seconds of tasks or jobs within a window."""
    inside = end_s.clip(begin_s, begin_s + window_s) - start_s.clip(begin_s, begin_s + window_s)
    return float((inside * processors).sum())


def share_overfull(start_s: pd.Series, end_s: pd.Series, tasks: pd.Series, processors: int, begin_s: float) -> float:
    """Share of the counted weeks in which jobs held more processors than there are."""
    change = pd.DataFrame({"at_s": pd.concat([start_s, end_s]), "by": pd.concat([tasks, -tasks])})
    held_then = change.groupby("at_s")["by"].sum().cumsum()
    at_s = held_then.index.to_numpy(float).clip(begin_s, begin_s + COUNTED_S)
    return float(np.diff(at_s)[held_then.to_numpy()[:-1] > processors].sum()) / COUNTED_S


def row(response_s: pd.Series, wait_s: pd.Series, task_s: pd.Series, held_share: float) -> dict[str, float]:
    """What is said of one way that jobs went."""
    slowdown = np.maximum(1.0, response_s / np.maximum(task_s, SHORTEST_S))
    return {
        "held": held_share,
        "mean_wait_h": float(wait_s.mean()) / 3600.0,
        "median_wait_s": float(wait_s.median()),
        "p95_wait_h": float(wait_s.quantile(0.95)) / 3600.0,
        "mean_slowdown": float(slowdown.mean()),
    }


def stretch(name: str, path: Path, first_day: float) -> list[dict[str, object]]:
    """Two rows: four weeks as recorded, and as simulated."""
    begin_s = first_day * DAY_S
    replayed_from_s, end_s = max(0.0, begin_s - BEFORE_S), begin_s + COUNTED_S
    scenario = load_scenario(name)
    everything = recorded(path, scenario.workload.trace.cpu_time, 0.0, end_s)
    log = everything[everything["submit_s"] >= replayed_from_s].reset_index(drop=True)
    tasks, jobs = simulated(name, path, replayed_from_s, end_s)
    if not (
        len(log) == len(jobs)
        and np.allclose(log[["submit_s", "tasks", "task_s"]], jobs[["submit_s", "tasks", "task_s"]])
    ):
        raise SystemExit(f"{path}: the simulated jobs are not those of the log")
    processors = scenario.cluster.nodes * scenario.cluster.cores
    capacity = processors * COUNTED_S
    counted = log["submit_s"] >= begin_s
    started_s = everything["submit_s"] + everything["wait_s"]
    ended_s = started_s + everything["run_s"]
    log_held = held(started_s, ended_s, everything["tasks"], begin_s, COUNTED_S) / capacity
    overfull = share_overfull(started_s, ended_s, everything["tasks"], processors, begin_s)
    finish_s = tasks["finish_ms"] / 1000.0 + replayed_from_s
    own_held = held(finish_s - tasks["cpu_ms"] / 1000.0, finish_s, 1.0, begin_s, COUNTED_S) / capacity
    log, jobs = log[counted], jobs[counted]
    same = {
        "scenario": name,
        "first_day": first_day,
        "jobs": len(log),
        "offered": float((log["task_s"] * log["tasks"]).sum()) / capacity,
    }
    response_s = log["wait_s"] + log["run_s"]
    return [
        {**same, "how": "recorded", **row(response_s, log["wait_s"], log["task_s"], log_held), "overfull": overfull},
        {
            **same,
            "how": "simulated",
            **row(jobs["response_s"], jobs["response_s"] - jobs["task_s"], jobs["task_s"], own_held),
        },
    ]


@click.command()
@click.option("--hpc2n", type=click.Path(path_type=Path, exists=True), required=True, help="HPC2N's log.")
@click.option("--lanl", type=click.Path(path_type=Path, exists=True), required=True, help="LANL's log of its CM-5.")
@out_option
def main(hpc2n: Path, lanl: Path, out: Path) -> None:
    """Replay, print, and write CSV."""
    rows = []
    for name, path in (("replay-hpc2n", hpc2n), ("replay-lanl-cm5", lanl)):
        for first_day in STRETCHES[name]:
            rows += stretch(name, path, first_day)
            click.echo(pd.DataFrame(rows[-2:]).to_string(index=False, header=len(rows) == 2), err=True)
    table = pd.DataFrame(rows)
    out.mkdir(parents=True, exist_ok=True)
    table.to_csv(out / "logs.csv", index=False, float_format="%.5g")
    click.echo(table.to_string(index=False, float_format=lambda value: f"{value:,.3g}"))


if __name__ == "__main__":
    main()
