"""The conversation of a run, opened from its parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.assembly import Parts
from cluster_abm.model.part import wire
from cluster_abm.model.talking.conversation import Conversation, NodeNews
from cluster_abm.model.talking.post import ManagersPost, PostActions, StartTask
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.policy.talking import Talking
from cluster_abm.scenario import Scenario
from cluster_abm.workload import homes_of, key


def conversation_of(
    parts: Parts, setup: Scenario, run_seed: int, managers: Sequence[LoadManager], start_task: StartTask
) -> Conversation:
    """Open the conversation of a run's load managers; of a policy that does not talk there is nothing in it."""
    policy, schedule, made = parts.policies.main, parts.submissions.schedule, dict(vars(parts))
    hears_ends, hears_starts = False, False
    if isinstance(policy, Talking):
        hears_ends, hears_starts = policy.hears_ends, policy.hears_starts
    made["surroundings"] = surroundings = wire(
        Surroundings,
        made,
        head_node=setup.negotiation.head_node,
        homes=homes_of(setup, parts.work.arriving) if policy.talks else np.zeros(0, bool),
        draw_key=np.uint64(key(run_seed, "talk")),
    )
    made["waiting"] = waiting = wire(WaitingTasks, made, is_central=policy.central)
    actions = wire(PostActions, made, start_task=start_task, hears_starts=hears_starts)
    posts = [
        ManagersPost(
            surroundings=surroundings,
            actions=actions,
            held=held,
            me=node,
            policy_name=policy.name,
            may_migrate=policy.migrates,
        )
        for node, held in enumerate(waiting.at if policy.talks else ())
    ]
    return wire(
        Conversation,
        made,
        is_on=policy.talks,
        hears_ends=hears_ends,
        managers=managers,
        posts=posts,
        news=wire(NodeNews, made),
        may_change=lambda: not schedule.is_over or parts.failures.are_to_come,
    )
