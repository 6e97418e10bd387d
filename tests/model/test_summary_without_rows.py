"""Runs that keep no rows (`measure.records = "summary"`) give the summary of those that do."""

import json

import pytest
from model.test_large_runs import FAILING, RUNS
from support import busy, scenario

from cluster_abm import ClusterModel, large_tables
from cluster_abm.errors import InputError
from cluster_abm.study.design.fingerprint import cell_key
from cluster_abm.study.runner.measuring import measure_run, responses_ms
from cluster_abm.study.runner.one_run import finished_model

ONE_TASK = {"workload__utilisation": 0.7, "workload__cpu_ms__mean": 200.0, "workload__duration_s": 40.0}
HELD = {"policy__name": "easy", "workload__requested_over_actual__mean": 2.0, "workload__tasks__parallel_share": 0.3}
SUMMARISED = RUNS | {
    "drawn late": ONE_TASK,
    "drawn late, jsq": ONE_TASK | {"policy__name": "jsq"},
    "drawn late, failing": ONE_TASK | {"policy__name": "iolb", "failures__node": FAILING},
    "drawn late, until": ONE_TASK | {"policy__name": "jsq", "run__until": 20_000.0},
    "drawn late, talk": ONE_TASK | {"policy__name": "work-stealing"},
    "drawn late, jobs that wait": ONE_TASK | {"policy__name": "central-queue"},
    "sizes of all jobs": ONE_TASK | {"policy__name": "sita-e"},
    "held": HELD,
    "held, conservative": HELD | {"policy__name": "conservative"},
}  # fmt: skip


# Tables by user, and what follows from them, are made of the rows (docs/reference/metrics.md).
OF_ROWS = ("by_user.", "metrics.jain_users", "jain_users")


def made(settings, **changes):
    return ClusterModel(scenario(measure__period_ms=200.0, **settings | changes), seed=5)


def numbers(document, path=""):
    """All numbers of a summary by their paths."""
    found = {}
    for key, value in document.items():
        found |= numbers(value, f"{path}{key}.") if isinstance(value, dict) else {f"{path}{key}": value}
    return found


def hold_against(summary, whole):
    found, expected = numbers(summary), numbers(whole)
    expected = {key: value for key, value in expected.items() if not key.startswith(OF_ROWS)}
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        is_number = isinstance(value, float)
        near = pytest.approx(value, rel=0.01 if "p95" in key else 1e-9) if is_number else value
        assert found[key] == near, key


FAST = ("barriers", "kills", "users", "programs", "no job ends", "drawn late", "drawn late, jsq")


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[] if name in FAST else [pytest.mark.slow]) for name in SUMMARISED
])  # fmt: skip
def test_the_summary_is_that_of_the_rows(name, monkeypatch):
    whole = made(SUMMARISED[name])
    whole.run()
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 11)
    model = made(SUMMARISED[name], measure__records="summary")
    assert (model.parts.work.late is not None) == name.startswith(("drawn late", "no job ends"))
    model.run()
    hold_against(model.summary(), whole.summary())
    row, of_rows = measure_run(model), measure_run(whole)
    assert row.keys() == {key for key in of_rows if not key.startswith(OF_ROWS)}
    for quantiles in ("slowdown_quantiles", "response_quantiles"):
        assert row[quantiles] == pytest.approx(of_rows[quantiles], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["everything", "drawn late, talk", "drawn late, failing", "barriers"])
def test_the_summary_is_the_same_to_the_byte_by_steps_and_whenever_it_is_read(name, monkeypatch):
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 11)
    model, stepped = (made(SUMMARISED[name], measure__records="summary") for _ in range(2))
    model.run()
    while stepped.running:
        stepped.step()
        if stepped.steps % 50 == 0:
            # What is read on the way is added then; in other groups than else.
            stepped.summary()
    assert json.dumps(stepped.summary()) == json.dumps(model.summary())
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 1000)
    at_once = made(SUMMARISED[name], measure__records="summary")
    at_once.run()
    assert json.dumps(at_once.summary()) == json.dumps(model.summary())


def test_rows_are_forgotten_and_rows_that_live_are_not(monkeypatch):
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 256)
    model = made(ONE_TASK | {"policy__name": "jsq", "workload__duration_s": 400.0}, measure__records="summary")
    whole = made(ONE_TASK | {"policy__name": "jsq", "workload__duration_s": 400.0})
    model.run(until_ms=300_000.0)
    whole.run(until_ms=300_000.0)
    jobs, expected = model.engine.jobs, whole.engine.jobs
    submitted = model.submitted_jobs
    # Whole pages are forgotten, of 30 rows each, but for those that two blocks share.
    assert (jobs["cpu_ms"][: submitted // 2] == 0.0).mean() > 0.6
    assert (model.engine.records["job"] == 0).mean() > 0.8
    live = model.engine.live_jobs()
    assert (jobs[live] == expected[live]).all()
    assert (jobs[submitted : model.parts.work.late.drawn] == expected[submitted : model.parts.work.late.drawn]).all()


def test_what_needs_rows_is_refused_by_name():
    model = ClusterModel(scenario(**busy(), measure__records="summary"), seed=5)
    model.run()
    named = {
        "jobs_frame\\(\\)": model.jobs_frame, "jobs_pieces\\(\\)": lambda: next(model.jobs_pieces()),
        "decisions_frame\\(\\)": model.decisions_frame,
        "decisions_pieces\\(\\)": lambda: next(model.decisions_pieces()),
        "job 3": lambda: model.records_of(3), "job_responses_ms": lambda: responses_ms(model),
    }  # fmt: skip
    for name, read in named.items():
        with pytest.raises(InputError, match=f'^{name}: measure.records = "summary" keeps no rows .* allowed "all"'):
            read()
    assert len(model.nodes_frame())
    axes = model.plot().axes[3]
    assert axes.get_title(loc="left") == f"Slowdown of {model.engine.finished:,} finished tasks"
    with pytest.raises(InputError, match=r'record: measure.records = "summary"'):
        ClusterModel(scenario(**busy(), measure__records="summary"), record=True)
    with pytest.raises(InputError, match=r"measure\.records"):
        scenario(measure__records="none")


def test_agents_of_jobs_join_and_leave_without_rows():
    settings = scenario(**ONE_TASK)
    model = ClusterModel(settings, seed=5, measure__records="summary")
    whole = ClusterModel(settings, seed=5)
    for one in (model, whole):
        assert len(one.agents)
        one.run(until_ms=20_000.0)
    assert [job.job for job in model.jobs_register.agents] == [job.job for job in whole.jobs_register.agents]


def test_a_study_keeps_no_rows_either():
    settings = scenario(**ONE_TASK, measure__records="summary")
    with finished_model(settings, 5) as model:
        assert not model.parts.task_records.are_kept
        assert model.parts.work.late is not None
    assert cell_key(settings) != cell_key(scenario(**ONE_TASK))
    seldom = scenario(**ONE_TASK, measure__records="summary", measure__period_ms=7.0)
    assert cell_key(settings) == cell_key(seldom)
