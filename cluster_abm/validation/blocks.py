"""Sets that were carried out on some cores, held against the simulator: a table, and what is concluded from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from cluster_abm.validation.bench import SetOutcome
from cluster_abm.validation.judging import (
    CPU_GOAL,
    INCONCLUSIVE,
    MIXED_GOAL,
    Conditions,
    Goal,
    noise_reasons,
    quantiles_of_errors,
    repeat_noise,
    verdict_of,
)
from cluster_abm.validation.plans import Disk
from cluster_abm.validation.prediction import PredictedProcess, predict

Part = Literal["cpu", "mixed"]
GOALS: dict[Part, Goal] = {"cpu": CPU_GOAL, "mixed": MIXED_GOAL}


@dataclass(frozen=True, eq=False)
class Block:
    """What was measured of one part on a number of cores."""

    part: Part  # cpu or mixed
    cores: int  # on which each set ran
    # a row a response: part, cores, set, repeat, process, start_ms, demand_ms, alone_ms, cpu_ms, wall_ms, measured_ms
    # (corrected), delivered, others, drift (of its set), predicted_ms, predicted_by_use_ms (from the CPU that each
    # process used, for comparison only), error (measured / predicted - 1)
    table: pd.DataFrame
    conditions: Conditions  # while it was measured


def block_of(part: Part, cores: int, outcomes: Sequence[SetOutcome], quantum_ms: float, disk: Disk) -> Block:
    """Predict what was measured; at least one outcome.

    Args:
        part: cpu: no process reads.
        cores: on which each set ran.
        outcomes: the sets.
        quantum_ms: the slice that was measured [ms].
        disk: the virtual disk.
    """
    tasks, rows = [], []
    by_use: list[PredictedProcess] = []
    for node, outcome in enumerate(outcomes):
        for process, (program, got, unit_ns) in enumerate(
            zip(outcome.programs, outcome.found, outcome.unit_ns, strict=True)
        ):
            demands = tuple((row.cpu_ms(unit_ns), row.reads) for row in program.rows)
            tasks.append(PredictedProcess(node, got.start_ms, demands, program.request_kb))
            demand_ms = sum(cpu_ms for cpu_ms, _ in demands)
            used = tuple((cpu_ms * got.cpu_ms / demand_ms, reads) for cpu_ms, reads in demands)
            by_use.append(PredictedProcess(node, got.start_ms, used, program.request_kb))
            alone_ms = demand_ms + sum(reads for _, reads in demands) * disk.service_ms(program.request_kb)
            rows.append((
                part, cores, outcome.number, outcome.repeat, process, got.start_ms, demand_ms, alone_ms, got.cpu_ms,
                got.wall_ms, got.response_ms, outcome.delivered_share, outcome.others_share, outcome.drift,
            ))  # fmt: skip
    names = [
        "part", "cores", "set", "repeat", "process", "start_ms", "demand_ms", "alone_ms", "cpu_ms", "wall_ms",
        "measured_ms", "delivered", "others", "drift",
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=names)
    table["predicted_ms"] = predict(tasks, cores, quantum_ms, disk)
    table["predicted_by_use_ms"] = predict(by_use, cores, quantum_ms, disk)
    table["error"] = table["measured_ms"] / table["predicted_ms"] - 1.0
    return Block(part, cores, table, conditions_of(outcomes))


def conditions_of(outcomes: Sequence[SetOutcome]) -> Conditions:
    """What was going on: means over the time that the sets took, and the 90th percentile of the drift."""
    weights = [outcome.wall_s for outcome in outcomes]

    def mean(values: list[float]) -> float:
        return float(np.average(values, weights=weights))

    return Conditions(
        max(0.0, mean([outcome.others_share for outcome in outcomes])),
        mean([outcome.steal_share for outcome in outcomes]),
        mean([outcome.delivered_share for outcome in outcomes]),
        float(np.quantile([outcome.drift for outcome in outcomes], 0.9)),
    )  # fmt: skip


def noise_floor(table: pd.DataFrame) -> Goal | None:
    """Median and 90th percentile of the errors that noise alone makes, from repeats; None if no set was repeated."""
    by_repeat = table.pivot_table(index=["cores", "set", "process"], columns="repeat", values="measured_ms")
    if by_repeat.shape[1] < 2:
        return None
    pairs = by_repeat.dropna()
    if pairs.empty:
        return None
    noise = repeat_noise(pairs[0].to_numpy(float), pairs[1].to_numpy(float))
    return Goal(float(np.median(noise)), float(np.quantile(noise, 0.9)))


def nothing_concluded(part: Part) -> dict[str, Any]:
    """The same of a part of which no set could be carried out."""
    return {
        "cores": [],
        "responses": 0,
        "sets": 0,
        "median_error": None,
        "ci95": None,
        "p90_error": None,
        "p90_ci95": None,
        "goal": asdict(GOALS[part]),
        "verdict": INCONCLUSIVE,
        "reasons": ["no set could be carried out"],
    }


def concluded(blocks: Sequence[Block], idle: Sequence[str]) -> dict[str, Any]:
    """What blocks of one part say together, for the document.

    Args:
        blocks: at least one.
        idle: why nothing can be concluded, of what was seen before and after.
    """
    goal = GOALS[blocks[0].part]
    table = pd.concat([block.table for block in blocks], ignore_index=True)
    conditions = blocks[0].conditions
    for block in blocks[1:]:
        conditions = conditions.worst(block.conditions)
    sets = np.asarray(table.groupby(["cores", "set"], sort=False).ngroup(), np.int64)
    errors = table["error"].abs().to_numpy(float)
    median, p90 = quantiles_of_errors(errors, sets, (0.5, 0.9))
    floor = noise_floor(table)
    reasons = [*idle, *noise_reasons(conditions, floor, goal)]
    count = int(sets.max()) + 1
    verdict, reasons = verdict_of(median, p90, goal, count, reasons)

    sharing = (table["measured_ms"] / table["predicted_by_use_ms"] - 1.0).abs()
    return {
        "cores": sorted({block.cores for block in blocks}),
        "responses": len(table),
        "sets": count,
        "median_error": median.value,
        "ci95": [median.low, median.high],
        "p90_error": p90.value,
        "p90_ci95": [p90.low, p90.high],
        "bias": float(table["error"].median()),
        "noise_floor": None if floor is None else asdict(floor),
        "goal": asdict(goal),
        "verdict": verdict,
        "reasons": reasons,
        "conditions": asdict(conditions),
        "demand_error": float((table["cpu_ms"] / table["demand_ms"] - 1.0).abs().median()),
        "sharing_error": {"median": float(sharing.median()), "p90": float(sharing.quantile(0.9))},
        "uncorrected_median_error": float((table["wall_ms"] / table["predicted_ms"] - 1.0).abs().median()),
        "no_contention_median_error": float((table["alone_ms"] / table["measured_ms"] - 1.0).abs().median()),
    }
