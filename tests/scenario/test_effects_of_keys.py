"""Every key of a scenario changes what its place in the table says: the jobs, or the run of the same jobs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from effects_of_keys import EFFECTS, FEW, TEXTS, Effect, of_files

from cluster_abm import ClusterModel, compare
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, scenario_from, scenario_keys
from cluster_abm.scenario.cluster import NodeGroup
from cluster_abm.scenario.data import PlacedFile
from cluster_abm.scenario.distributions import Background, Distribution
from cluster_abm.scenario.failures import Degradation, Outage
from cluster_abm.scenario.initial import InitialJob
from cluster_abm.scenario.script import Act
from cluster_abm.scenario.sessions import SessionGroup
from cluster_abm.workload import work_of

# Lists of tables, and a table that is not set at first: their keys count too.
LISTS = {
    "cluster.group": NodeGroup, "workload.background": Background, "failures.event": Outage,
    "failures.degrade": Degradation, "data.file": PlacedFile, "workload.initial": InitialJob,
    "script": Act, "workload.sessions.group": SessionGroup,
}  # fmt: skip
TABLES = LISTS | {"workload.requested_over_actual": Distribution}
NO_EFFECT = {
    "name": "what results are called by",
    "summary": "a caption",
    "run.threads": "none: tests/cli/test_keys_without_effect.py",
    "measure.headline": "which measure is compared: tests/study/test_headline.py",
    "compare.policies": "of the command alone: below",
    "compare.seeds": "of the command alone: below",
}
OF_FILES = [*of_files(Path())]


def every_key() -> Iterator[str]:
    yield from (entry["key"] for entry in scenario_keys())
    for key, table in TABLES.items():
        yield from (f"{key}.{name}" for name in table.model_fields)


def test_no_key_is_missing_and_none_is_made_up():
    assert sorted([*EFFECTS, *OF_FILES, *NO_EFFECT]) == sorted(every_key())


def made(settings: dict[str, Any]) -> Scenario:
    return scenario_from({}, "test", {key: value for key, value in settings.items() if value is not None})


def bytes_of(rows: np.ndarray) -> list[bytes]:
    # Field by field: what lies between the fields of a row means nothing.
    return [rows[name].tobytes() for name in rows.dtype.names]


def jobs_of(setup: Scenario) -> list[Any]:
    work = work_of(setup, setup.run.seed)
    return [*bytes_of(work.jobs), str(work.requested_ms), str(work.parents)]


def run_of(setup: Scenario) -> list[Any]:
    model = ClusterModel(setup)
    model.run()
    summary = json.loads(json.dumps(model.summary()))
    # What it says of the scenario is no result.
    for said in ("policy", "seed", "offered_load"):
        summary.pop(said, None)
    return [summary, model.nodes_frame().to_csv(), *bytes_of(model.engine.sorted_records())]


@cache
def base_of(settings: str, is_run: bool) -> list[Any]:
    setup = made(json.loads(settings))
    return run_of(setup) if is_run else jobs_of(setup)


def check(key: str, effect: Effect) -> None:
    """Whether the other value changes what the table says, and nothing that comes before it."""
    # Keys of the entries of a list are given by the whole list.
    name = next((table for table in LISTS if key.startswith(f"{table}.")), key)
    assert effect.base.get(name) != effect.value
    base = json.dumps(effect.base)
    other = {one: value for one, value in effect.base.items() if not one.startswith(f"{name}.")} | {name: effect.value}
    if effect.changes == "refused":
        base_of(base, is_run=False)
        with pytest.raises(InputError, match=effect.says or key.rpartition(".")[2]):
            run_of(made(other))
        return
    jobs = jobs_of(made(other))
    assert (jobs != base_of(base, is_run=False)) == (effect.changes == "jobs")
    if effect.changes == "run":
        assert run_of(made(other)) != base_of(base, is_run=True)


@pytest.mark.slow
@pytest.mark.parametrize("key", EFFECTS)
def test_a_key_changes_what_it_should(key):
    check(key, EFFECTS[key])


@pytest.mark.slow
@pytest.mark.parametrize("key", OF_FILES)
def test_a_key_about_files_changes_what_it_should(key, tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
    check(key, of_files(tmp_path)[key])


def test_a_comparison_takes_its_policies_and_seeds_from_the_scenario():
    setup = made(FEW | {"compare.policies": ["jsq", "random"], "compare.seeds": 3, "run.seed": 5})
    runs = compare(setup, workers=1, quiet=True).runs
    assert [*zip(runs["policy"], runs["seed"], strict=True)] == [
        (policy, seed) for seed in (5, 6, 7) for policy in ("jsq", "random")
    ]


def test_of_two_values_that_differ_the_default_is_what_the_file_says(tmp_path):
    """Turned round, both would still differ. Job n of own.csv: home n mod 4, 20 + n ms, n + 3 MB, n mod 5 + 1 tasks."""
    (tmp_path / "own.csv").write_text(TEXTS["own.csv"])
    base = {"cluster.nodes": 8, "workload.kind": "trace", "workload.trace.file": str(tmp_path / "own.csv")}
    jobs = work_of(made(base), 1).jobs
    numbers = np.arange(20)
    assert jobs["home"].tolist() == (numbers % 4).tolist()
    assert jobs["cpu_ms"].tolist() == (20.0 + numbers).tolist()
    assert jobs["memory_mb"].tolist() == (numbers + 3.0).tolist()
    assert jobs["tasks"].tolist() == (numbers % 5 + 1).tolist()
    # Drawn from all eight nodes, and by a law of which nothing is a whole number.
    drawn = work_of(made(base | {"workload.trace.homes": "drawn", "workload.trace.memory": "drawn"}), 1).jobs
    assert drawn["home"].max() > 3
    assert not (drawn["memory_mb"] % 1 == 0).any()
    of_job = work_of(made(base | {"workload.trace.memory_per": "job"}), 1).jobs
    assert of_job["memory_mb"] == pytest.approx((numbers + 3.0) / (numbers % 5 + 1))
