"""A fitted scenario judged by queueing: do jobs of its draws wait as long as those of the log?

Log and draws run under batch systems at several loads, on one machine for each load. Nothing is fitted to what is
compared here. The rule of the verdict is in `verdicts.py`.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.study.fitting.log import Jobs
from cluster_abm.study.fitting.rigid import RigidJobs, judged_window_s, processors_for, rigid_jobs, unit_of
from cluster_abm.study.fitting.verdicts import MEASURES, ComparedWait, QueueingJudgement
from cluster_abm.study.runner.counted_runs import CountedRuns, counted_runs
from cluster_abm.workload.traces.table import LONGEST_MS, Trace
from cluster_abm.workload.traces.writing import write_parquet

LOADS = (0.5, 0.7, 0.9)
POLICIES = ("batch-system", "easy")
DRAWS, SHUFFLES = 20, 3
# Times are counted in slices of at most so long, and of a thousandth of the mean run time [ms].
LONGEST_SLICE_MS, SLICES_A_RUN = 1000.0, 1000
LEAST_SLICE_MS = 1e-6


def judge(
    log: Jobs,
    draws: Iterable[Jobs],
    *,
    seed: int = 1,
    loads: Sequence[float] = LOADS,
    policies: Sequence[str] = POLICIES,
    shuffles: int = SHUFFLES,
    is_held_back: bool = False,
    workers: int | None = None,
    quiet: bool = False,
) -> QueueingJudgement:
    """Run the log, the log with its jobs shuffled, and the draws under each policy at each load, and compare waits.

    Args:
        log: what is judged by.
        draws: of the scenario, one for each seed.
        seed: of the shuffles.
        loads: offered, work / (window x processors).
        policies: names of batch systems.
        shuffles: how often the log's jobs are put in another order.
        is_held_back: whether these are weeks that the scenario was not fitted to.
        workers: processes; None: one per processor.
        quiet: no progress.

    Raises:
        InputError: the jobs say no CPU times, take less than a thousand steps of the clock on average, need too large
            a machine, or do not fit into the clock.
        KeyboardInterrupt: as it came.
    """
    whole = rigid_jobs(log)
    if not len(whole):
        raise InputError("no job of the log needs any time")
    judged = whole.first(judged_window_s(whole))
    least_ms = SLICES_A_RUN * LEAST_SLICE_MS
    if judged.mean_run_ms < least_ms:
        raise InputError(
            f"a job takes {judged.mean_run_ms:.3g} ms on average: allowed from {least_ms:g} ms on, a thousand steps of "
            "the clock"
        )
    drawn = [rigid_jobs(one).first(judged.window_s * one.window_s / log.window_s) for one in draws]
    shuffled = [judged.shuffled(seed, number) for number in range(shuffles)]
    sides = [judged, *shuffled, *drawn]
    # Where all jobs need whole multiples of some processors, a run counts in these: the same waits with fewer tasks.
    unit = unit_of(sides)
    slice_ms = slice_for(judged.mean_run_ms)
    found: list[ComparedWait] = []
    # Draws may have wider jobs than what is judged: of weeks that were held back, or of the first part of a log.
    widest = int(max(one.tasks.max(initial=1.0) for one in sides))
    processors = {load: processors_for(judged, load, widest) for load in loads}
    budget = len(loads) * len(policies) * sum(bool(len(one)) for one in sides)
    with counted_runs("judging", budget, {}, "", workers=workers, quiet=quiet, where=None, folder=None) as runs:
        for load, there in processors.items():
            stretched = [one.at_load(load, there).by(unit) if len(one) else one for one in sides]
            for policy, waits in waits_under(policies, stretched, there // unit, slice_ms, runs):
                for measure, each in waits.items():
                    found.append(
                        ComparedWait(
                            load, policy, measure, each[0],
                            shuffled=tuple(each[1 : 1 + shuffles]), draws=tuple(each[1 + shuffles :]),
                        )
                    )  # fmt: skip
    return QueueingJudgement(
        tuple(found), mean_run_ms=judged.mean_run_ms, processors=processors, jobs=len(judged), window_s=judged.window_s,
        is_part=judged is not whole, is_held_back=is_held_back,
    )  # fmt: skip


def slice_for(mean_run_ms: float) -> float:
    """A power of ten that is at most a thousandth of a run time, and at most a second [ms]."""
    return float(np.clip(10.0 ** math.floor(math.log10(mean_run_ms / SLICES_A_RUN)), LEAST_SLICE_MS, LONGEST_SLICE_MS))


def waits_under(
    policies: Sequence[str], sides: Sequence[RigidJobs], processors: int, slice_ms: float, runs: CountedRuns
) -> Iterator[tuple[str, Mapping[str, list[float]]]]:
    """The waits of each side under each policy, by measure [ms]; 0 of a side without jobs.

    Raises InputError: as a run.

    Args:
        processors: of the machine.
        slice_ms: in which a run counts time.
        runs: carries them out.
    """
    with tempfile.TemporaryDirectory(prefix="cluster-abm-") as folder:
        asked: list[tuple[int, str]] = []
        scenarios: list[Scenario] = []
        for number, side in enumerate(sides):
            if not len(side):
                continue
            path = Path(folder, f"{number}.parquet")
            _write(side, path)
            for policy in policies:
                asked.append((number, policy))
                scenarios.append(_scenario(path, processors, slice_ms, policy))
        rows = dict(zip(asked, runs([(one, 1) for one in scenarios]), strict=True))
    problems = [*runs.errors, *runs.policy_faults]
    if problems:
        raise RuntimeError(f"a run of the judgement failed: {problems[0]}")
    for policy in policies:
        of_sides = [rows.get((number, policy)) for number in range(len(sides))]
        yield policy, {name: [0.0 if row is None else float(row[name]) for row in of_sides] for name in MEASURES}


def _write(jobs: RigidJobs, path: Path) -> None:
    table = pd.DataFrame(
        {
            "arrival_ms": jobs.times_s * 1000.0,
            "cpu_ms": jobs.run_ms,
            "tasks": jobs.tasks,
            # A drawn request may be longer than a trace may say: forever, for these jobs.
            "requested_ms": np.minimum(jobs.requested_ms, LONGEST_MS),
        }
    )
    write_parquet(Trace(str(path), "parquet", len(table), table), path)


def _scenario(path: Path, processors: int, slice_ms: float, policy: str) -> Scenario:
    """Plain nodes of one core, on which a job takes nothing but its run time."""
    keys: dict[str, Any] = {
        "cluster.nodes": processors,
        "cluster.context_switch_ms": 0.0,
        "cluster.page_fault_rate_per_ms": 0.0,
        "cluster.quantum_ms": "inf",
        "cluster.slice_ms": slice_ms,
        "negotiation.mode": "papers",
        "negotiation.remote_execution_ms": 0.0,
        "workload.trace.file": str(path),
        "workload.memory_mb": {"kind": "fixed", "mean": 0.0},
        "workload.io_per_ms": {"kind": "fixed", "mean": 0.0},
        "measure.metrics": [name for name in MEASURES if name.startswith("p")],
        "policy.name": policy,
    }
    return load_scenario("replay", keys)
