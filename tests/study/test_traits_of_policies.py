"""What is said of policies before a run: by text, held against what they do."""

from __future__ import annotations

import pytest

from cluster_abm import ClusterModel, Decision, InputError, Policy, load_scenario
from cluster_abm.policies import available, create
from cluster_abm.policy.finding.sizes import sizes_read
from cluster_abm.scenario.schema import PolicyChoice
from cluster_abm.study.design.traits import traits_of

ARENA = load_scenario("arena")
SHORT = {"cluster.nodes": 6, "workload.duration_s": 40.0, "workload.utilisation": 0.8}


@pytest.mark.parametrize(("policy", "traits"), [
    # Knows sizes, information, may refuse. Random choices claim no load that could be refused.
    ("none", (False, "none", False)), ("random", (False, "none", False)), ("jsq", (False, "reported", True)),
    ("jsq[information=fresh]", (False, "fresh", True)),
    # Mitzenmacher's rule has no refusal, and no more the intervals of sizes.
    ("power-of-d", (False, "reported", False)), ("sita-e", (True, "none", False)), ("iolb", (True, "reported", True)),
    # WAL-RE compares queues and memory; WAL-PM estimates responses by the CPU that is still to come.
    ("wal-re", (False, "reported", True)), ("wal-pm", (True, "reported", True)),
    # A central scheduler knows the true state; requested run times are sizes that it is told.
    ("easy", (True, "fresh", False)), ("batch-system", (False, "fresh", False)), ("tetris", (True, "fresh", False)),
    # Managers that talk know what messages say. Bidders may refuse an award.
    ("lwl", (True, "messages", False)), ("jiq", (False, "messages", False)),
    ("contract-net", (True, "reported", True)),
])  # fmt: skip
def test_traits_by_hand(policy, traits):
    assert tuple(traits_of(ARENA, policy)) == traits
    assert traits_of(ARENA, policy).sees_true_state == (traits[1] == "fresh")


def test_the_scenario_decides_with_the_policy():
    papers = load_scenario("arena", {"negotiation.mode": "papers"})
    assert tuple(traits_of(papers, "jsq")) == (False, "fresh", False)
    assert traits_of(papers, "jsq[information=reported]").information == "reported"
    assert not traits_of(load_scenario("arena", {"negotiation.refusals": False}), "jsq").may_refuse
    assert traits_of(load_scenario("arena", {"policy.adaptive": True}), "wal-re").knows_sizes


class _Sizes(Policy):
    """By one of its parameters it reads a task's demand."""

    class Parameters(Policy.Parameters):
        """Whether it does, and a load index."""

        by_size: bool = False
        compares: str = "tasks"

    name = "by-size"
    source = summary = "a test"

    def place(self, task, view):
        """Look at the size, if it is to."""
        chosen = self.parameters
        if chosen.by_size:
            return Decision(int(demand_of(task)) % view.nodes, "by size")
        return Decision(view.least(chosen.compares), "least")


def demand_of(task):
    return task.cpu_ms


class _Inherits(_Sizes):
    """Its method extends the other one's."""

    name = "inherits"

    def place(self, task, view):
        """As the other one does."""
        return super().place(task, view)


@pytest.mark.parametrize("of", [_Sizes, _Inherits])
def test_a_users_policy_is_read_with_its_parameters(of):
    assert sizes_read(of()) == frozenset()
    assert sizes_read(of(by_size=True)) == {"cpu_ms"}
    assert sizes_read(of(compares="io_ms")) == {"io_ms"}


def test_a_load_index_of_a_class_is_read():
    class Work(Policy):
        """The least work."""

        name = "work"
        source = summary = "a test"
        index = "cpu_ms"

    assert sizes_read(Work()) == {"cpu_ms"}


def run_of(policy, **more):
    """The scenario and a model of a short run of the arena under a policy; skipped if the policy needs files."""
    scenario = load_scenario("arena", {**SHORT, "policy.name": policy, **more})
    try:
        create(PolicyChoice(name=policy))
        model = ClusterModel(scenario, seed=1)
    except InputError as problem:
        pytest.skip(f"needs files: {problem}")
    model.run()
    return scenario, model


ALL = [name for name, one in available().items() if not one.pooled]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ALL)
def test_traits_are_what_policies_do(policy):
    """Only a policy that may refuse has refused offers, and wrong sizes change the runs of one that knows sizes alone.

    Batch systems read requested times, which stay as they are.
    """
    scenario, exact = run_of(policy)
    _, wrong = run_of(policy, **{"workload.announced_error": 2.0})
    traits, requested = traits_of(scenario, policy), available()[policy].required_demands
    assert exact.summary()["metrics"]["refused_offers"] == 0 or traits.may_refuse
    is_changed = not exact.jobs_frame().equals(wrong.jobs_frame())
    assert is_changed == (traits.knows_sizes and not requested)
