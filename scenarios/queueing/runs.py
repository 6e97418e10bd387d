"""Runs of the points, and whether theory is within their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from tqdm import tqdm

from cluster_abm import ClusterModel
from cluster_abm.study.runner.executors import open_executor
from queueing.intervals import controlled
from queueing.points import BOUND, EXACT, OTHER, Point

AGREES, ABOVE, DIFFERS = "agrees", "above its bound", "differs"
# One run's mean response [s], and the work that its window brought for each second and node: on average the load.
Found = tuple[float, float]


def measured_run(point: Point, seed: int) -> Found:
    """Mean response of the jobs that arrive in the point's window, and their work."""
    from_s, to_s, end_s = point.window_s
    keys = {**point.keys, "workload.duration_s": end_s, "measure.from_s": 0.0}
    model = ClusterModel("textbook", seed=seed, overrides=keys, keep_decisions=False)
    model.run()
    done = model.engine.records[: model.engine.finished]
    done = done[(done["arrival_ns"] >= from_s * 1e9) & (done["arrival_ns"] < to_s * 1e9)]
    response_s = (done["finish_ns"] - done["arrival_ns"]).mean() / 1e9
    return float(response_s), float(done["cpu_ns"].sum() / 1e9 / (to_s - from_s) / point.nodes)


def row_of(point: Point, found: Sequence[Found], level: float) -> dict[str, object]:
    """A row of the table: theory, mean response with its 95 % interval, and the verdict.

    Args:
        point: what was run.
        found: of each seed.
        level: of the interval by which the verdict is made.
    """
    theory = point.theory()
    mean = controlled([response for response, _ in found], [([work for _, work in found], point.load)])
    (low, high), (least, most) = mean.interval(0.95), mean.interval(level)
    if point.kind == BOUND:
        verdict = ABOVE if most >= theory else DIFFERS
    elif point.kind == OTHER:
        verdict = OTHER
    else:
        is_inside = least <= theory <= most
        verdict = AGREES if is_inside else DIFFERS if point.kind == EXACT else f"{DIFFERS}: {point.kind}"
    return {
        "system": point.system, "policy": point.policy, "nodes": point.nodes, "load": point.load, "demands": point.law,
        "kind": point.kind, "theory_s": theory, "mean_s": mean.value, "low_s": low, "high_s": high,
        "verdict_low_s": least, "verdict_high_s": most, "difference_percent": 100 * (mean.value / theory - 1),
        "verdict": verdict,
    }  # fmt: skip


def measure(
    points: Sequence[Point], seeds: int, workers: int, miss: float = 0.05, first_seed: int = 1, quiet: bool = False
) -> pd.DataFrame:
    """A row for each point. No two points have a seed in common: their errors are independent.

    Args:
        points: what is run.
        seeds: runs of each.
        workers: processes.
        miss: with this probability, or less, any of the intervals of the verdicts misses (Bonferroni).
        first_seed: of the first point; the others follow.
        quiet: no progress.
    """
    level = 1 - miss / len(points)
    with open_executor("process" if workers > 1 else "inline", workers) as executor:
        futures = [
            executor.submit(measured_run, point, first_seed + place * seeds + one)
            for place, point in enumerate(points)
            for one in range(seeds)
        ]
        found = [future.result() for future in tqdm(futures, "runs", disable=True if quiet else None)]
    parts = [found[place * seeds : (place + 1) * seeds] for place in range(len(points))]
    return pd.DataFrame([row_of(point, part, level) for point, part in zip(points, parts, strict=True)])
