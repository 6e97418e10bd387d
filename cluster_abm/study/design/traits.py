"""What sets policies apart before any run: what they know, and who may refuse."""

from __future__ import annotations

from typing import Literal, NamedTuple

from cluster_abm.compiling.reading import reads_loads
from cluster_abm.model.managed_policies import decides_centrally, is_obeyed, knows_true_state
from cluster_abm.policies import Policy, create
from cluster_abm.policy.finding.sizes import names_read, sizes_read
from cluster_abm.scenario import Scenario
from cluster_abm.study.design.policies import with_policy

# The methods by which a policy decides on a move, and offers the task to another node.
OFFERING = ("place", "migration", "relieve")


Information = Literal["fresh", "reported", "messages", "none"]


class Traits(NamedTuple):
    """What a policy knows and may do in a scenario."""

    knows_sizes: bool  # whether it reads announced demands or requested times, or an index of work still to come
    # what its managers decide by: the state at the decision, load reports, messages, or no state of other nodes but
    # what their own decisions and answers tell
    information: Information
    may_refuse: bool  # whether an asked node may refuse a task

    @property
    def sees_true_state(self) -> bool:
        """Whether it decides by the state at the decision."""
        return self.information == "fresh"


def traits_of(scenario: Scenario, name: str) -> Traits:
    """The traits of a policy in a scenario.

    Args:
        scenario: its negotiation and its parameters of policies count.
        name: of the policy, with parameters or without; the scenario's own is not read.

    Raises InputError: no such policy, or parameters that it refuses.
    """
    return traits_of_policy(scenario, create(with_policy(scenario, name).policy))


def traits_of_policy(scenario: Scenario, policy: Policy) -> Traits:
    """The same of a policy that has been made."""
    return Traits(bool(sizes_read(policy)), _information(scenario, policy), _may_refuse(scenario, policy))


def _information(scenario: Scenario, policy: Policy) -> Information:
    if policy.pooled or not (policy.acts_on_arrival or policy.migrates or policy.holds_jobs or policy.talks):
        return "none"
    if not policy.uses_reports and not decides_centrally(policy):
        if policy.talks:
            return "messages"
        if not reads_loads(type(policy), [*OFFERING], frozenset()):
            return "none"
    if knows_true_state(policy, scenario.negotiation):
        return "fresh"
    return "reported" if policy.uses_reports else "none"


def _may_refuse(scenario: Scenario, policy: Policy) -> bool:
    """Whether nodes answer from their own state: by default only an offer that claims a load can be refused."""
    if policy.pooled or not policy.acts_on_arrival:
        return False
    of, negotiation = type(policy), scenario.negotiation
    if policy.talks:
        # Managers that talk refuse by messages, if their policy has them do so.
        return "refused" in names_read(policy)
    if is_obeyed(policy, negotiation) or not negotiation.refusals:
        return False
    none: frozenset[str] = frozenset()
    return reads_loads(of, [*OFFERING], none) and reads_loads(of, ["accept"], none)
