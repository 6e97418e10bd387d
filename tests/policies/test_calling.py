"""A policy that is wrong: the error names the policy, what was expected, and its line."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import numpy as np
import pytest
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.interrupts import PolicyInterrupted
from cluster_abm.policies import Decision, Policy, available, create
from cluster_abm.policy.calling import CheckedPolicy, current_call
from cluster_abm.policy.finding.naming import check_class
from cluster_abm.scenario.schema import PolicyChoice

JOBS = busy(workload__duration_s=2.0, negotiation__mode="negotiated")


def run_with(**methods):
    """A run whose policy has these methods in place of its own."""
    model = ClusterModel(scenario(**JOBS | {"policy__name": "wal-pm"}), seed=1)
    for name, method in methods.items():
        setattr(model.policy, name, method)
    model.run()


def away(arriving, view):
    return Decision(view.next_node, "away")


@pytest.mark.parametrize(("returned", "said"), [
    (None, "place returned None; expected a Decision"),
    ("node 3", "place returned 'node 3'; expected a Decision"),
    (1.5, "place returned 1.5; expected a Decision"),
    (True, "place returned True; expected a Decision"),
    (Decision(None, "r"), "place returned target None; expected a Decision whose target is the number of a node"),
    (Decision("1", "r"), "place returned target '1'; expected a Decision whose target is the number of a node"),
    (Decision(1.5, "r"), "place returned target 1.5; expected a Decision whose target is the number of a node"),
    (Decision(True, "r"), "place returned target True; expected a Decision whose target is the number of a node"),
    (Decision(np.float64(1), "r"), "expected a Decision whose target is the number of a node"),
    (Decision(1, 7), "place returned rule 7; expected a Decision whose rule is a text"),
    (Decision(1, None), "place returned rule None; expected a Decision whose rule is a text"),
    (Decision(1, "r", index=3), "place returned index 3; expected a Decision whose index is a text"),
    (Decision(1, "r", reason=None), "place returned reason None; expected a Decision whose reason is a text"),
    (Decision(1, "r", cost_ms=None), "place returned cost_ms None; expected a Decision whose cost_ms is a number"),
    (Decision(1, "r", task_load="2"), "place returned task_load '2'; expected a Decision whose task_load is a number"),
    (Decision(1, "r", mce=True), "place returned mce True; expected a Decision whose mce is a number"),
    (Decision(1, "r", task=4), "place returned task 4; expected a Decision whose task is None or of view.candidates"),
    (Decision(9, "r"), "it chose node 9; allowed are 0 to 3"),
    ("x" * 5000, "place returned 'xxxxx"),
])  # fmt: skip
def test_what_place_must_not_return(returned, said):
    with pytest.raises(PolicyFault, match=r"^policy 'wal-pm': ") as caught:
        run_with(place=lambda arriving, view: returned)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(("methods", "said"), [
    ({"place": away, "accept": lambda *_: None}, 'accept returned None; expected a text: "" accepts'),
    ({"place": away, "accept": lambda *_: True}, "accept returned True; expected a text"),
    ({"migration": lambda *_: "task 3"}, "migration returned 'task 3'; expected a Decision, or None: no task migrates"),
    ({"migration": lambda *_: 0}, "migration returned 0; expected a Decision"),
    ({"migration": away}, "that names no task; expected task=, one of view.candidates; or None"),
])  # fmt: skip
def test_what_other_parts_must_not_return(methods, said):
    with pytest.raises(PolicyFault, match=r"^policy 'wal-pm': ") as caught:
        run_with(**methods)
    assert said in str(caught.value)


class Parts(Policy):
    """A policy whose answers a test sets."""

    name = "parts"

    def __init__(self, **answers):
        super().__init__()
        self.answers = answers

    @property
    def acts_every_ms(self):
        return self.answers.get("acts_every_ms")

    def holds(self, *_):
        return self.answers["holds"]

    def takes_back(self, *_):
        return self.answers["takes_back"]

    def in_trouble(self, loads):
        return self.answers["in_trouble"]


@pytest.mark.parametrize("answer", [None, 1, "yes", [True]])
@pytest.mark.parametrize("method", ["holds", "takes_back"])
def test_truths_are_true_or_false(method, answer):
    asked = CheckedPolicy(Parts(**{method: answer}), 2)
    arguments = (None, 1, None) if method == "holds" else (None, None)
    with pytest.raises(PolicyFault, match=f"policy 'parts': {method} returned .*; expected True or False .*line"):
        getattr(asked, method)(*arguments)


@pytest.mark.parametrize("answer", [True, np.True_, np.bool_(False)])
def test_truths_of_numpy_are_taken(answer):
    assert CheckedPolicy(Parts(holds=answer), 2).holds(None, 1, None) is bool(answer)


@pytest.mark.parametrize("answer", [None, True, [True, False], np.ones(2), np.ones(3, bool)])
def test_trouble_is_a_truth_value_a_node(answer):
    asked = CheckedPolicy(Parts(in_trouble=answer), 2)
    with pytest.raises(PolicyFault, match=r"in_trouble returned .* an array of 2 truth values, one a node"):
        asked.in_trouble(None)


@pytest.mark.parametrize("period", ["soon", -1.0, 0, float("nan"), float("inf"), True])
def test_a_period_is_a_period(period):
    with pytest.raises(PolicyFault, match=r"acts_every_ms returned .*; expected None, or a period"):
        CheckedPolicy(Parts(acts_every_ms=period), 2)


def test_a_period_that_is_a_method_is_to_be_a_property():
    with pytest.raises(PolicyFault, match=r"acts_every_ms is a method; expected a property: write @property above it"):
        CheckedPolicy(Parts(acts_every_ms=lambda: 500.0), 2)


def raising(problem):
    def place(arriving, view):
        raise problem

    return place


@pytest.mark.parametrize(("problem", "said"), [
    (SystemExit(0), "SystemExit: 0"),
    (SystemExit(3), "SystemExit: 3"),
    (BrokenPipeError(32, "Broken pipe"), "BrokenPipeError: [Errno 32] Broken pipe"),
    (OSError(28, "No space left on device"), "OSError: [Errno 28] No space left on device"),
    (RuntimeError("lost\nmy marbles"), "RuntimeError: lost my marbles"),
    (GeneratorExit(), "GeneratorExit"),
    (StopIteration(), "StopIteration"),
    (MemoryError(), "MemoryError"),
])  # fmt: skip
def test_what_a_policy_raises_is_its_fault_with_its_line(problem, said):
    with pytest.raises(PolicyFault) as caught:
        run_with(place=raising(problem))
    assert str(caught.value).startswith(f"policy 'wal-pm': place raised {said} (")
    assert f"{Path(__file__).name}, line " in str(caught.value)
    assert "raise problem" in str(caught.value)


def test_the_line_is_the_policys_own_one_not_that_of_what_it_calls():
    class Asks(Policy):
        name = "asks"

        def place(self, arriving, view):
            return Decision(view.least("no such index"), "r")

    model = ClusterModel(scenario(**JOBS), seed=1, compile_decisions=False)
    for manager in model.load_managers:
        manager.checked = CheckedPolicy(Asks(), 4)
    with pytest.raises(PolicyFault, match=r"place raised (KeyError|ValueError): .*least\(\"no such index\"\)"):
        model.run()


def test_bad_input_that_a_policy_finds_in_a_run_is_its_fault_too():
    with pytest.raises(
        PolicyFault, match=r"^policy 'wal-pm': place raised cluster_abm.errors.InputError: mine \(.*line"
    ):
        run_with(place=raising(InputError("mine")))


def test_a_policy_that_cannot_be_made(monkeypatch):
    class Unready(Policy):
        name = "unready"

        def __init__(self, **parameters):
            raise SystemExit("not today")

    class Bare(Policy):
        name = "bare"

        def __init__(self, **parameters):
            pass

    for policy in (Unready, Bare):
        monkeypatch.setitem(available(), policy.name, policy)
    with pytest.raises(PolicyFault, match=r"policy 'unready': __init__ raised SystemExit: not today \(.*line"):
        create(PolicyChoice(name="unready"))
    with pytest.raises(PolicyFault, match=r"policy 'bare': .*super\(\).__init__"):
        create(PolicyChoice(name="bare"))


class Foreign:
    """Parameters of another kind."""


@pytest.mark.parametrize("kind", [Foreign, "none", None])
def test_parameters_are_of_the_packages_kind(kind):
    policy = type("Odd", (Policy,), {"name": "odd", "source": "x", "summary": "y", "Parameters": kind})
    with pytest.raises(PolicyFault, match=r"^here: Odd.Parameters has to inherit from Policy.Parameters$"):
        check_class(policy, "here")


def test_another_policy_that_cannot_be_made_ends_no_run_with_a_traceback(monkeypatch):
    class Broken(Policy):
        name = "broken"

        class Parameters(Policy.Parameters):
            strange: float = 1.0

        def __init__(self, **parameters):
            raise RuntimeError("not today")

    monkeypatch.setitem(available(), "broken", Broken)
    with pytest.raises(PolicyFault, match=r"policy 'broken': __init__ raised RuntimeError: not today"):
        create(PolicyChoice(name="jsq", strange=2.0))


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_names_a_policy_that_does_not_return():
    def endless(arriving, view):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            pass

    with pytest.raises(PolicyInterrupted, match=r"policy 'wal-pm': place had not returned for 0\.\d s \(.*line"):
        run_with(place=endless)
    assert current_call() is None
