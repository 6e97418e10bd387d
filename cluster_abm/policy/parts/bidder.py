"""The bidder's side of the contract net protocol: it bids, declines, makes counter-offers, and answers awards."""

from __future__ import annotations

import math
from typing import SupportsFloat

from cluster_abm.clock import LONGEST_WAIT_MS
from cluster_abm.policy.kinds import Migrating
from cluster_abm.policy.parts.bids import NONE, Announced, CallForBids, Reply
from cluster_abm.policy.talking import Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.policy.view import View


class Bidder(Talking, Migrating):
    """Answers calls for bids and awards, each by its own node as it is.

    A node that has accepted an award accepts no other until the task has been sent to it, or until the asker does not
    wait for the answer any more.
    """

    hears_ends = False
    hears_starts = True

    def bid(self, announced: Announced, call: CallForBids, view: View) -> float | str:
        """What an asked node bids for a task [ms], the least wins; or the reason why it declines.

        Args:
            announced: one of the tasks of the call.
            call: the call; `call.cost_ms` is what moving a task here costs.
            view: what the bidder knows: its own node as it is.
        """
        raise NotImplementedError

    def counter(self, call: CallForBids, view: View) -> ArrivingTask | float | None:
        """What a node that has declined the first task of a call says instead: another of its tasks, which `bid` takes;
        or after how long it would take one [ms]; or None, as which infinity counts.

        By default the task that gains most by this node's bid.
        """
        best, best_gain_ms = None, 0.0
        for announced in call.tasks[1:]:
            bid = self.bid(announced, call, view)
            if not isinstance(bid, str) and announced.response_here_ms - bid > best_gain_ms:
                best, best_gain_ms = announced.task, announced.response_here_ms - bid
        return best

    def came(self, task: ArrivingTask, post: Post) -> None:
        """The task of an award is on its way here."""
        if post.notes.get("promised") == task.task:
            del post.notes["promised"]

    def _busy_ms(self, post: Post) -> float:
        """How long an award that was accepted keeps this node from accepting another one [ms]; 0: it does not."""
        return max(0.0, post.notes["until_ms"] - post.now_ms) if "promised" in post.notes else 0.0

    def _answer(self, call: CallForBids, post: Post) -> None:
        """Bid for the task that is announced, or decline, perhaps with a counter-offer."""
        busy_ms, view = self._busy_ms(post), post.view
        if busy_ms > 0.0:
            answer = Reply(NONE, reason="another award is on its way", after_ms=busy_ms)
        else:
            bid = self._checked_bid(call.tasks[0], call, view)
            answer = Reply(0, bid) if not isinstance(bid, str) else self._counter(bid, call, view)
        post.send(call.asker, "answer", about=call.number, note=answer)

    def _counter(self, reason: str, call: CallForBids, view: View) -> Reply:
        counter = self.counter(call, view)
        if counter is None:
            return Reply(NONE, reason=reason)
        if not isinstance(counter, ArrivingTask):
            return Reply(NONE, reason=reason, after_ms=_time_ms(counter))
        place = next((place for place, one in enumerate(call.tasks) if one.task.task == counter.task), 0)
        bid = self._checked_bid(call.tasks[place], call, view)
        return Reply(NONE, reason=reason) if isinstance(bid, str) else Reply(place, bid, reason)

    def _answer_award(self, message: Message, post: Post) -> None:
        """Accept an award, unless the state here has changed so that this node would not get it any more."""
        call = CallForBids(*message.note)
        announced, view = call.tasks[0], post.view
        bid = self._checked_bid(announced, call, view)
        if isinstance(bid, str):
            reason = bid
        elif self._busy_ms(post) > 0.0:
            reason = "another award is on its way"
        else:
            reason = "no gain any more" if bid > message.value and bid >= announced.response_here_ms else ""
        if reason:
            post.send(call.asker, "refuses", about=call.number, note=(reason,))
            return
        post.notes["promised"] = announced.task.task
        post.notes["until_ms"] = post.now_ms + self.patience_ms(call.latency_ms, post)
        post.send(call.asker, "accepts", about=call.number)

    def _checked_bid(self, announced: Announced, call: CallForBids, view: View) -> float | str:
        bid = self.bid(announced, call, view)
        return bid if isinstance(bid, str) and bid else _number("bid", bid, "a number of ms, or the reason to decline")

    def patience_ms(self, latency_ms: float, post: Post) -> float:
        """How long an answer is waited for, over a route of this latency: the way there and back, and a slice [ms]."""
        return 2.0 * latency_ms + post.slice_ms


def _time_ms(counter: object) -> float:
    """A time that `counter` has returned [ms]; NaN for an infinite one. Raises TypeError, ValueError: it is none."""
    after_ms = _number("counter", counter, "a task of the call, a time, or None")
    if after_ms == math.inf:
        return math.nan
    if not 0.0 <= after_ms <= LONGEST_WAIT_MS:
        raise ValueError(f"counter returned {after_ms:g}; allowed is 0 to {LONGEST_WAIT_MS:g} ms")
    return after_ms


def _number(method: str, value: object, expected: str) -> float:
    """A number as a float. Raises TypeError: it is none."""
    if isinstance(value, SupportsFloat) and not isinstance(value, str | bool) and not math.isnan(float(value)):
        return float(value)
    raise TypeError(f"{method} returned {value!r:.60}; expected {expected}")
