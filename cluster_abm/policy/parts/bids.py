"""What managers tell each other when they negotiate by bids, and what they note of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from cluster_abm.formulas import moving_ms
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.policy.view import View

# A call lists this many tasks at most.
MOST_TASKS = 8
NONE = -1


class Announced(NamedTuple):
    """A task in a call for bids, with what a bidder needs to know of it beside what its job announces.

    Attributes:
        task: the task: an arriving one, or one of the asker's node.
        response_here_ms: its expected response time if it stays [ms]; infinite: any bid beats that.
        load_index: the load index by which the asker is overloaded; "": none.
        load_here: the asker's load by that index, without the task.
    """

    task: ArrivingTask
    response_here_ms: float = math.inf
    load_index: str = ""
    load_here: float = math.nan


class CallForBids(NamedTuple):
    """A call for bids, as one node receives it.

    Attributes:
        number: its number at the asker.
        asker: the node that asks.
        network_mb_per_s, latency_ms: bandwidth and latency of the route from the asker to the receiver.
        disk_mb_per_s: what the asker's disk has left, of which data would be read.
        tasks: the task that is announced, then others that the asker would also give away: eight at most.
    """

    number: int
    asker: int
    network_mb_per_s: float
    latency_ms: float
    disk_mb_per_s: float
    tasks: tuple[Announced, ...]

    def cost_ms(self, task: ArrivingTask, view: View) -> float:
        """c_j of moving one of the tasks to the receiver [ms], WAL-PM (6), with the latency; `view`: its own."""
        return moving_ms(
            task.running, view.remote_execution_ms + self.latency_ms, view.migration_ms + self.latency_ms,
            task.memory_mb, task.initial_data_mb, task.written_mb, self.network_mb_per_s, self.disk_mb_per_s,
            view.disk_mb_per_s(view.me),
        )  # fmt: skip


class Reply(NamedTuple):
    """What an asked node says to a call.

    Attributes:
        place: the task's place in the call: 0 is a bid, another one a counter-offer; -1: it declines.
        ms: what it bids for that task [ms].
        reason: why it declines the task that was announced.
        after_ms: after how long it would take a task [ms]; NaN: it does not say.
    """

    place: int
    ms: float = math.nan
    reason: str = ""
    after_ms: float = math.nan


class Bid(NamedTuple):
    """A bid as the asker compares it with others.

    Attributes:
        node: the bidder.
        announced: the task that it is for.
        ms: r(k, j) + c_j, or what else the policy bids [ms].
        is_counter: whether the bidder has named the task itself.
    """

    node: int
    announced: Announced
    ms: float
    is_counter: bool


@dataclass
class OpenCall:
    """A call whose award is not settled.

    Attributes:
        number: its number.
        arrived: the task that waits for the outcome; -1: none does.
        tasks: what was announced.
        answers_missing: nodes that have not answered.
        answers: the answers so far, each with its node.
        awarded: the bid that was awarded and is not answered yet; None: none is.
    """

    number: int
    arrived: int
    tasks: tuple[Announced, ...]
    answers_missing: int
    answers: list[tuple[int, Reply]] = field(default_factory=list)
    awarded: Bid | None = None
