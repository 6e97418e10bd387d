"""The account that a dispatcher keeps of the work on every node."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.talking import Post, Talking
from cluster_abm.policy.tasks import ArrivingTask

NOTHING = -1


class Given(NamedTuple):
    """Work that was given to a node lately.

    Attributes:
        at_ms: when [ms].
        work_ms: how much [ms].
        following: the place of what that node was given next; NOTHING: it was given nothing since.
    """

    at_ms: float
    work_ms: float
    following: int


class WorkAccounts(Talking):
    """A policy whose dispatcher notes when each node will have done what it was given, if nothing else came.

    An account is exact where nodes serve one task after another, without I/O; elsewhere nodes correct it now and then.
    """

    @dataclass
    class Notes:
        """What the dispatcher remembers.

        Attributes:
            until_ms: when each node will have done what it was given [ms]; none: no account is kept yet.
            first, last: by node, places in `given`; NOTHING: none.
            given: what was given, each followed by what its node was given next.
            free: a place of `given` that is used no more, followed by the next one; NOTHING: none is.
        """

        until_ms: Queue[float] = queue()
        first: Queue[int] = queue()
        last: Queue[int] = queue()
        given: Queue[Given] = queue()
        free: int = NOTHING

    def first_accounted(self, post: Post) -> int:
        """Work is given to the nodes from this one on."""
        return 0

    def open_accounts(self, post: Post) -> None:
        """Keep account from now on, if none is kept yet."""
        notes = post.notes
        if not notes.until_ms:
            for _ in range(post.nodes):
                notes.until_ms.append(0.0)
                notes.first.append(NOTHING)
                notes.last.append(NOTHING)

    def least_work(self, post: Post) -> int:
        """The node with least work left; of several without any the one that has been without for longest."""
        self.open_accounts(post)
        least, least_ms = -1, math.inf
        for node, until_ms in enumerate(post.notes.until_ms):
            if node >= self.first_accounted(post) and (least < 0 or until_ms < least_ms):
                least, least_ms = node, until_ms
        return least

    def left_ms(self, node: int, post: Post) -> float:
        """Work left on a node [ms]."""
        self.open_accounts(post)
        return max(0.0, post.notes.until_ms[node] - post.now_ms)

    def work_ms(self, task: ArrivingTask, node: int, post: Post) -> float:
        """What a task takes of a node [ms]: CPU, spread over its cores, and disk time."""
        hardware = post.hardware[node]
        return task.cpu_on(hardware) / hardware.cores + task.io_on(hardware)

    def give(self, task: ArrivingTask, node: int, post: Post) -> None:
        """A task is sent to a node."""
        self.open_accounts(post)
        notes, work_ms = post.notes, self.work_ms(task, node, post)
        notes.until_ms[node] = max(notes.until_ms[node], post.now_ms) + work_ms
        place, given = notes.free, Given(post.now_ms, work_ms, NOTHING)
        if place == NOTHING:
            place = len(notes.given)
            notes.given.append(given)
        else:
            notes.free = notes.given[place].following
            notes.given[place] = given
        last = notes.last[node]
        if last == NOTHING:
            notes.first[node] = place
        else:
            before = notes.given[last]
            notes.given[last] = Given(before.at_ms, before.work_ms, place)
        notes.last[node] = place

    def correct(self, node: int, left_ms: float, told_ms: float, post: Post) -> None:
        """A node has said what it had left at an instant [ms]; what it was given since comes on top."""
        self.open_accounts(post)
        notes = post.notes
        self.drop_given(node, told_ms, post)
        until_ms, place = told_ms + left_ms, notes.first[node]
        for _ in range(len(notes.given)):
            if place == NOTHING:
                break
            given = notes.given[place]
            until_ms, place = max(until_ms, given.at_ms) + given.work_ms, given.following
        notes.until_ms[node] = until_ms

    def drop_given(self, node: int, until_ms: float, post: Post) -> None:
        """Drop what a node was given before an instant [ms]: it stands in the order of its times."""
        notes = post.notes
        for _ in range(len(notes.given)):
            place = notes.first[node]
            if place == NOTHING or notes.given[place].at_ms >= until_ms:
                break
            given = notes.given[place]
            notes.given[place], notes.free = Given(0.0, 0.0, notes.free), place
            notes.first[node] = given.following
        if notes.first[node] == NOTHING:
            notes.last[node] = NOTHING

    def close_account(self, node: int, post: Post) -> None:
        """A node has failed: no work is given to it until it is corrected."""
        self.open_accounts(post)
        self.drop_given(node, math.inf, post)
        post.notes.until_ms[node] = math.inf
