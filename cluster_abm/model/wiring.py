"""What is made of a run's parts once its agents are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cluster_abm.compiling.entries import CompiledPolicy
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.acting.actions import JobActions, NodeActions, Permission
from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.assembly import Parts
from cluster_abm.model.buffer_control import BufferController
from cluster_abm.model.deciding.compiled.head_node import CompiledHeadNode
from cluster_abm.model.deciding.compiled.inputs import CompiledInputs, settings_of_run
from cluster_abm.model.deciding.compiled.negotiation import CompiledForm, CompiledNegotiation, Tallies
from cluster_abm.model.deciding.compiled.notes import share_notes
from cluster_abm.model.deciding.compiled.scratch import scratch_of_run
from cluster_abm.model.deciding.placement import Placement
from cluster_abm.model.deciding.task_starts import TaskStarts
from cluster_abm.model.knowing.averages import Averages
from cluster_abm.model.moving.remote_memory import RemoteMemory
from cluster_abm.model.part import wire
from cluster_abm.model.setup import nanoseconds
from cluster_abm.model.talking.conversation import Conversation
from cluster_abm.model.waiting.compiled_queues import CompiledQueues
from cluster_abm.model.window import HasDueTime, Windows
from cluster_abm.scenario import Scenario


def placement_of(parts: Parts, managers: Sequence[LoadManager], compiled: CompiledNegotiation | None) -> Placement:
    """What places the arriving tasks of a run."""
    starts = wire(TaskStarts, vars(parts))
    return wire(Placement, vars(parts), starts=starts, managers=managers, compiled=compiled)


def compiled_negotiation_of(
    kind: type[CompiledNegotiation], parts: Parts, setup: Scenario, compiled: CompiledPolicy
) -> CompiledNegotiation:
    """The negotiation of a run in compiled code; `compiled`: the compiled form of its policy."""
    made = dict(vars(parts)) | vars_of_compiled(parts, setup, compiled)
    form = wire(CompiledForm, made, policy=parts.policies.main)
    return wire(kind, made, form=form)


def vars_of_compiled(parts: Parts, setup: Scenario, compiled: CompiledPolicy) -> dict[str, object]:
    """What compiled code reads, and what takes over what it counts, by their names."""
    policy, made = parts.policies.main, dict(vars(parts))
    scratch = scratch_of_run(
        nodes=len(parts.engine.nodes),
        notes=compiled.notes,
        asked=parts.questions.asked,
        requested_ms=parts.announcements.requested_ms,
        announced_ms=parts.announcements.announced_ms,
        files=None if parts.staging is None else parts.staging.tables(),
    )
    if compiled.notes:
        if policy.central:
            scratch.note_row[:] = 0
        share_notes(parts.views.notes, scratch)
    settings = settings_of_run(
        engine=parts.engine,
        clock=parts.clock,
        policy=policy,
        compiled=compiled,
        views=parts.views,
        questions=parts.questions,
        negotiation=setup.negotiation,
        is_recorded=parts.log.witness is not None,
    )
    inputs = wire(CompiledInputs, made, scratch=scratch, settings=settings, compiled=compiled)
    return {"inputs": inputs, "tallies": wire(Tallies, made)}


def head_node_of(parts: Parts, negotiation: CompiledNegotiation) -> CompiledHeadNode:
    """A head node that starts jobs in compiled code, as its negotiation goes."""
    return wire(CompiledHeadNode, vars(parts), starts=wire(TaskStarts, vars(parts)), negotiation=negotiation)


def queues_of(parts: Parts, placement: Placement) -> CompiledQueues | None:
    """What serves the queues of a policy that holds jobs in compiled code; None: Python does."""
    holding = parts.submissions.holding
    if holding is None or placement.compiled is None:
        return None
    return wire(CompiledQueues, vars(parts), holding=holding, placement=placement, negotiation=placement.compiled)


def actions_of(
    parts: Parts, conversation: Conversation, turn: Callable[[], str], update_register: Callable[[], None]
) -> tuple[NodeActions, JobActions]:
    """How agents of a run can be acted upon.

    Args:
        turn: which part of a slice it is now.
        update_register: called when jobs may have ended, so that their agents leave.
    """
    main = parts.policies.main
    permission = Permission(pooled_by=main.name if main.pooled else None, turn=turn)

    def settle_ends() -> None:
        # Users whose job it was begin to think.
        parts.submissions.schedule.note_ends()
        update_register()

    made = vars(parts) | {"permission": permission, "settle_ends": settle_ends, "waiting": conversation.waiting}
    return wire(NodeActions, made), wire(JobActions, made)


def windows_of(parts: Parts, setup: Scenario, placement: Placement, conversation: Conversation) -> Windows:
    """How far the engine of a run may go in one call."""
    end_ns = None
    if setup.run.until != "drained":
        end_ns = parts.clock.boundary_from(nanoseconds(float(setup.run.until)))
    due: list[HasDueTime] = [parts.measurements, parts.periodic, parts.failures, parts.degrading, parts.script]
    return wire(
        Windows,
        vars(parts),
        due=[*due, parts.sampling, parts.reports, *acts_at_boundaries(parts)],
        end_ns=end_ns,
        places_arrivals=lambda: placement.places_slice_by_slice and not conversation.leaps,
        reviews_at_ends=parts.policies.checked[0].acts_every_ms is None,
        tasks_can_be_killed=parts.engine.memory_is_limited,
        has_background=bool(setup.workload.background),
        conversation=conversation,
    )


def acts_at_boundaries(parts: Parts) -> list[RemoteMemory | BufferController | Averages]:
    """What else acts at boundaries: in most runs nothing."""
    parts_that_act = (parts.remote_memory, parts.buffers, parts.averages)
    return [acting for acting in parts_that_act if acting.due_ns < NEVER]
