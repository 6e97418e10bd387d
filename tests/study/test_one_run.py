"""Carrying out one run: its record, its errors, and the memory and stdout that it leaves.

The model and its measurements are stand-ins.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import mesa
import pytest
from support import scenario

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.scenario.distributions import LONGEST_PERIOD_MS
from cluster_abm.study.runner import code_version, measuring, one_run
from cluster_abm.study.runner.one_run import Assignment, carry_out, failed_by, finished_model
from cluster_abm.study.store.store import Record


@pytest.fixture
def measured(monkeypatch):
    """The calls so far, `asked`; the model raises `raises` unless it is None."""
    seen = SimpleNamespace(asked=[], raises=None)

    @contextmanager
    def finished(setup, seed, watched):
        seen.asked.append((setup.name, seed, watched))
        if seen.raises is not None:
            raise seen.raises
        yield "model"
        seen.asked.append("left")

    def measure(model):
        seen.asked.append(model)
        return {"mean_slowdown": 2.0}

    monkeypatch.setattr(one_run, "finished_model", finished)
    monkeypatch.setattr(measuring, "measure_run", measure)
    monkeypatch.setattr(measuring, "load_over_time", lambda model: {"time_ms": [1.0], "tasks": [[3]]})
    monkeypatch.setattr(measuring, "responses_ms", lambda model: [5.0, 7.0])
    monkeypatch.setattr(code_version, "policy_version", lambda name: f"version of {name}")
    return seen


def assignment(keeps_load=False, version="version of jsq", **more):
    return Assignment(scenario(policy__name="jsq"), "key", 3, version, keeps_load, **more)


def test_a_record_holds_what_its_assignment_wants(measured):
    assert carry_out(assignment()) == Record("key", 3, {"mean_slowdown": 2.0})
    assert measured.asked == [("test", 3, False), "model", "left"]
    load = carry_out(assignment(keeps_load=True))
    assert load == Record("key", 3, {"mean_slowdown": 2.0}, {"time_ms": [1.0], "tasks": [[3]]})
    # For the load over time the model takes measurements.
    assert measured.asked[3] == ("test", 3, True)
    responses = carry_out(assignment(keeps_responses=True))
    assert responses == Record("key", 3, {"mean_slowdown": 2.0, "job_responses_ms": [5.0, 7.0]})
    assert not responses.failed


@pytest.mark.parametrize(("problem", "raises_bad_input", "is_raised"), [
    # Bad input is raised if the assignment says so; faults of policies and of this program never are.
    (InputError("wrong"), True, True), (InputError("wrong"), False, False), (PolicyFault("theirs"), True, False),
    (ZeroDivisionError("ours"), True, False), (ZeroDivisionError("ours"), False, False),
])  # fmt: skip
def test_an_error_is_kept_in_the_record_of_its_run(measured, problem, raises_bad_input, is_raised):
    measured.raises = problem
    asked = assignment(raises_bad_input=True) if raises_bad_input else assignment()
    if is_raised:
        with pytest.raises(InputError, match="wrong"):
            carry_out(asked)
        return
    record = carry_out(asked)
    assert (record.name, record.failed, record.metrics, record.load) == (("key", 3), True, {}, None)
    assert record.error == f"{type(problem).__name__}: {problem}"
    assert record.traceback.startswith("Traceback (most recent call last):\n")
    assert record.traceback.endswith(f"{type(problem).__name__}: {problem}\n")


def test_an_interrupt_is_raised_and_leaves_no_record(measured):
    measured.raises = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        carry_out(assignment())


def test_an_error_is_one_line():
    record = failed_by(ValueError("disk\n  on\tfire"), "k", 4)
    assert (record.key, record.seed, record.error) == ("k", 4, "ValueError: disk on fire")
    assert record.traceback == "ValueError: disk\n  on\tfire\n"


def test_policies_are_admitted_first_and_other_sources_are_refused(measured, monkeypatch):
    monkeypatch.setattr(one_run, "admit", lambda origins: measured.asked.append(origins))
    with pytest.raises(InputError) as found:
        carry_out(assignment(version="another", policies=("file",)))
    assert measured.asked == [("file",)]
    (said,) = found.value.problems
    assert "the policy 'jsq' is of other sources (version of jsq) than in the process that sends it work (another)" in (
        said
    )


def test_a_policy_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(code_version, "policy_version", lambda name: "not installed")
    with pytest.raises(InputError, match=r"the policy 'mine' is not installed, but in the process that .* \(here\)"):
        code_version.check_policy("mine", "here")
    # If neither process has the policy, the check passes and the run reports it.
    code_version.check_policy("mine", "not installed")


# ---- the model itself ----


class Model:
    """Prints, as a policy may, and keeps its arguments."""

    made = ()

    def __init__(self, setup, seed, keep_decisions):
        print("made")
        self.setup, self.seed, self.is_finished = setup, seed, False
        Model.made = (setup.measure.period_ms, seed)

    def run(self):
        print("ran")
        if self.setup.name == "fails":
            raise RuntimeError("disk on fire")
        self.is_finished = True


@pytest.fixture
def models(monkeypatch):
    monkeypatch.setattr("cluster_abm.model.ClusterModel", Model)
    monkeypatch.setattr(mesa.Agent, "_ids", {}, raising=False)
    return mesa.Agent._ids


@pytest.mark.parametrize("watched", [True, False])
def test_measurements_are_taken_only_where_a_run_is_watched(models, capsys, watched):
    with finished_model(scenario(measure__period_ms=200.0), 7, watched) as model:
        assert model.is_finished
        models[model] = 3
        print("measured")
    assert Model.made == (200.0 if watched else LONGEST_PERIOD_MS, 7)
    # Only the test prints to stdout; the model prints to stderr.
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("measured\n", "made\nran\n")
    assert sys.stdout is not sys.stderr
    # The model is emptied, and Mesa's count of its agents is removed.
    assert (vars(model), models) == ({}, {})


def test_a_run_that_fails_leaves_no_memory_either(models, monkeypatch):
    kept = []
    real = Model.run

    def run(model):
        kept.append(model)
        models[model] = 1
        real(model)

    monkeypatch.setattr(Model, "run", run)
    with (
        pytest.raises(RuntimeError, match="on fire"),
        finished_model(scenario().model_copy(update={"name": "fails"}), 1),
    ):
        pytest.fail("the run has not finished")
    assert (vars(kept[0]), models) == ({}, {})


def test_a_version_of_mesa_that_counts_no_agents_is_no_problem(models, monkeypatch):
    monkeypatch.delattr(mesa.Agent, "_ids")
    with finished_model(scenario(), 1) as model:
        assert model.is_finished
