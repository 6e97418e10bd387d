"""The conversation of a run, opened from its parts."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.assembly import Parts
from cluster_abm.model.deciding.task_starts import TaskStarts
from cluster_abm.model.part import wire
from cluster_abm.model.talking.compiled.talk import TalkInRows
from cluster_abm.model.talking.conversation import Conversation, NodeNews
from cluster_abm.model.talking.post import ManagersPost, PostActions
from cluster_abm.model.talking.surroundings import Surroundings
from cluster_abm.model.talking.waiting_tasks import WaitingTasks
from cluster_abm.policy.talking import Talking
from cluster_abm.scenario import Scenario
from cluster_abm.workload import homes_of, key


def conversation_of(
    parts: Parts,
    setup: Scenario,
    run_seed: int,
    managers: Sequence[LoadManager],
    starts: TaskStarts,
    compiled: Mapping[str, object] | None,
) -> Conversation:
    """Open the conversation of a run's load managers; of a policy that does not talk there is nothing in it.

    Args:
        parts, setup, run_seed: of the run.
        managers: the load managers.
        starts: sends tasks to their nodes.
        compiled: the compiled talk of the policy (`compiled`), and what it reads (wiring.vars_of_compiled); None: it
            talks in Python.
    """
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
        are_instant=parts.mail.are_instant,
    )
    made["waiting"] = waiting = wire(WaitingTasks, made, is_central=policy.central)
    actions = wire(PostActions, made, start_task=starts.start_waiting, hears_starts=hears_starts)
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
    made |= {"hears_ends": hears_ends, "hears_starts": hears_starts, "is_central": policy.central, "starts": starts}
    in_rows = (
        None
        if compiled is None
        else wire(TalkInRows, made | dict(compiled), policy=policy, ends_when_drained=setup.run.until == "drained")
    )
    conversation = wire(
        Conversation,
        made,
        is_on=policy.talks,
        in_rows=in_rows,
        managers=managers,
        posts_here=posts,
        waiting_here=waiting,
        news=wire(NodeNews, made),
        may_change=lambda: not schedule.is_over or parts.failures.are_to_come,
    )
    # Without a circle: a run that is over leaves nothing in memory.
    waiting.come_back = parts.submissions.bring_back_tasks = partial(_come_back, weakref.ref(conversation))
    return conversation


def _come_back(conversation: weakref.ref[Conversation]) -> None:
    if (found := conversation()) is not None:
        found.come_back()
