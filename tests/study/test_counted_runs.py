"""`counted_runs`: its arguments, the executor that it opens, its folder, and interrupts."""

from __future__ import annotations

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from
from cluster_abm.study.runner import counted_runs as module
from cluster_abm.study.runner.calling import place_of
from cluster_abm.study.runner.counted_runs import CountedRuns, counted_runs
from cluster_abm.study.runner.tasks import Where


@pytest.mark.parametrize(("argument", "wrong"), [
    ("workers", 0), ("quiet", "yes"), ("quiet", 1), ("where", "process"), ("out", ""), ("out", 3),
])  # fmt: skip
def test_an_argument_of_a_wrong_type_is_named(argument, wrong):
    given = {"workers": None, "quiet": True, "where": None, "out": None} | {argument: wrong}
    with pytest.raises(InputError, match=f"^{argument} = "):
        place_of(**given)


def test_all_wrong_arguments_are_named_at_once():
    with pytest.raises(InputError) as found:
        place_of(0, "yes", 3, "")
    assert [one.partition(" ")[0] for one in found.value.problems] == ["workers", "quiet", "where", "out"]


@pytest.fixture
def opened(monkeypatch):
    """The executors that were opened, and the calls of `run_all`."""
    seen = SimpleNamespace(executors=[], calls=[], is_open=False)

    @contextmanager
    def open_executor(*given):
        seen.executors.append(given)
        seen.is_open = True
        yield "executor"
        seen.is_open = False

    def run_all(tasks, **given):
        assert seen.is_open
        seen.calls.append((tasks, given))
        return SimpleNamespace(made=1, errors=[], policy_faults={}, interrupted=False, under_way=[], rows=[{}])

    monkeypatch.setattr(module, "open_executor", open_executor)
    monkeypatch.setattr(module, "run_all", run_all)
    monkeypatch.setattr("cluster_abm.study.runner.tasks.available_processors", lambda: 4)
    return seen


def call(opened, folder=None, where=None, workers=None, budget=9, command=None, **more):
    """A command with one run; the arguments that `run_all` got."""
    command = {"scenario": "quickstart"} if command is None else command
    with counted_runs(
        "plan", budget, command, "a search", workers=workers, quiet=True, where=where, folder=folder, **more
    ) as runs:
        assert runs([(scenario_from({}), 5)]) == [{}]
    return opened.calls[-1]


@pytest.mark.parametrize(("where", "workers", "budget", "executor"), [
    (None, None, 9, ("process", 4, None, None)), (None, 3, 9, ("process", 3, None, None)),
    # No more processes than expected runs, and none for one run at a time.
    (None, None, 2, ("process", 2, None, None)), (None, None, 1, ("inline", None, None, None)),
    (None, 1, 9, ("inline", None, None, None)), (Where(workers=2), 3, 9, ("process", 2, None, None)),
    (Where("dask", dask="tcp://here:1"), None, 9, ("dask", None, "tcp://here:1", None)),
    (Where("slurm", workers=7, slurm={"time": 5}), None, 1, ("slurm", 7, None, {"time": 5})),
])  # fmt: skip
def test_one_executor_is_opened_for_all_runs(opened, where, workers, budget, executor):
    tasks, given = call(opened, where=where, workers=workers, budget=budget)
    assert opened.executors == [executor]
    assert not opened.is_open
    assert [(task.seed, task.scenario.name) for task in tasks] == [(5, scenario_from({}).name)]
    assert (given["executor"], given["quiet"], given["keeps_responses"]) == ("executor", True, False)
    assert given["where"].folder is None


def test_a_folder_keeps_the_runs_of_one_command(opened, tmp_path):
    out = tmp_path
    _, given = call(opened, out, keeps_responses=True)
    assert given["where"] == Where(folder=out / "store")
    assert given["keeps_responses"]
    assert json.loads((out / "command.json").read_text()) == {"scenario": "quickstart"}
    # The same command continues in the folder; another command is refused.
    call(opened, out)
    with pytest.raises(InputError, match="holds a search by another command: scenario was 'quickstart', is 'other'"):
        call(opened, out, command={"scenario": "other"})
    assert len(opened.executors) == 2


def test_counted_runs_keep_responses_of_jobs_only_on_request(opened):
    opened.is_open = True
    for more, keeps in (((), False), ((True,), True)):
        CountedRuns(Where(), "executor", True, 9, "plan", *more)([])
        assert opened.calls[-1][1]["keeps_responses"] == keeps


def test_options_of_another_executor_are_refused_before_the_folder_is_claimed(opened, tmp_path):
    with pytest.raises(InputError, match="`--dask` needs"):
        call(opened, tmp_path / "out", Where(dask="tcp://here:1"))
    assert not (tmp_path / "out").exists()
    assert opened.executors == []


def test_runs_that_are_interrupted_end_the_command(opened, monkeypatch, capfd):
    outcome = SimpleNamespace(
        made=0, errors=[], policy_faults={}, interrupted=True, under_way=["a, for 7 s", "b, for 9 s"], rows=[None]
    )
    monkeypatch.setattr(module, "run_all", lambda *_, **__: outcome)
    with pytest.raises(KeyboardInterrupt):
        call(opened)
    assert capfd.readouterr().err.splitlines() == [
        f"under way when it was interrupted: {run}" for run in outcome.under_way
    ]
