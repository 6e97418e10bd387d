"""Batches, measured: `python tests/benchmarks/batches.py [--quick] [--json]`.

What a run costs beside itself, what a second worker gains with long and with short runs, whether memory stays flat over
many runs, and how long a store of many runs takes to open. Wall time, on as many processors as there are: give it an
idle machine.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import tomli_w

STUDY = {"scenario": "quickstart", "policies": ["none"], "grid": {"cluster.nodes": [2]}}
# Runs of `quickstart`, of 7 ms or less and of 0.3 s, with how many make a batch, and how many a smoke run.
SHORT = {"7 ms": (20.0, 300, 60), "0.3 s": (8000.0, 240, 20)}
# A run of some milliseconds, and one of a second or more.
TINY = {"workload.duration_s": 2.0, "workload.jobs_per_s": 0.5, "workload.tasks.maximum": 2}
SECOND = {"cluster.nodes": 32, "workload.duration_s": 9000.0, "workload.jobs_per_s": 0.4}


def write_study(folder: Path, overrides: dict[str, Any], **changes: Any) -> Path:
    """A study file of one cell."""
    grid = {"cluster.nodes": [overrides.get("cluster.nodes", 2)]}
    path = folder / "bench.toml"
    path.write_text(tomli_w.dumps(STUDY | {"overrides": overrides, "grid": grid} | changes), encoding="utf-8")
    return path


def in_a_process(code: str, *arguments: object) -> Any:
    """What a piece of code prints as JSON in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)


OVERHEAD = """
import json, sys, time
from cluster_abm.study.batch import run_batch
from cluster_abm.study.design.expansion import expand
from cluster_abm.study.runner.one_run import finished_model
from cluster_abm.study.design.study_file import load_study
study = load_study(sys.argv[1])
expansion = expand(study)
scenario = expansion.scenario(expansion.cells[0])
def alone():
    begun = time.perf_counter()
    for seed in study.seeds:
        with finished_model(scenario, seed):
            pass
    return time.perf_counter() - begun
def batch(number):
    begun = time.perf_counter()
    run_batch(study, f"{sys.argv[2]}/{number}", "inline", quiet=True)
    return time.perf_counter() - begun
alone()
print(json.dumps([[alone(), batch(number)] for number in range(3)]))
"""


def overhead(folder: Path, runs: int) -> dict[str, float]:
    """Milliseconds that a run takes beside the model's own, measured and stored, in one process."""
    pairs = in_a_process(OVERHEAD, write_study(folder, TINY, replications=runs), folder)
    return {
        "runs": runs,
        "model_ms": statistics.median(alone for alone, _ in pairs) / runs * 1000,
        "overhead_ms": statistics.median(batch - alone for alone, batch in pairs) / runs * 1000,
    }


def speed_up(folder: Path, runs: int) -> dict[str, Any]:
    """Wall seconds of the command with one worker and with two, start-up included, for so many runs and a quarter.

    Beginning and end (interpreters, imports, compiled code) take the same however many runs there are; the difference
    of the two sizes says what each further run takes.
    """
    taken_s: dict[int, dict[int, float]] = {1: {}, 2: {}}
    for count in (runs // 4, runs):
        path = write_study(folder, SECOND, replications=count)
        for workers in (1, 2):
            begun = time.perf_counter()
            command = [
                sys.executable,
                "-m",
                "cluster_abm",
                "batch",
                "run",
                path,
                "--out",
                folder / f"{workers}-{count}",
            ]
            subprocess.run([*map(str, command), "--workers", str(workers)], check=True, stdout=subprocess.DEVNULL)
            taken_s[workers][count] = time.perf_counter() - begun
    found: dict[str, Any] = {}
    for count in (runs // 4, runs):
        one_s, two_s = taken_s[1][count], taken_s[2][count]
        found[f"{count} runs"] = {"one_s": one_s, "two_s": two_s, "speed_up": one_s / two_s}
    a_run_s = {workers: (by[runs] - by[runs // 4]) / (runs - runs // 4) for workers, by in taken_s.items()}
    return found | {"a_further_run_s": a_run_s, "speed_up_of_further_runs": a_run_s[1] / a_run_s[2]}


SHORT_RUNS = """
import json, sys, time
from cluster_abm.study.batch import run_batch
from cluster_abm.study.design.study_file import load_study
def seconds(study, kind, where, **given):
    begun = time.perf_counter()
    run_batch(study, f"{sys.argv[2]}/{where}", kind, quiet=True, **given)
    return time.perf_counter() - begun
def main():
    study = load_study(sys.argv[1])
    few = study.model_copy(update={"replications": 8})
    # This process has loaded what is compiled.
    seconds(few, "inline", "few")
    found = []
    for turn in range(int(sys.argv[3])):
        taken_s = {"inline": seconds(study, "inline", f"inline-{turn}")}
        taken_s["process"] = seconds(study, "process", f"process-{turn}", workers=2)
        found.append(taken_s)
    try:
        from distributed import LocalCluster
    except ImportError:
        pass
    else:
        # Last: its four processes are at work even if nothing is sent to them. Its workers are there before a batch.
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as dask:
            seconds(few, "dask", "few-dask", dask=dask.scheduler_address)
            for turn, taken_s in enumerate(found):
                taken_s["dask"] = seconds(study, "dask", f"dask-{turn}", dask=dask.scheduler_address)
    print(json.dumps(found))
if __name__ == "__main__":
    main()
"""


def short_runs(folder: Path, turns: int) -> dict[str, Any]:
    """Batches of short runs: runs a second inline, and how many times as many on two processes, and on Dask's two.

    The start of the two processes is part of it; inline and Dask have started before. Each is the median of the turns;
    inline and two processes take turns, since a machine is not always as fast.
    """
    found: dict[str, Any] = {}
    script = folder / "short.py"
    script.write_text(SHORT_RUNS, encoding="utf-8")
    for name, (duration_s, many, few) in SHORT.items():
        runs = many if turns > 1 else few
        overrides = {"cluster.nodes": 32, "workload.duration_s": duration_s}
        path = write_study(folder, overrides, replications=runs)
        # A file, which the processes that it starts import.
        command = [sys.executable, script, path, folder / name.replace(" ", "-"), turns]
        taken = json.loads(subprocess.run([*map(str, command)], stdout=subprocess.PIPE, check=True, text=True).stdout)
        found[name] = {
            "runs": runs,
            "inline_runs_a_s": runs / statistics.median(one["inline"] for one in taken),
        } | {f"times_on_{kind}": statistics.median(one["inline"] / one[kind] for one in taken)
             for kind in taken[0] if kind != "inline"}  # fmt: skip
    return found


MEMORY = """
import json, os, sys
from cluster_abm.study import batch
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.runner import work
pages = os.sysconf("SC_PAGE_SIZE")
def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * pages / 1e6
seen = []
study = load_study(sys.argv[1])
real = work.carry_out
count = 0
def watched(assignment):
    global count
    count += 1
    if count % (study.replications // 10) == 0:
        seen.append(resident_mb())
    return real(assignment)
work.carry_out = watched
batch.run_batch(study, sys.argv[2], "inline", quiet=True)
print(json.dumps(seen))
"""


def memory(folder: Path, runs: int) -> dict[str, Any]:
    """Resident memory [MB] of a process that carries out many runs, after each tenth of them."""
    seen = in_a_process(MEMORY, write_study(folder, TINY, replications=runs), folder / "memory")
    return {"runs": runs, "resident_mb": seen, "growth_mb": seen[-1] - seen[1]}


def opening(folder: Path, runs: int) -> dict[str, float]:
    """Seconds to make a store of many runs that were never run, to load its results, and to tell its status."""
    from cluster_abm.study.design.expansion import expand
    from cluster_abm.study.design.study_file import load_study
    from cluster_abm.study.results_folder import load_results, write_plan
    from cluster_abm.study.status import status_of
    from cluster_abm.study.store.store import Record, Store

    points, policies = 50, ["none", "jsq", "random", "iolb"]
    seeds = runs // (points * len(policies))
    study = load_study(
        write_study(
            folder,
            TINY,
            policies=policies,
            replications=seeds,
            grid={"workload.jobs_per_s": [0.01 * p for p in range(1, points + 1)]},
        )
    )
    expansion = expand(study)
    store = Store(folder / "large")
    store.prepare()
    write_plan(store, expansion)
    draw = np.random.default_rng(1)
    names = [f"metric_{number}" for number in range(30)]
    begun = time.perf_counter()
    made = 0
    for cell in expansion.cells:
        for seed in study.seeds:
            metrics = dict(zip(names, draw.random(30).tolist(), strict=True))
            metrics |= {"mean_slowdown": 1.5, "slowdown_quantiles": draw.random(101).tolist()}
            store.add(Record(cell.key, seed, metrics | {"response_quantiles": draw.random(101).tolist()}))
            made += 1
            if made % store.runs_a_segment == 0:
                store.compact()
    made_s = time.perf_counter() - begun

    def seconds(call: Callable[[], Any]) -> float:
        begun = time.perf_counter()
        call()
        return time.perf_counter() - begun

    frame_rows = len(load_results(store.folder))
    return {
        "runs": made,
        "rows": frame_rows,
        "store_a_run_ms": made_s / made * 1000,
        "load_results_s": seconds(lambda: load_results(store.folder)),
        "status_s": seconds(lambda: status_of(store.folder)),
        "size_mb": sum(path.stat().st_size for path in store.folder.rglob("*") if path.is_file()) / 1e6,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
    }


@click.command()
@click.option("--quick", is_flag=True, help="A smoke run of a minute; its figures say little.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--only", type=click.Choice(["overhead", "short_runs", "speed_up", "memory", "opening"]), help="Only this one."
)
def main(quick: bool, as_json: bool, only: str | None) -> None:
    """Measure what batches cost."""
    sizes = {
        "overhead": (200, 40), "short_runs": (2, 1), "speed_up": (64, 8), "memory": (10_000, 200),
        "opening": (100_000, 2000),
    }  # fmt: skip
    measures = {
        "overhead": overhead, "short_runs": short_runs, "speed_up": speed_up, "memory": memory, "opening": opening,
    }  # fmt: skip
    results: dict[str, Any] = {"processors": len(os.sched_getaffinity(0)), "quick": quick}
    for name in [only] if only else measures:
        click.echo(name, err=True)
        with tempfile.TemporaryDirectory() as folder:
            results[name] = measures[name](Path(folder), sizes[name][quick])
        if not as_json:
            click.echo(f"{name}: {json.dumps(results[name])}")
    if as_json:
        click.echo(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
