"""The policy that is tested, and runs of it in a small cluster in which everything happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any, ClassVar, NoReturn

import pandas as pd
import pytest

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.model import ClusterModel
from cluster_abm.policies import AnyPolicy, Policy, choice_of, create
from cluster_abm.policy.calling import policy_at_work
from cluster_abm.policy.finding import registry
from cluster_abm.scenario import Scenario, scenario_from

# Four nodes with I/O, page faults, buffer hits, parallel jobs and remote starts.
BUSY: Mapping[str, Any] = {
    "cluster__nodes": 4,
    "cluster__memory_mb": 30.0,
    "cluster__buffer_in_memory": False,
    "cluster__page_fault_ratio_cap": 1.5,
    "workload__utilisation": 0.5,
    "workload__cpu_ms__mean": 100.0,
    "workload__io_per_ms__kind": "uniform",
    "workload__io_per_ms__mean": 0.12,
    "workload__reaccess_rate": 1.0,
    "workload__tasks__parallel_share": 0.4,
    "workload__tasks__maximum": 6,
    "negotiation__remote_execution_ms": 7.0,
}
SHORT: Mapping[str, Any] = {"workload__duration_s": 4.0}
SHORTEST: Mapping[str, Any] = {"workload__duration_s": 1.0}
SEED = 3
# All work of the scenarios here ends long before this simulated time [ms].
LATEST_MS = 3_600_000.0


def needed_by(policy: str) -> dict[str, Any]:
    """Overrides without which no run under a policy begins: jobs announce what it needs."""
    requested = {"workload__requested_over_actual": {"kind": "uniform", "mean": 1.5}}
    return requested if "requested_ms" in registry.available()[policy].required_demands else {}


def scenario_of(name: str, overrides: Mapping[str, Any]) -> Scenario:
    """A scenario of nothing but what is set here; `__` stands for the dot."""
    base: dict[str, Any] = {"name": name, "cluster": {"nodes": 4}, "workload": {"utilisation": 0.5, "duration_s": 20.0}}
    if overrides.get("workload__arrivals__kind") == "closed":
        # Closed users have no rate of their own.
        del base["workload"]["utilisation"]
    return scenario_from(base, name, {key.replace("__", "."): value for key, value in overrides.items()})


def fail(message: str) -> NoReturn:
    """End the test with a message, and no trace of this package's lines."""
    pytest.fail(message, pytrace=False)


@contextmanager
def faults_in_words(policy: Policy | None = None, method: str = "") -> Iterator[None]:
    """Fail with the message of a policy's fault, which names the policy's line.

    Args:
        policy: a policy of which a method is called without the model.
        method: the method.
    """
    try:
        with policy_at_work(policy, method) if policy is not None else nullcontext():
            yield
    except PolicyFault as fault:
        problem = str(fault)
    else:
        return
    fail(problem)


def difference(one: ClusterModel, other: ClusterModel) -> str:
    """Where two runs first differ, in words; "": they are identical."""
    frames: tuple[tuple[str, Callable[[ClusterModel], pd.DataFrame]], ...] = (
        ("decision", ClusterModel.decisions_frame),
        ("finished task", ClusterModel.jobs_frame),
        ("measurement", ClusterModel.nodes_frame),
    )
    for what, frame_of in frames:
        first, second = frame_of(one), frame_of(other)
        if first.equals(second):
            continue
        common = min(len(first), len(second))
        differ = (first[:common] != second[:common]) & (first[:common].notna() | second[:common].notna())
        rows = differ.any(axis=1)
        if not rows.any():
            return f"there are {len(first)} and {len(second)} rows of the kind {what!r}"
        row = int(rows.to_numpy().argmax())
        column = str(differ.columns[int(differ.iloc[row].to_numpy().argmax())])
        return f"{what} {row}: {column} is {first[column].iloc[row]!r} and {second[column].iloc[row]!r}"
    return "" if one.summary() == other.summary() else "the summaries differ"


class Subject:
    """What the tests are about.

    Attributes:
        policy: a class, an object with its parameters, a name, or FILE.py:CLASS.
        overrides: keys laid over every scenario.
    """

    policy: ClassVar[AnyPolicy]
    overrides: ClassVar[Mapping[str, Any]] = {}

    def created(self, **parameters: Any) -> Policy:
        """A new object of the policy, with these parameters in place of its own."""
        with faults_in_words():
            choice = choice_of(self.policy, {})
            return create(choice.model_copy(update=parameters) if parameters else choice)

    @property
    def kind(self) -> type[Policy]:
        """The policy's class."""
        with faults_in_words():
            return registry.available()[choice_of(self.policy, {}).name]

    def model(
        self, seed: int = SEED, compiled: bool = True, may_refuse: bool = False, **overrides: Any
    ) -> ClusterModel:
        """A model of the busy cluster, not run yet.

        Args:
            seed: the run's seed.
            compiled: False: managers decide in Python.
            may_refuse: whether the policy may refuse the cluster: then the test is skipped, with the reason.
            overrides: keys that differ, `__` for the dot.
        """
        try:
            with faults_in_words():
                choice = choice_of(self.policy, {})
                given = {f"policy__{name}": value for name, value in choice.parameters.items()}
                given = {**BUSY, **needed_by(choice.name), **given, **self.overrides, **overrides}
                setup = scenario_of("contract", {**given, "policy__name": choice.name})
                return ClusterModel(setup, seed=seed, compile_decisions=compiled)
        except InputError as refusal:
            reason = str(refusal)
        if may_refuse:
            pytest.skip(f"the policy refuses such a cluster: {reason}")
        fail(f"the policy refuses the contract's cluster: {reason}; set `overrides` in the test class")

    def run(self, model: ClusterModel) -> ClusterModel:
        """Run a model to its end, which has to come."""
        with faults_in_words():
            model.run(until_ms=LATEST_MS)
        if model.running:
            jobs = model.summary()["jobs"]
            fail(
                "the run had not ended after an hour of simulated time: is a job held that is never let go, or a task "
                f"moved for ever? {jobs}"
            )
        return model

    def finished(self, **given: Any) -> ClusterModel:
        """The same as `model`, run to its end."""
        return self.run(self.model(**given))
