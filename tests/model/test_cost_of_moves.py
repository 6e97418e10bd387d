"""What a policy says that a move costs is its account; a move costs what it does."""

from __future__ import annotations

import numpy as np
import pytest
from support import scenario

import cluster_abm as ca
from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.model.setup import travel_ns
from cluster_abm.policies import Migrating

SAID = [None, 0.0, 10_000.0, -1.0, float("inf"), float("nan")]
JOBS = {
    "cluster__nodes": 3, "workload__utilisation": 0.6, "workload__duration_s": 15.0, "workload__cpu_ms__mean": 300.0,
    "workload__memory_mb__kind": "fixed", "workload__memory_mb__mean": 5.0, "negotiation__migration_ms": 40.0,
    "interconnect__bandwidth_mbps": 100.0, "interconnect__latency_ms": 2.0, "workload__initial_data_mb__mean": 0.0,
    "workload__write_share": 0.0,
}  # fmt: skip
# f, the latency, and 5 MB at 12.5 MB/s; before it the question and its answer.
COST_MS = 40.0 + 2.0 + 400.0
MIGRATION_MS = COST_MS + 2 * 2.0


def test_a_journey_takes_31_years_at_most():
    """A thousand million seconds, in whole nanoseconds."""
    assert travel_ns(1e12, 0, 1) == 10**18
    with pytest.raises(InputError, match=r"task 7 would travel .* to node 2: allowed is 1e\+12 \(infinite"):
        travel_ns(np.nextafter(1e12, np.inf), 7, 2)
    with pytest.raises(InputError, match="would travel inf ms"):
        travel_ns(np.inf, 7, 2)


class Mover(Migrating):
    """Each arrival makes the first running task migrate to the next node."""

    class Parameters(ca.Policy.Parameters):
        """What it says of the cost."""

        said: float = 0.0
        says: bool = True

    name = "mover"

    def place(self, task, view):
        """At home."""
        return ca.Decision(view.me, "home")

    def migration(self, task, view):
        """The first task that runs."""
        rows, target = view.candidate_rows, view.next_node
        if target in view.refused:
            return None
        for place in range(len(rows)):
            if rows["running"][place]:
                if self.parameters.says:
                    return ca.Decision(target, "away", task=view.candidate(place), cost_ms=self.parameters.said)
                return ca.Decision(target, "away", task=view.candidate(place))
        return None

    def accept(self, task, decision, view):
        """Whatever it costs."""
        return ""


def moved(said, compiles):
    policy = Mover(says=said is not None, said=0.0 if said is None else said)
    model = ClusterModel(scenario(**JOBS), seed=2, policy=policy, compile_decisions=compiles)
    assert (model.decides_in_python == "") is compiles
    model.run()
    return model


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("said", SAID)
def test_a_migration_costs_what_it_does_whatever_its_policy_says(said, compiles):
    model = moved(said, compiles)
    records = model.engine.records[: model.engine.finished]
    times = records["migration_ns"] / 1e6 / np.maximum(records["migrations"], 1)
    assert (records["migrations"] > 0).sum() > 5
    assert times[records["migrations"] > 0] == pytest.approx(MIGRATION_MS, abs=1e-6)
    decisions = model.decisions_frame()
    costs = decisions.loc[decisions["rule"] == "away", "cost_ms"].unique()
    # A missing figure is filled in by the load manager's own view.
    assert costs == pytest.approx([COST_MS if said is None or np.isnan(said) else said])


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
def test_the_asked_node_judges_an_offer_without_a_cost_by_what_its_asker_knows(compiles):
    class Judged(Mover):
        name = "judged"

        def accept(self, task, decision, view):
            return "" if decision.cost_ms < 1e9 else "too dear"

        def place(self, task, view):
            target = view.next_node
            return ca.Decision(view.me if target in view.refused else target, "next")

    model = ClusterModel(
        scenario(**JOBS), seed=2, policy=Judged(says=False), compile_decisions=compiles
    )  # fmt: skip
    model.run()
    decisions = model.decisions_frame()
    asked = decisions[decisions["source"] != decisions["target"]]
    assert len(asked) > 20
    assert asked["accepted"].all()


@pytest.mark.slow
def test_a_candidate_that_a_policy_has_made_smaller_costs_what_it_weighs():
    from dataclasses import replace

    class Light(Mover):
        name = "light"

        def migration(self, task, view):
            running = [one for one in view.candidates if one.running]
            if not running or view.next_node in view.refused:
                return None
            return ca.Decision(view.next_node, "away", task=replace(running[0], memory_mb=0.0))

    model = ClusterModel(scenario(**JOBS), seed=2, policy=Light())
    model.run()
    records = model.engine.records[: model.engine.finished]
    times = records["migration_ns"] / 1e6 / np.maximum(records["migrations"], 1)
    assert times[records["migrations"] > 0] == pytest.approx(MIGRATION_MS, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
def test_a_migration_to_a_node_that_refuses_each_time_ends(compiles):
    class Stubborn(Mover):
        name = "stubborn"

        def migration(self, task, view):
            if len(view.candidate_rows) == 0:
                return None
            return ca.Decision(view.next_node, "away", task=view.candidate(0))

        def accept(self, task, decision, view):
            return "no"

    model = ClusterModel(scenario(**JOBS), seed=2, policy=Stubborn(), compile_decisions=compiles)
    model.run()
    assert model.summary()["metrics"]["migrations"] == 0
