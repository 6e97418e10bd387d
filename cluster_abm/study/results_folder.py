"""A store together with the study it belongs to: what was planned, and the results as one table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_to_toml
from cluster_abm.study.expansion import Cell, Expansion
from cluster_abm.study.fingerprint import result_version
from cluster_abm.study.parts import joined
from cluster_abm.study.store import Contents, Store
from cluster_abm.study.study_file import Settings, Study, load_study, study_to_toml

PLAN = "plan.json"


@dataclass(frozen=True)
class Plan:
    """What a folder is for.

    Attributes:
        study: the study, as read from the folder.
        code: the code version that its runs are named by.
        points: settings of each point.
        cells: every point under every policy.
    """

    study: Study
    code: str
    points: list[Settings]
    cells: list[Cell]


def write_plan(store: Store, expansion: Expansion) -> None:
    """Leave the study, resolved, in the folder. Raises InputError if it holds another study."""
    study = expansion.study
    path = store.folder / "study.toml"
    if path.exists() and (there := load_study(path)).name != study.name:
        raise InputError(
            f"--out {str(store.folder)!r}: holds results of the study {there.name!r}, not {study.name!r}; "
            "another folder is needed"
        )
    resolved = study.model_copy(update={"scenario": "scenario.toml", "overrides": {}})
    plan = {
        "code": result_version(),
        "points": list(expansion.points),
        "cells": [[cell.point, cell.policy, cell.key] for cell in expansion.cells],
    }
    store.write(store.folder / "scenario.toml", scenario_to_toml(expansion.base).encode())
    store.write(path, study_to_toml(resolved).encode())
    store.write(store.folder / PLAN, json.dumps(plan).encode())


def read_plan(folder: str | Path) -> Plan:
    """What a folder of results is for. Raises InputError if it is none."""
    path = Path(folder, PLAN)
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
        cells = [Cell(*cell) for cell in plan["cells"]]
        return Plan(load_study(Path(folder, "study.toml")), plan["code"], plan["points"], cells)
    except FileNotFoundError:
        raise InputError(f"{folder}: no results of a study: `batch run STUDY --out DIR` makes such a folder") from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise InputError(f"{path}: cannot be read ({problem}); `batch run` with the same study mends it") from None


def load_results(folder: str | Path) -> pd.DataFrame:
    """The results of a study, finished or not, as one table.

    Args:
        folder: what `batch run --out` was given.

    Returns:
        One row a run that is over, by point, policy and seed: `point`, a column for every swept key, `policy`, `seed`,
        `status` ("finished" or "failed"), `error`, and the metrics in alphabetical order (NaN where a run failed).

    Raises:
        InputError: no results of a study there.
    """
    plan = read_plan(folder)
    return frame_of(plan, Store(folder).contents())


def loads_over_time(folder: str | Path) -> list[tuple[int, str, int, dict[str, Any]]]:
    """Loads over time of the first seed of every point and policy: (point, policy, seed, as of `load_over_time`)."""
    plan = read_plan(folder)
    loads = Store(folder).loads()
    seed = plan.study.first_seed
    return [(cell.point, cell.policy, seed, loads[cell.key, seed]) for cell in plan.cells if (cell.key, seed) in loads]


def frame_of(plan: Plan, contents: Contents) -> pd.DataFrame:
    """The table of `load_results`."""
    runs = [_finished_frame(contents), _failed_frame(contents)]
    table = pd.concat([frame for frame in runs if len(frame)]) if any(map(len, runs)) else runs[0]
    first, limit = plan.study.first_seed, plan.study.seed_limit
    table = table[(table["seed"] >= first) & (table["seed"] < first + limit)]
    cells = pd.DataFrame(
        [(cell.key, cell.point, cell.policy) for cell in plan.cells], columns=["key", "point", "policy"]
    )
    swept = plan.study.swept
    for name in swept:
        values = [settings.get(name) for settings in plan.points]
        cells[name] = [values[point] for point in cells["point"]]
    cells["_order"] = range(len(cells))
    found = cells.merge(table, on="key").sort_values(["_order", "seed"], kind="stable", ignore_index=True)
    leading = ["point", *swept, "policy", "seed", "status", "error"]
    return found[leading + sorted(set(found.columns) - {*leading, "key", "_order"})]


def _finished_frame(contents: Contents) -> pd.DataFrame:
    if not contents.tables:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in _RUN_COLUMNS.items()})
    frame = joined(contents.tables).to_pandas().drop_duplicates(["key", "seed"])
    frame.columns = [name.removeprefix("metrics.") for name in frame.columns]
    return frame.assign(status="finished", error="")


def _failed_frame(contents: Contents) -> pd.DataFrame:
    rows: list[dict[str, Any]] = [
        {"key": record.key, "seed": record.seed, "status": "failed", "error": record.error}
        for record in contents.failed.values()
    ]
    return pd.DataFrame(rows, columns=[*_RUN_COLUMNS])


_RUN_COLUMNS = {"key": "str", "seed": "int64", "status": "str", "error": "str"}
