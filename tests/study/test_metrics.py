"""The metrics that are said to be there before a run are those that the run gives."""

from __future__ import annotations

import pytest
from studies import SCENARIO, study

from cluster_abm.errors import InputError
from cluster_abm.model.observing.existing import metrics_of
from cluster_abm.results.metrics import METRICS
from cluster_abm.scenario import scenario_from
from cluster_abm.study.design.expansion import expand
from cluster_abm.study.runner.measuring import measure_run
from cluster_abm.study.runner.one_run import finished_model

FILES = {"data.files": 4, "data.size_mb.mean": 1.0}
KINDS = {
    "plain": {},
    "closed": {"workload": {"arrivals": {"kind": "closed", "users_per_node": 1, "jobs_per_user": 2}}},
    "failing": {"failures.node.kind": "exponential", "failures.node.mean_up_s": 5.0},
    "files": FILES,
    "files of one station": FILES | {"policy.name": "pooled"},
    "no job": {"workload.utilisation": 1e-9},
}


@pytest.mark.parametrize("measured", [{}, {"measure.warmup": "mser"}, {"measure.from_s": 1.0}])
@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS.keys())
def test_what_is_said_is_what_a_run_gives(settings, measured):
    scenario = scenario_from(SCENARIO, "scenario", settings | measured)
    with finished_model(scenario, 1) as model:
        row = measure_run(model)
    assert metrics_of(scenario) == {name for name, value in row.items() if not isinstance(value, list)}


def test_kinds_differ():
    found = {metrics_of(scenario_from(SCENARIO, "scenario", KINDS[kind])) for kind in KINDS}
    assert len(found) == 4


def test_a_shown_metric_may_be_missing_at_some_points_a_watched_one_at_none(tmp_path):
    asked = {"policies": ["jsq", "pooled"], "overrides": FILES, "measure": ["fetched_mb"]}
    assert expand(study(tmp_path, **asked)).cells
    # Without precision it is not watched.
    assert expand(study(tmp_path, precision_metric="fetched_mb", **asked)).cells
    with pytest.raises(InputError) as caught:
        expand(study(tmp_path, precision=0.1, precision_metric="fetched_mb", **asked))
    (problem,) = caught.value.problems
    assert "precision_metric = 'fetched_mb': runs of point 0 under 'pooled' have no such metric" in problem
    assert "nor have those of 1 more" in problem
    with pytest.raises(InputError, match="measure = 'fetched_mb': no such metric"):
        expand(study(tmp_path, **asked | {"overrides": {}}))


def test_every_metric_says_what_it_is():
    for metric in METRICS:
        said = metric.words or metric.meaning or metric.line
        assert said, metric.name
        assert said.lower() != metric.name.replace("_", " "), metric.name
