"""A store together with the study it belongs to: what was planned, and the results as one table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.json_text import json_line
from cluster_abm.policies import files_of
from cluster_abm.scenario import scenario_files
from cluster_abm.study.design.expansion import Expansion, StudyCell
from cluster_abm.study.design.fingerprint import code_of
from cluster_abm.study.design.study_file import Settings, Study, load_study, study_to_toml
from cluster_abm.study.design.study_paths import with_paths
from cluster_abm.study.runner.wanted import wanted_counts
from cluster_abm.study.store.documents import PLAN, SCENARIO, STUDY, holds_results, read_document, sealed_document
from cluster_abm.study.store.durable import Damaged
from cluster_abm.study.store.segments import joined
from cluster_abm.study.store.store import Contents, Store


@dataclass(frozen=True)
class StoredStudy:
    """What a folder is for.

    Attributes:
        study: the study, as read from the folder.
        code: the code version that its runs are named by.
        points: settings of each point.
        cells: every point under every policy.
        policy_files: the files that policies came from, by the policies' names.
    """

    study: Study
    code: str
    points: list[Settings]
    cells: list[StudyCell]
    policy_files: dict[str, str]


def write_plan(store: Store, expansion: Expansion) -> None:
    """Leave the study, resolved, in the folder."""
    plan = {
        "study": expansion.study.name,
        "code": code_of(expansion.study.policies),
        "points": list(expansion.points),
        "policy_files": files_of(expansion.study.policies),
        "cells": [[cell.point, cell.policy, cell.key] for cell in expansion.cells],
    }
    resolved = with_paths(expansion.study).model_copy(update={"scenario": SCENARIO, "overrides": {}})
    files = scenario_files(expansion.base, SCENARIO)
    texts = {SCENARIO: files.pop(SCENARIO), STUDY: study_to_toml(resolved), PLAN: json_line(plan)}
    for name, text in files.items():
        store.write(store.folder / name, text.encode())
    for name, text in texts.items():
        store.write(store.folder / name, sealed_document(name, text))


def read_plan(folder: str | Path) -> StoredStudy:
    """What a folder of results is for. Raises InputError if it is none, or what says so is damaged."""
    if not holds_results(folder):
        how = "`batch run STUDY --out DIR`, or run_batch(STUDY, DIR) in Python, makes such a folder"
        raise InputError(f"{folder}: no results of a study: {how}")
    texts, problems = {}, []
    for name in (PLAN, STUDY):
        path = Path(folder, name)
        try:
            texts[name] = read_document(path)
        except (Damaged, FileNotFoundError) as problem:
            trouble = f"damaged ({problem})" if isinstance(problem, Damaged) else "is missing"
            problems.append(f"{path}: {trouble}; `batch run` with the same study mends it, and keeps the runs")
    if problems:
        raise InputError(problems)
    try:
        plan = json.loads(texts[PLAN])
        cells = [StudyCell(*cell) for cell in plan["cells"]]
        files = dict(plan.get("policy_files", {}))
        return StoredStudy(load_study(Path(folder, STUDY)), plan["code"], _points(plan["points"]), cells, files)
    except (KeyError, TypeError, ValueError, RecursionError) as problem:
        raise InputError(
            f"{Path(folder, PLAN)}: of another version ({problem}); `batch run` with the same study writes it anew"
        ) from None


def _points(written: list[Settings]) -> list[Settings]:
    """Settings of points as they were before JSON, which has no word for infinity."""
    return [{key: float(one) if one in ("inf", "-inf") else one for key, one in each.items()} for each in written]


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


def frame_of(plan: StoredStudy, contents: Contents) -> pd.DataFrame:
    """The table of `load_results`: the runs that the study asks for, of those there are."""
    runs = [_finished_frame(contents), _failed_frame(contents)]
    table = pd.concat([frame for frame in runs if len(frame)]) if any(map(len, runs)) else runs[0]
    first = plan.study.first_seed
    counts = wanted_counts(plan.study, [cell.key for cell in plan.cells], contents, contents.failed)
    table = table[(table["seed"] >= first) & (table["seed"] < first + table["key"].map(counts).fillna(0))]
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


# Its name before.
Plan = StoredStudy
