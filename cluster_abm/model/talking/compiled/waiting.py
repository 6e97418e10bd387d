"""The tasks that wait at managers, compiled; the readable form is model.talking.waiting_tasks."""

from __future__ import annotations

from typing import Any

from cluster_abm.compiling.talking.tables import FREE_TASK, GROW_TASKS, NONE, talk_of
from cluster_abm.jit import called, inlined
from cluster_abm.jit.calls import call_at


@called
def new_row(talk_at: int) -> int:
    """A free row for a waiting task. No task that a policy holds has to be in use: rows may move."""
    talk = talk_of(talk_at)
    if talk.counts[FREE_TASK] == NONE:
        call_at(talk.grow, GROW_TASKS, talk.links.shape[0] + 1, 0, 0)
        talk = talk_of(talk_at)
    row = talk.counts[FREE_TASK]
    talk.counts[FREE_TASK] = talk.links[row].next
    talk.links[row].manager = NONE
    return int(row)


@inlined
def free_row(talk: Any, row: int) -> None:
    """A row is free again."""
    talk.links[row].next, talk.links[row].manager = talk.counts[FREE_TASK], NONE
    talk.counts[FREE_TASK] = row


@called
def wait_at(talk: Any, manager: int, row: int) -> None:
    """A task waits at a manager from now on, behind the others."""
    link, own = talk.links[row], talk.managers[manager]
    link.manager, link.next, link.before = manager, NONE, own.last
    if own.last == NONE:
        own.first = row
    else:
        talk.links[own.last].next = row
    own.last = row
    own.waiting += 1


@called
def wait_no_more(talk: Any, row: int) -> None:
    """A task waits at its manager no more."""
    link = talk.links[row]
    own = talk.managers[link.manager]
    if link.before == NONE:
        own.first = link.next
    else:
        talk.links[link.before].next = link.next
    if link.next == NONE:
        own.last = link.before
    else:
        talk.links[link.next].before = link.before
    own.waiting -= 1
    link.manager = NONE
