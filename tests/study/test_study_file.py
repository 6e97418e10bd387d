"""Study files and their points: what is meant is what is run, and what is wrong is said before the first run."""

from __future__ import annotations

import itertools
import math

import pytest
from studies import study, study_path

from cluster_abm.errors import InputError
from cluster_abm.study.design.expansion import expand, points_of
from cluster_abm.study.design.study_file import load_study, study_names, study_to_toml
from cluster_abm.study.design.study_paths import settings_with_paths, with_paths


def test_a_grid_is_all_combinations_the_last_key_fastest(tmp_path):
    found = study(tmp_path, grid={"workload.utilisation": [0.3, 0.6], "cluster.nodes": [2, 3, 4]})
    assert points_of(found) == tuple(
        {"workload.utilisation": u, "cluster.nodes": n} for u, n in itertools.product([0.3, 0.6], [2, 3, 4])
    )
    assert found.swept == ["workload.utilisation", "cluster.nodes"]


def test_every_cell_has_its_settings_and_its_policy(tmp_path):
    found = expand(study(tmp_path, overrides={"cluster.memory_mb": 770.0}))
    assert [(cell.point, cell.policy) for cell in found.cells] == [(0, "none"), (0, "jsq"), (1, "none"), (1, "jsq")]
    for cell in found.cells:
        scenario = found.scenario(cell)
        assert scenario.policy.name == cell.policy
        assert scenario.workload.utilisation == [0.3, 0.6][cell.point]
        assert scenario.cluster.memory_mb == 770.0
        assert scenario.cluster.nodes == 2
    assert len({cell.key for cell in found.cells}) == 4


def test_points_may_set_different_keys(tmp_path):
    points = [{"cluster.nodes": 3}, {"workload.utilisation": 0.2, "workload.home.kind": "uniform"}]
    found = expand(study(tmp_path, grid=None, points=points, policies=["none"]))
    assert [found.scenario(cell).cluster.nodes for cell in found.cells] == [3, 2]
    assert found.study.swept == ["cluster.nodes", "workload.utilisation", "workload.home.kind"]


def test_without_points_there_is_one(tmp_path):
    assert points_of(study(tmp_path, grid=None)) == ({},)


@pytest.mark.parametrize("samples", [1, 7, 20])
def test_a_latin_hypercube_has_one_point_in_every_strip_of_every_key(tmp_path, samples):
    ranges = {
        "workload.utilisation": {"low": 0.2, "high": 0.8},
        "workload.cpu_ms.mean": {"low": 1.0, "high": 1000.0, "log": True},
    }
    points = points_of(study(tmp_path, grid=None, latin_hypercube={"samples": samples, "seed": 5} | ranges))
    even = [(p["workload.utilisation"] - 0.2) / 0.6 for p in points]
    logarithmic = [math.log(p["workload.cpu_ms.mean"]) / math.log(1000.0) for p in points]
    for shares in (even, logarithmic):
        assert sorted(int(share * samples) for share in shares) == list(range(samples))


def test_whole_numbers_of_a_latin_hypercube_are_met_alike(tmp_path):
    """Twelve strips over 1..4: each number has three of them, the ends too."""
    sample = {"samples": 12, "cluster.nodes": {"low": 1, "high": 4, "integer": True}}
    values = [point["cluster.nodes"] for point in points_of(study(tmp_path, grid=None, latin_hypercube=sample))]
    assert sorted(values) == [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]
    assert all(isinstance(value, int) for value in values)


def test_the_sample_depends_on_its_seed_only(tmp_path):
    def points(seed):
        ranges = {"workload.utilisation": {"low": 0.2, "high": 0.8}}
        return points_of(study(tmp_path, grid=None, latin_hypercube={"samples": 5, "seed": seed} | ranges))

    assert points(1) == points(1)
    assert points(1) != points(2)


@pytest.mark.parametrize(
    "sweep",
    [
        {},
        {"grid": None, "points": [{"cluster.nodes": 3}, {"cluster.nodes": 4}]},
        {"grid": None, "latin_hypercube": {"samples": 3, "workload.utilisation": {"low": 0.1, "high": 0.2}}},
    ],
)
def test_a_study_written_out_is_the_same_study(tmp_path, sweep):
    first = study(tmp_path, precision=0.05, max_replications=9, warmup="mser", **sweep)
    again = tmp_path / "again.toml"
    again.write_text(study_to_toml(first), encoding="utf-8")
    second = load_study(again)
    assert second.model_copy(update={"file": first.file}) == first
    assert [cell.key for cell in expand(second).cells] == [cell.key for cell in expand(first).cells]


def test_a_key_names_all_that_numbers_depend_on_and_nothing_else(tmp_path):
    def key(**changes):
        return expand(study(tmp_path, grid=None, policies=["none"], **changes)).cells[0].key

    trace = tmp_path / "trace.csv"
    trace.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n0,0,5,0,1\n", encoding="utf-8")
    traced = {"overrides": {"workload.kind": "trace", "workload.trace.file": str(trace)}}
    same = [key(), key(title="other words"), key(replications=9), key(overrides={"measure.period_ms": 50.0})]
    other = [key(warmup="mser"), key(overrides={"cluster.memory_mb": 770.0}), key(**traced)]
    trace.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n0,0,99,0,1\n", encoding="utf-8")
    other.append(key(**traced))
    assert len(set(same)) == 1
    assert len({*same, *other}) == 1 + len(other)


TRACE = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n0,0,5,0,1\n"


@pytest.mark.parametrize("form", ["overrides", "nested", "points", "grid"])
def test_files_that_keys_name_are_seen_from_the_studys_folder_and_may_move(tmp_path, form):
    """Whatever the current folder is; and in another folder they give the same runs."""
    changes = {
        "overrides": {"overrides": {"workload.kind": "trace", "workload.trace.file": "t.csv"}},
        "nested": {"overrides": {"workload.kind": "trace", "workload.trace": {"file": "t.csv"}}},
        "points": {"points": [{"workload.kind": "trace", "workload.trace.file": "t.csv"}]},
        "grid": {"overrides": {"workload.kind": "trace"}, "grid": {"workload.trace.file": ["t.csv", "u.csv"]}},
    }[form]
    keys = []
    for folder in (tmp_path / "here", tmp_path / "moved" / "deeper"):
        found = study(folder, policies=["none"], **{"grid": None} | changes)
        for name in ("t.csv", "u.csv"):
            (folder / name).write_text(TRACE, encoding="utf-8")
        expansion = expand(found)
        assert expansion.scenario(expansion.cells[0]).workload.trace.file == str(folder / "t.csv")
        keys.append([cell.key for cell in expansion.cells])
        again = folder / "elsewhere" / "again.toml"
        again.parent.mkdir()
        again.write_text(study_to_toml(with_paths(found)).replace("tiny-cluster", "../tiny-cluster"), encoding="utf-8")
        assert [cell.key for cell in expand(load_study(again)).cells] == keys[-1]
    assert keys[0] == keys[1]
    (tmp_path / "here" / "t.csv").write_text(TRACE + "9,0,5,0,1\n", encoding="utf-8")
    changed = study(tmp_path / "here", policies=["none"], **{"grid": None} | changes)
    assert expand(changed).cells[0].key != keys[0][0]


def test_names_of_shipped_programs_and_of_files_that_lie_elsewhere_stay(tmp_path, monkeypatch):
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    (tmp_path / "cwd" / "t.csv").write_text(TRACE, encoding="utf-8")
    named = {"workload.kind": "trace", "workload.trace.file": "t.csv", "workload.programs.file": "mcls"}
    found = study(tmp_path / "study", overrides=named)
    assert settings_with_paths(found, found.overrides) == named
    assert expand(found).base.workload.trace.file == "t.csv"


@pytest.mark.slow
def test_shipped_studies_are_sound():
    assert "quick-study" in study_names()
    for name in study_names():
        assert expand(load_study(name)).cells


MISTAKES = {
    "an unknown key": ({"replicatons": 3}, ["unknown key 'replicatons'; did you mean 'replications'?"]),
    "values out of bounds": (
        {"replications": 0, "warmup": "mses"},
        ["replications = 0: input should be greater", "warmup = 'mses': input should be 'none' or 'mser'"],
    ),
    "a warm-up without rows": (
        {"warmup": "mser", "overrides": {"measure.records": "summary"}},
        ['measure.warmup "mser": it is found by the rows of tasks, and measure.records is "summary"'],
    ),
    "two sweeps": ({"points": [{"cluster.nodes": 3}]}, ["grid, points, latin_hypercube, sensitivity: one of them"]),
    "several at once": (
        {"max_replications": 2, "policies": ["none", "none"], "overrides": {"run.seed": 3}},
        ["needs precision", "below replications = 3", "'none' is named twice", "overrides.run.seed: a study says this"],
    ),
    "undotted keys": ({"grid": {"cluster": {"nodes": [1, 2]}}}, ['e.g. "cluster.nodes"']),
    "an unknown policy": ({"policies": ["jqs"]}, ["did you mean 'jsq'"]),
    "a value that does not go": (
        {"grid": {"cluster.nodes": [2, 0], "workload.utilisation": [0.3, 0.6]}},
        ["point 2 (cluster.nodes = 0, workload.utilisation = 0.3), and 1 more: cluster.nodes = 0"],
    ),
    "an unknown key of the scenario": ({"grid": {"cluster.nods": [1]}}, ["unknown key 'cluster.nods'; did you mean"]),
    "an unknown policy parameter": (
        {"points": [{"policy.fancy": 1}, {"cluster.nodes": 2}], "grid": None, "policies": ["none"]},
        ["point 0 (policy.fancy = 1): "],
    ),
    "a range upside down": (
        {"grid": None, "latin_hypercube": {"samples": 3, "cluster.nodes": {"low": 4, "high": 2}}},
        ["latin_hypercube.ranges.cluster.nodes: low = 4: must be below high = 2"],
    ),
    "undotted keys of a sample": (
        {"grid": None, "latin_hypercube": {"samples": 3, "workload": {"cpu_ms": {"mean": {"low": 1, "high": 2}}}}},
        ["latin_hypercube: 'workload': keys are dotted, in quotes, e.g. \"workload.cpu_ms.mean\" = ..."],
    ),
    "an undotted key of a sample": (
        {"grid": None, "sensitivity": {"method": "morris", "samples": 3, "nodes": {"low": 1, "high": 2}}},
        ["sensitivity: 'nodes': keys are dotted, in quotes, e.g. \"cluster.nodes\""],
    ),
    "misspelt fields of a sample, and no range": (
        {"grid": None, "latin_hypercube": {"sample": 4, "sed": 1, "cluster.nodes": 4}},
        [
            "latin_hypercube: unknown key 'sample'; did you mean 'samples'?",
            "latin_hypercube: unknown key 'sed'; did you mean 'seed'?",
            "latin_hypercube: cluster.nodes = 4: a range is needed, e.g. { low = 0.2, high = 0.9 }",
        ],
    ),
    "undotted overrides, deep": (
        {"overrides": {"workload": {"cpu_ms": {"mean": 5.0}}}},
        ["overrides: 'workload': keys are dotted, in quotes, e.g. \"workload.cpu_ms.mean\" = ..."],
    ),
    "metrics that are not": (
        {"measure": ["mean_slowdown", "p95_slowdwn", "jobs.finishd"], "precision_metric": "slowdown_quantiles"},
        [
            "tiny.toml: precision_metric = 'slowdown_quantiles': no such metric; did you mean",
            "tiny.toml: measure = 'p95_slowdwn': no such metric; did you mean 'p95_slowdown'?",
            "tiny.toml: measure = 'jobs.finishd': no such metric; did you mean 'jobs.finished'?",
        ],
    ),
    "a trace that is not there": (
        {"overrides": {"workload.kind": "trace", "workload.trace.file": "nowhere.csv"}},
        ["nowhere.csv: cannot be read"],
    ),
    "a scenario that is not there": ({"scenario": "quikstart"}, ["did you mean 'quickstart'"]),
}


@pytest.mark.parametrize(("changes", "said"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_named_at_once_each_by_one_message(tmp_path, changes, said):
    with pytest.raises(InputError) as caught:
        expand(study(tmp_path, **changes))
    assert len(caught.value.problems) == len(said)
    for problem, part in zip(caught.value.problems, said, strict=True):
        assert part in problem


def test_files_that_are_no_studies(tmp_path):
    with pytest.raises(InputError, match="did you mean 'quick-study'"):
        load_study("quick-studdy")
    path = study_path(tmp_path)
    path.write_text("policies = [", encoding="utf-8")
    with pytest.raises(InputError, match=r"tiny\.toml: not a TOML file"):
        load_study(path)


@pytest.mark.parametrize(("given", "seeds"), [
    ({}, 3), ({"precision": 0.05}, 30), ({"precision": 0.05, "max_replications": 7}, 7),
])  # fmt: skip
def test_a_point_gets_ten_times_its_replications_at_most(tmp_path, given, seeds):
    assert study(tmp_path, replications=3, **given).seed_limit == seeds
