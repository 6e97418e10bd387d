"""How far the engine may go in one call: to the next boundary at which agents talk or something is measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from cluster_abm.clock import Clock
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.part import part
from cluster_abm.model.talking.conversation import Conversation
from cluster_abm.model.waiting.queues import Submissions

# The most jobs that arrive in one window, those of its first slice apart.
MOST_ARRIVALS = 50_000


class HasDueTime(Protocol):
    """A part of the model that acts at boundaries."""

    @property
    def due_ns(self) -> int:
        """The next boundary at which it acts [ns]; NEVER: none is to come."""


class Window(NamedTuple):
    """What the engine serves in one call."""

    end_ns: int  # the boundary up to which [ns]
    until_end_of_task: bool  # whether to stop at the boundary of the first slice in which a task ends
    until_idle: bool  # whether to stop at the boundary of the slice in which the last task ends


@part
class Windows:
    """Decides on windows."""

    clock: Clock
    submissions: Submissions
    transfers: Transfers
    due: Sequence[HasDueTime]  # the parts of the model that act at boundaries
    end_ns: int | None  # the end of the run [ns]; None: when all jobs have ended
    # whether arriving tasks are placed by what is known when their slice begins, slice by slice
    places_arrivals: Callable[[], bool]
    reviews_at_ends: bool  # whether held jobs are looked at again when a task has ended
    tasks_can_be_killed: bool  # whether a task may be killed for want of memory
    has_background: bool  # whether background programs run, which never end
    conversation: Conversation  # what load managers say to each other

    def next_boundary_ns(self) -> int:
        """The next boundary at which agents talk or something is measured: until then the engine is alone [ns]."""
        clock, schedule = self.clock, self.submissions.schedule
        boundary_ns = min((acting.due_ns for acting in self.due), default=NEVER)
        boundary_ns = min(boundary_ns, self.conversation.ends_windows_ns)
        if self.end_ns is not None:
            boundary_ns = min(boundary_ns, self.end_ns)
        if self.submissions.last_look_ns > clock.now_ns:
            boundary_ns = min(boundary_ns, self.submissions.last_look_ns)
        # However long the engine may be alone: tasks that have not arrived yet take no memory.
        boundary_ns = min(boundary_ns, clock.boundary_up_to(schedule.after_next(MOST_ARRIVALS)))
        if schedule.waits_for_ends or self.places_arrivals():
            # Arrivals of this slice are placed now; those of a later one by what is known at its start, or after
            # those that come earlier because a job ends in between.
            boundary_ns = min(boundary_ns, clock.boundary_up_to(schedule.first_after(clock.next_boundary_ns - 1)))
        return max(clock.next_boundary_ns, boundary_ns)

    def window(self, boundary_ns: int) -> Window:
        """What the engine serves once the arrivals up to a boundary have been placed."""
        submissions, conversation = self.submissions, self.conversation
        reviews = self.reviews_at_ends and submissions.are_held and not conversation.is_on
        # A transfer is given up at the end of the slice in which its task is killed.
        may_be_cancelled = self.tasks_can_be_killed and self.transfers.in_transit > 0
        hears_ends = submissions.schedule.waits_for_ends or conversation.hears_ends
        until_end_of_task = hears_ends or reviews or may_be_cancelled
        # What managers have just said may be heard, or answered, before that.
        boundary_ns = min(boundary_ns, max(self.clock.next_boundary_ns, conversation.due_ns))
        is_last = (submissions.is_stuck or conversation.is_stuck) and self.end_ns is None
        if is_last:
            boundary_ns = self.clock.next_boundary_ns
        elif until_end_of_task and self.transfers.in_transit:
            # Transfers are carried out before the engine, and must not run ahead of a window that ends early. In the
            # rest of the window no transfer begins or ends.
            next_event_ns = self.clock.boundary_up_to(self.transfers.next_ns)
            boundary_ns = min(boundary_ns, max(self.clock.next_boundary_ns, next_event_ns))
        # Background programs would go on after the last task has ended, to whatever boundary is asked for.
        until_idle = self.has_background and self.end_ns is None and submissions.all_started
        return Window(boundary_ns, until_end_of_task, until_idle)
