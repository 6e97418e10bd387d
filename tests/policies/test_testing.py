"""Each test of the shipped contract fails for a policy that breaks what it is about, and says so in words."""

from __future__ import annotations

import inspect
import itertools
import subprocess
import sys

import pytest
from pydantic import Field, field_validator

import cluster_abm as ca
from cluster_abm import ClusterModel, Policy
from cluster_abm.testing import PolicyContract


class Good(Policy):
    """To the node with fewest tasks."""

    source = "a test"
    summary = "fewest tasks"

    class Parameters(Policy.Parameters):
        d: int = Field(2, ge=1, le=9, description="nothing")

    def place(self, task, view):
        return ca.Decision(view.least("tasks"), "fewest tasks", "tasks")


class OtherName(Good):
    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.name = "another"


class NoSource(Good):
    source = ""


class NoMeaning(Good):
    class Parameters(Policy.Parameters):
        d: int = 3


class NoWords(Good):
    rules = (("most tasks", "it has most tasks"),)


class NotAgain(Good):
    class Parameters(Policy.Parameters):
        d: int = 3

        @field_validator("d")
        @classmethod
        def one_more(cls, value):
            return value + 1


class TakesAll(Good):
    def __init__(self, **parameters):
        super().__init__()


class OwnChecks(Good):
    def __init__(self, d=2, heterogeneous=False):
        if not d > 0:
            raise ValueError("d must be above 0")
        super().__init__(d=d, heterogeneous=heterogeneous)


class DividesByItsParameter(Good):
    class Parameters(Policy.Parameters):
        share: float = Field(0.5, ge=0.0, le=1.0, description="of what it divides by")

    def place(self, task, view):
        return ca.Decision(int(0.1 / self.parameters.share) % view.nodes, "share")


class Outside(Good):
    def place(self, task, view):
        return ca.Decision(view.nodes, "outside")


class AsksAgain(Good):
    def place(self, task, view):
        return ca.Decision(0, "the first node")


class NoRule(Good):
    def place(self, task, view):
        return ca.Decision(view.me, "")


class Counts(Good):
    """In an object that all runs share."""

    calls = itertools.count()

    def place(self, task, view):
        return ca.Decision((view.me + next(self.calls) // 3) % view.nodes, "in turn")


class Writes(Good):
    def place(self, task, view):
        view.loads["tasks"][view.me] += 1
        return super().place(task, view)


class AcceptsSilently(Good):
    def accept(self, task, decision, view):
        return None


class RecoversAnywhere(Good):
    def recover(self, task, view):
        return ca.Decision(view.nodes - 1, "the last node")


class Compiled(Good):
    """What compiled code has as a constant is another number in each run."""

    runs = itertools.count()

    def prepare(self, demands, nodes):
        global RUN
        RUN = next(self.runs)

    def place(self, task, view):
        return ca.Decision((view.me + RUN) % view.nodes, "by run")


class Halves(Good):
    """Halves what the jobs of the model demand."""

    def prepare(self, demands, nodes):
        inspect.currentframe().f_back.f_locals["jobs"]["cpu_ms"] *= 0.5


class Remembers(Good):
    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.seen = set()

    def place(self, task, view):
        self.seen.add(task.task)
        return super().place(task, view)


class HoldsForEver(Good):
    holds_jobs = True
    holds_for_events = True

    def holds(self, task, tasks, view):
        return True


class MovesAtTimes(Good):
    acts_every_ms = 100.0

    def relieve(self, view):
        rows = view.candidates
        return ca.Decision(view.next_node, "on", task=rows[0]) if rows else None


class NeedsTwoNodes(Good):
    def place(self, task, view):
        return ca.Decision((view.me + 1 // (view.nodes - 1)) % view.nodes, "next")


class NeedsAllNodes(Good):
    def place(self, task, view):
        return ca.Decision(sorted(view.down)[0] if view.down else view.me, 1.0 if view.down else "all are up")


class NeedsMemory(Good):
    def place(self, task, view):
        free = view.measured("virtual_free_mb", view.me)
        return ca.Decision(view.me, "free" if free > 1e6 else 1.0)


class Loses(ClusterModel):
    """A model that forgets a job."""

    def summary(self):
        found = super().summary()
        return {**found, "jobs": {**found["jobs"], "finished": found["jobs"]["finished"] - 1}}


class Elsewhere(ClusterModel):
    """A model that tells a wrong node."""

    def jobs_frame(self):
        return super().jobs_frame().assign(node=lambda frame: (frame["node"] + 1) % 4)


def contract(policy, model_class=ClusterModel):
    """The tests of a policy, in models of a class."""

    class Test(PolicyContract):
        def model(self, *args, **given):
            model = super().model(*args, **given)
            model.__class__ = model_class
            return model

    Test.policy = policy
    return Test()


BROKEN = [
    (OtherName, "is_found_by_its_name", (), "an object of it is called 'another'"),
    (NoSource, "says_what_it_is", (), "the class NoSource has no `source`"),
    (NoMeaning, "each_parameter_has_a_meaning", (), "the parameter 'd' has no meaning"),
    (NoWords, "each_rule_has_words", (), "names the rule 'fewest tasks', and `rules` has no words for it"),
    (NotAgain, "is_made_again_from_its_parameters", (), "made again from its own parameters it has others"),
    (TakesAll, "an_unknown_parameter_is_refused", (), "no_such_parameter = 1 is taken"),
    (OwnChecks, "a_parameter_beyond_its_bounds_is_refused", (), "raises TypeError and no InputError"),
    (DividesByItsParameter, "it_runs_with_parameters_at_their_bounds", (), r"ZeroDivisionError.*line \d+: return"),
    (Outside, "it_names_a_node_that_there_is", (), "`place` names node 1 of 1 nodes"),
    (AsksAgain, "it_names_no_node_that_refused", (), "names node 0, which has refused the task"),
    (NoRule, "it_names_its_rule", (), "a decision has no rule"),
    (Counts, "asked_twice_it_answers_the_same", (), "`place` answers differently"),
    (Writes, "it_changes_nothing_that_it_is_shown", (), "`place` changes the view's arrays"),
    (AcceptsSilently, "it_answers_an_offer_in_words", (), "`accept` returns None"),
    (RecoversAnywhere, "a_task_that_lost_its_node_goes_on_where_a_node_answers", (), "`recover` names node"),
    (Compiled, "both_forms_decide_the_same", ("negotiated",), "in compiled code and in Python, the policy decides"),
    (Counts, "the_same_seed_repeats_the_run", (), "run twice from one seed, the policy decides differently"),
    (Counts, "steps_and_a_run_are_the_same", (), "run step by step and in one go"),
    (Counts, "a_run_that_stops_in_between_is_the_same", (), "run stopped after two seconds and in one go"),
    (Halves, "all_policies_get_the_same_jobs", (), "those of a run under 'none': cpu_ms differ"),
    (Remembers, "it_keeps_no_state_in_itself", (), r"a run changes self\.seen"),
    (HoldsForEver, "all_work_is_finished_once", ("negotiated",), r"0 of \d+ jobs are finished"),
    (MovesAtTimes, "no_task_moves_unless_the_class_says_so", (), "and the class is no `Migrating`"),
    (NeedsTwoNodes, "all_work_is_finished_in", ("one node",), "ZeroDivisionError"),
    (NeedsAllNodes, "nodes_fail", ("restart",), "a Decision whose rule is a text"),
    (NeedsMemory, "memory_is_full", (), "a Decision whose rule is a text"),
]  # fmt: skip
BY_A_MODEL = [
    (Loses, "jobs_add_up_at_any_time", (), "jobs do not add up at 0 ms"),
    (Elsewhere, "a_task_is_where_the_last_decision_says", ("papers",), "by the last decision it was on node"),
]


def failed(test, given, said):
    with pytest.raises(pytest.fail.Exception, match=said) as caught:
        test(*given)
    assert not caught.value.pytrace


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "test", "given", "said"), BROKEN)
def test_a_policy_that_breaks_it_is_told(policy, test, given, said):
    (method,) = (name for name in dir(PolicyContract) if name.startswith("test_") and name.endswith(test))
    failed(getattr(contract(policy), method), given, said)


@pytest.mark.slow
@pytest.mark.parametrize(("model_class", "test", "given", "said"), BY_A_MODEL)
def test_a_model_that_breaks_it_is_told(model_class, test, given, said):
    failed(getattr(contract(Good, model_class), f"test_{test}"), given, said)


def test_every_test_of_the_contract_is_broken_by_something_here():
    tests = [name for name in dir(PolicyContract) if name.startswith("test_")]
    assert len(tests) > 24
    for name in tests:
        assert any(name.endswith(test) for _, test, _, _ in (*BROKEN, *BY_A_MODEL)), name


MINE = '''
import cluster_abm as ca


class Mine(ca.Policy):
    """To the node with least work ahead of its CPU."""

    source = "an idea"
    summary = "least CPU work"

    def place(self, task: ca.ArrivingTask, view: ca.View) -> ca.Decision:
        return ca.Decision(view.least("cpu_ms"), "least work", "cpu_ms")
'''
FILE = """
from cluster_abm.testing import PolicyContract
from mine import Mine


class TestMine(PolicyContract):
    policy = Mine
"""


def carried_out(folder, *words):
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_file_and_the_command_run_it(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    (tmp_path / "test_mine.py").write_text(FILE)
    quick = ("-k", "says or names or bounds")
    by_command = carried_out(tmp_path, "-m", "cluster_abm.testing", "mine.py:Mine", *quick)
    by_file = carried_out(tmp_path, "-m", "pytest", "-q", *quick)
    for done in (by_command, by_file):
        assert done.returncode == 0, done.stdout + done.stderr
        assert " passed" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith((".", "__"))) == [
        "mine.py", "test_mine.py",
    ]  # fmt: skip


@pytest.mark.slow
def test_what_the_command_is_given_wrongly(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    wrong = carried_out(tmp_path, "-m", "cluster_abm.testing", "mine.py:Mina")
    assert wrong.returncode == 4
    assert "has no policy 'Mina'; did you mean 'Mine'" in wrong.stderr
    nothing = carried_out(tmp_path, "-m", "cluster_abm.testing")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "usage:" in nothing.stderr


@pytest.mark.slow
def test_without_pytest_the_package_says_what_to_install(tmp_path):
    code = (
        "import sys, cluster_abm, cluster_abm.model; assert 'pytest' not in sys.modules; sys.modules['pytest'] = None"
    )
    done = carried_out(tmp_path, "-c", f"{code}; import cluster_abm.testing")
    assert done.stderr.strip().endswith("ImportError: cluster_abm.testing needs pytest: pip install pytest")
