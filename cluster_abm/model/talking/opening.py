"""The conversation of a run, opened from its parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster_abm.model.assembly import Parts
from cluster_abm.model.talking.conversation import Conversation, Talks
from cluster_abm.model.talking.node_news import NodeNews
from cluster_abm.model.talking.post import ManagersPost
from cluster_abm.model.talking.post_actions import PostActions, StartsTasks
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.policy.talking import TalkingPolicy
from cluster_abm.scenario import Scenario
from cluster_abm.workload import homes_of, key


def conversation_of(
    parts: Parts, setup: Scenario, run_seed: int, managers: Sequence[Talks], start_task: StartsTasks
) -> Conversation:
    """Open the conversation of a run's load managers; of a policy that does not talk there is nothing in it."""
    policy, schedule = parts.policies.main, parts.submissions.schedule
    hears_ends, hears_starts = False, False
    if isinstance(policy, TalkingPolicy):
        hears_ends, hears_starts = policy.hears_ends, policy.hears_starts
    surroundings = Surroundings(
        engine=parts.engine,
        clock=parts.clock,
        live=parts.live,
        availability=parts.availability,
        views=parts.views,
        head_node=setup.negotiation.head_node,
        homes=homes_of(setup, parts.engine.jobs) if policy.talks else np.zeros(0, bool),
        draw_key=np.uint64(key(run_seed, "talk")),
    )
    waiting = WaitingTasks(
        engine=parts.engine,
        clock=parts.clock,
        availability=parts.availability,
        announcements=parts.announcements,
        submissions=parts.submissions,
        mail=parts.mail,
        surroundings=surroundings,
        is_central=policy.central,
    )
    actions = PostActions(
        mail=parts.mail,
        surroundings=surroundings,
        waiting=waiting,
        log=parts.log,
        start_task=start_task,
        hears_starts=hears_starts,
    )
    posts = [
        ManagersPost(surroundings=surroundings, exchange=actions, held=held, me=node, policy_name=policy.name)
        for node, held in enumerate(waiting.at if policy.talks else ())
    ]
    news = NodeNews(
        engine=parts.engine,
        clock=parts.clock,
        availability=parts.availability,
        mail=parts.mail,
        waiting=waiting,
        surroundings=surroundings,
    )
    return Conversation(
        is_on=policy.talks,
        hears_ends=hears_ends,
        managers=managers,
        posts=posts,
        mail=parts.mail,
        engine=parts.engine,
        clock=parts.clock,
        waiting=waiting,
        news=news,
        may_change=lambda: not schedule.is_over or parts.failures.are_to_come,
    )
