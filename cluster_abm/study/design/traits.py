"""What sets policies apart before any run: what they know, and who may refuse."""

from __future__ import annotations

from typing import NamedTuple

from cluster_abm.compiling.reading import reads_loads
from cluster_abm.policies import Policy, create
from cluster_abm.policy.finding.sizes import names_read, sizes_read
from cluster_abm.scenario import Scenario
from cluster_abm.study.design.policies import with_policy

# The methods by which a policy decides on a move, and offers the task to another node.
OFFERING = ("place", "migration", "relieve")


class Traits(NamedTuple):
    """What a policy knows and may do in a scenario."""

    knows_sizes: bool  # whether it reads announced demands or requested times, or an index of work still to come
    sees_true_state: bool  # whether it decides by the state at the decision, not by load reports or messages
    may_refuse: bool  # whether an asked node may refuse a task


def traits_of(scenario: Scenario, name: str) -> Traits:
    """The traits of a policy in a scenario.

    Args:
        scenario: its negotiation and its parameters of policies count.
        name: of the policy; the scenario's own is not read.

    Raises InputError: no such policy, or parameters that it refuses.
    """
    policy = create(with_policy(scenario, name).policy)
    sees_true_state = _sees_true_state(scenario, policy)
    return Traits(bool(sizes_read(policy)), sees_true_state, _may_refuse(scenario, policy))


def _sees_true_state(scenario: Scenario, policy: Policy) -> bool:
    return scenario.negotiation.mode == "papers" or (policy.central and not policy.talks)


def _may_refuse(scenario: Scenario, policy: Policy) -> bool:
    """Whether nodes answer from their own state: by default only an offer that claims a load can be refused."""
    if policy.pooled or not policy.acts_on_arrival:
        return False
    of, negotiation = type(policy), scenario.negotiation
    if policy.talks:
        # Managers that talk refuse by messages, if their policy has them do so.
        return "refused" in names_read(policy)
    if negotiation.mode == "papers" or policy.central or not negotiation.refusals:
        return False
    none: frozenset[str] = frozenset()
    return reads_loads(of, [*OFFERING], none) and reads_loads(of, ["accept"], none)
