"""The policy of each load manager: one for all of them, or one a group of nodes."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.engine.tables import Table
from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.policies import Policy, available, create
from cluster_abm.policy.calling import CheckedPolicy, policy_at_work
from cluster_abm.policy.tasks import Demands
from cluster_abm.scenario import Scenario, nearest
from cluster_abm.scenario.cluster import NodeGroup
from cluster_abm.scenario.mixture import policy_label
from cluster_abm.scenario.schema import Negotiation, PolicyChoice


class ManagedPolicies:
    """The policies of a run's load managers.

    Args:
        of_nodes: the policy of each node's load manager; those of one group share an object.
        name: what they are called together.

    Attributes:
        of: the policy of each node's load manager.
        checked: the same, each behind checks of what it returns.
        main: the policy that all managers have, or of several the first node's.
        name: as above.

    Raises InputError: policies that cannot be mixed.
    """

    def __init__(self, of_nodes: list[Policy], name: str) -> None:
        self.of = tuple(of_nodes)
        # By identity: a policy of a user's may compare with others as it likes.
        distinct = {id(policy): policy for policy in of_nodes}
        self.distinct = list(distinct.values())
        made = {number: CheckedPolicy(policy, len(of_nodes)) for number, policy in distinct.items()}
        self.checked = tuple(made[id(policy)] for policy in of_nodes)
        self.main = self.distinct[0]
        self.name = name
        self._check()

    @property
    def is_mixed(self) -> bool:
        """Whether not all load managers have the same policy."""
        return len(self.distinct) > 1

    @property
    def any_acts_on_arrival(self) -> bool:
        """Whether any load manager decides where an arriving task starts."""
        return any(policy.acts_on_arrival for policy in self.distinct)

    @property
    def any_uses_reports(self) -> bool:
        """Whether any load manager reads the reports of the others."""
        return any(policy.uses_reports for policy in self.distinct)

    @property
    def any_needs_averages(self) -> bool:
        """Whether averages of nodes' loads are taken for any of them."""
        return any(policy.averages for policy in self.distinct)

    @property
    def any_is_prepared(self) -> bool:
        """Whether any of them reads the demands of all jobs before the run."""
        return any(map(is_prepared, self.distinct))

    @property
    def any_compares_links(self) -> bool:
        """Whether any load manager reads the load of the nodes' links."""
        return any(policy.compares_links for policy in self.distinct)

    def _check(self) -> None:
        if not self.is_mixed:
            return
        problems = []
        for policy in self.distinct:
            for attribute, words in (
                ("pooled", "pools all nodes"),
                ("central", "decides at one head node"),
                ("holds_jobs", "holds jobs in queues"),
                ("talks", "has managers that hold tasks and talk by messages"),
            ):
                if getattr(policy, attribute):
                    problems.append(
                        f"cluster.group.policy = {policy.name!r}: it {words}, and cannot be mixed with other policies; "
                        f"give it to all nodes by policy.name = {policy.name!r}"
                    )
        if len({policy.effective_rates for policy in self.distinct}) > 1:
            problems.append(
                "cluster.group.policy: the policies count I/O rates in different ways (rates = 'effective'), and read "
                "the same reports; give all of them the same `rates`"
            )
        if len({policy.parameters.information for policy in self.distinct}) > 1:
            problems.append(
                "cluster.group.policy: some policies know the true state and some the reports (information): give all "
                "of them the same `information`"
            )
        if problems:
            raise InputError(problems)


def policies_of(scenario: Scenario, given: Policy | None = None) -> ManagedPolicies:
    """The policies of a scenario's load managers; `given`: that of all, which has been made. Raises InputError."""
    groups = scenario.cluster.group
    rest = scenario.cluster.nodes - sum(group.count for group in groups)
    default: Policy | None = None
    if rest or any(group.policy is None for group in groups):
        default = create(scenario.policy) if given is None else given
    of_nodes: list[Policy] = []
    made: dict[str, Policy] = {}
    for index, group in enumerate(groups):
        policy = default
        if group.policy is not None:
            choice = f"{group.policy} {group.policy_parameters}"
            if choice not in made:
                made[choice] = _create(index, group)
            policy = made[choice]
        assert policy is not None  # made above where a group has none of its own
        of_nodes += [policy] * group.count
    if rest:
        assert default is not None  # made above
        of_nodes += [default] * rest
    return ManagedPolicies(of_nodes, policy_label(scenario))


def is_obeyed(policy: Policy, negotiation: Negotiation) -> bool:
    """Whether what a policy decides is done at once, and no node is asked: mode `papers`, or one head node decides."""
    return negotiation.mode == "papers" or decides_centrally(policy)


def knows_true_state(policy: Policy, negotiation: Negotiation) -> bool:
    """Whether a policy's load managers know the true state of all nodes at each decision (`policy.information`).

    Raises InputError: a policy that decides at one head node is to know reports.
    """
    information = policy.parameters.information
    if information == "reported" and decides_centrally(policy):
        raise InputError(
            f'policy.information = "reported": policy {policy.name!r} decides at one head node, which knows the true '
            'state: allowed is "fresh"'
        )
    return is_obeyed(policy, negotiation) if information is None else information == "fresh"


def decides_centrally(policy: Policy) -> bool:
    """Whether one head node decides for all nodes, by itself."""
    return policy.central and not policy.talks


def is_prepared(policy: Policy) -> bool:
    """Whether a policy reads how the demands of a run's jobs are distributed."""
    return type(policy).prepare is not Policy.prepare


def prepare(policies: ManagedPolicies, jobs: Table, announced_ms: Floats | None = None) -> None:
    """Tell policies how the demands of a run's jobs are distributed (Policy.prepare).

    Args:
        jobs: the job table, whose tasks follow each other.
        announced_ms: CPU demand that each task announces, by its number; None: that of the job table.

    Raises InputError: the policy cannot do with them.
    """
    asking = [policy for policy in policies.distinct if is_prepared(policy)]
    if not asking:
        return
    columns, own = {name: jobs[name] for name in ("tasks", "cpu_ms", "io_per_ms", "memory_mb")}, np.zeros(0)
    if announced_ms is not None and len(jobs):
        widths = jobs["tasks"].astype(np.int64)
        own, first = announced_ms[int(jobs["first_task"][0]) :][: widths.sum()], np.cumsum(widths) - widths
        columns["cpu_ms"] = np.add.reduceat(own, first) / widths
    order = np.argsort(columns["cpu_ms"], kind="stable")
    told = {name: values[order].astype(float) for name, values in columns.items()}
    demands = Demands(**told, task_cpu_ms=np.sort(own))
    for policy in asking:
        try:
            with policy_at_work(policy, "prepare"):
                policy.prepare(demands, len(policies.of))
        except PolicyFault as fault:
            # What the scenario lacks is its own matter, not a fault of the policy.
            raise (fault.__cause__ if isinstance(fault.__cause__, InputError) else fault) from None


def _create(index: int, group: NodeGroup) -> Policy:
    """The policy of a group; problems are named by the group's keys."""
    where = f"cluster.group.{index}."
    known = available().get(group.policy or "")
    foreign = [] if known is None else sorted(group.policy_parameters.keys() - known.Parameters.model_fields.keys())
    if foreign and known is not None:
        raise InputError(
            [
                f"{where}policy_parameters.{name}: {group.policy!r} has no such parameter; "
                f"{nearest(name, sorted(known.Parameters.model_fields))}"
                for name in foreign
            ]
        )
    try:
        return create(PolicyChoice(name=group.policy or "", **group.policy_parameters))
    except InputError as problem:
        lines = []
        for line in problem.problems:
            named = line.replace("policy.name", f"{where}policy", 1)
            if named == line and line.startswith("policy."):
                named = f"{where}policy_parameters.{line.removeprefix('policy.')}"
            lines.append(named)
        raise type(problem)(lines) from None
