"""The conversation of a run, opened from its parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster_abm.model.assembly import Parts
from cluster_abm.model.talking.conversation import Conversation, StartsTasks, Talks
from cluster_abm.policy.talking import Talking
from cluster_abm.scenario import Scenario
from cluster_abm.workload import homes_of, key


def conversation_of(
    parts: Parts, setup: Scenario, run_seed: int, managers: Sequence[Talks], start_task: StartsTasks
) -> Conversation:
    """Open the conversation of a run's load managers; of a policy that does not talk there is nothing in it."""
    policy = parts.policies.main
    hears = (policy.hears_ends, policy.hears_starts) if isinstance(policy, Talking) else (False, False)
    homes = homes_of(setup, parts.engine.jobs) if policy.talks else np.zeros(0, bool)
    return Conversation(
        policy.talks, *hears, setup.negotiation.head_node, homes, policy.central, policy.name, managers, parts.mail,
        parts.engine, parts.clock, parts.live, parts.availability, parts.views, parts.log, parts.announcements,
        parts.submissions, start_task,
        key(run_seed, "talk"), lambda: parts.failures.are_to_come,
    )  # fmt: skip
