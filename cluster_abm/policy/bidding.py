"""Policies whose load managers negotiate by the contract net protocol: calls for bids, bids, awards, counter-offers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from cluster_abm.policy.decision import Decision
from cluster_abm.policy.parts.bidder import Bidder
from cluster_abm.policy.parts.bids import MOST_TASKS, NONE, Announced, Bid, CallForBids, OpenCall, Reply
from cluster_abm.policy.talking import Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask, Candidate
from cluster_abm.policy.view import View
from cluster_abm.scenario.distributions import Count, Positive


class Bidding(Bidder):
    """A policy by the contract net protocol: the manager of an overloaded node calls for bids, and awards the best one.

    1. Call: a task arrives at the node, or `period_ms` have passed. If `call_for_bids` names tasks, `d` nodes drawn
       at random receive the call.
    2. Answer: each asked node bids for the first task (`bid`), or declines with a reason. If it declines, it may name
       another of the tasks, or a time after which it would take one (`counter`).
    3. Award: `award` chooses among the bids, counter-offers included. The node that gets the award checks it by `bid`
       again, and accepts or refuses. If it refuses, the next best bid is awarded.
    4. The task starts there, or migrates. If nothing comes of the call, the task stays.

    Messages may get lost and nodes fail: answers are waited for as long as the way there and back takes, and a slice.
    A node that has accepted an award accepts no other until the task has been sent, or that time has passed. Only the
    asker ever sends the task, so it is neither lost nor run twice.

    Write `call_for_bids` and `bid`; `award` and `counter` have defaults.

    Example:
        class FewestTasks(Bidding):
            def call_for_bids(self, task, view):
                return [Announced(task)] if task is not None and view.load("tasks", view.me) >= 2 else []

            def bid(self, announced, call, view):
                return 1000.0 * view.load("tasks", view.me) + call.cost_ms(announced.task, view)
    """

    class Parameters(Talking.Parameters):
        """Which nodes a call goes to, and when."""

        d: Count | Literal["all"] = Field(3, description="nodes that a call goes to, drawn at random: how many, or all")
        period_ms: Positive = Field(
            1000.0, description="how often an overloaded node calls for bids for its own tasks [ms]"
        )
        calls: Count = Field(
            4,
            description="calls about arriving tasks that are open at once at a node; further tasks wait for their turn",
        )

    rules = (
        ("stays", ""),
        ("best bid", "home is overloaded and the target has made the best bid", "Smith 1980"),
        ("counter-offer", "home is overloaded and the target has declined another task for this one", "Smith 1980"),
    )
    parameters: Parameters

    # ---- what a policy of one's own says -------------------------------------------------------------------------

    def call_for_bids(self, task: ArrivingTask | None, view: View) -> Sequence[Announced]:
        """Which tasks to announce: the first is called for, a bidder that declines it may name one of the others.

        Args:
            task: the task that has arrived here; None: the period has come.
            view: what the manager knows; `view.candidates` are the tasks on its node.

        Returns:
            at most eight; none: no bids are called for.
        """
        raise NotImplementedError

    def award(self, bids: Sequence[Bid], view: View) -> Bid | None:
        """Which bid gets its task; None: all tasks stay.

        By default the lowest bid below the response time of staying; if there is none, the counter-offer that gains
        most.
        """
        gaining = [one for one in bids if one.ms < one.announced.response_here_ms]
        for_the_first = [one for one in gaining if not one.is_counter]
        if for_the_first:
            return min(for_the_first, key=lambda one: one.ms)
        return max(gaining, key=lambda one: one.announced.response_here_ms - one.ms, default=None)

    # ---- the asker -----------------------------------------------------------------------------------------------

    def begins(self, post: Post) -> None:
        """The first period begins."""
        post.remind(self.parameters.period_ms, "period")

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Each gets its turn."""
        self._serve(post)

    def _serve(self, post: Post) -> None:
        """Call for bids for the tasks that wait, in the order in which they came, or start them here."""
        called = {call.arrived for call in self._open(post)} - {NONE}
        for task in post.waiting:
            if len(called) >= self.parameters.calls:
                return
            if task.task not in called:
                announced = self._announced(task, post)
                if announced and self._call(announced, post, task.task):
                    called.add(task.task)
                else:
                    self._stay(task.task, post, "no other node takes tasks" if announced else "home is not overloaded")

    def hears(self, message: Message, post: Post) -> None:
        """A message of the protocol, or a reminder."""
        if message.topic == "period":
            post.remind(self.parameters.period_ms, "period")
            self._call_for_own(post)
        elif message.topic == "later":
            post.notes["asks later"] = False
            self._call_for_own(post)
        elif message.topic == "call for bids":
            self._answer(CallForBids(*message.note), post)
        elif message.topic == "award":
            self._answer_award(message, post)
        else:
            found = next((one for one in self._open(post) if one.number == message.about), None)
            if found is not None:
                self._hears_of(found, message, post)

    def unanswered(self, message: Message, post: Post) -> None:
        """A call or an award has not arrived; it counts as declined, or refused."""
        found = next((one for one in self._open(post) if one.number == message.about), None)
        if found is None:
            return
        if message.topic == "call for bids":
            self._note_answer(found, message.target, Reply(NONE, reason="no answer"), post)
        elif message.topic == "award" and found.awarded is not None and found.awarded.node == message.target:
            self._award_failed(found, "no answer", post)

    def _hears_of(self, call: OpenCall, message: Message, post: Post) -> None:
        """An answer about an open call, or its deadline."""
        awarded = call.awarded
        if message.topic == "answers are due":
            if awarded is None:
                self._decide(call, post)
        elif message.topic == "answer":
            self._note_answer(call, message.source, Reply(*message.note), post)
        elif awarded is None or awarded.node != (int(message.value) if message.source == post.me else message.source):
            return
        elif message.topic == "accepts":
            self._send(call, awarded, post)
        else:
            self._award_failed(call, "no answer" if message.source == post.me else str(message.note[0]), post)

    def _announced(self, task: ArrivingTask | None, post: Post) -> tuple[Announced, ...]:
        return tuple(Announced(*one) for one in self.call_for_bids(task, post.view))[:MOST_TASKS]

    def _call_for_own(self, post: Post) -> None:
        """Call for bids for tasks on the own node, unless such a call is open."""
        if not post.tasks_here or NONE in [one.arrived for one in self._open(post)]:
            return
        announced = self._announced(None, post)
        if announced:
            self._call(announced, post, NONE)

    def _call(self, announced: tuple[Announced, ...], post: Post, arrived: int) -> bool:
        """Send nodes a call for the tasks, of which one may wait here; False: no other node takes tasks."""
        count = post.nodes if self.parameters.d == "all" else self.parameters.d
        nodes, view = post.draw_nodes(count, [post.me]), post.view
        if not nodes:
            return False
        # A node that was down has no notes; it must not take an answer to an earlier call for one to a new call.
        number = max(post.notes.get("calls", 0), round(1000.0 * post.now_ms)) + 1
        post.notes["calls"] = number
        self._open(post).append(OpenCall(number, arrived, announced, len(nodes)))
        for node in nodes:
            post.send(node, "call for bids", about=number, note=self._call_to(node, number, announced, view))
        # A call to a node that cannot be reached is lost, and `unanswered` follows: the deadline is that of the others.
        slowest_ms = max(filter(math.isfinite, (_latency_ms(view, node) for node in nodes)), default=0.0)
        post.remind(self.patience_ms(slowest_ms, post), "answers are due", about=number)
        return True

    def _call_to(self, node: int, number: int, announced: tuple[Announced, ...], view: View) -> CallForBids:
        return CallForBids(
            number, view.me, view.network_mb_per_s(node), _latency_ms(view, node),
            view.disk_mb_per_s(view.me), announced,
        )  # fmt: skip

    def _note_answer(self, call: OpenCall, node: int, answer: Reply, post: Post) -> None:
        if call.awarded is None and call.answers_missing > 0:
            call.answers.append((node, answer))
            call.answers_missing -= 1
            if call.answers_missing == 0:
                self._decide(call, post)

    def _decide(self, call: OpenCall, post: Post) -> None:
        """Award the best bid for a task that is still here and in no other award; else the call is over."""
        call.answers_missing = 0
        elsewhere = [one.awarded.announced.task.task for one in self._open(post) if one.awarded is not None]
        bids, view = [], post.view
        for node, answer in call.answers:
            # The last route to a bidder may have failed since its bid.
            if answer.place != NONE and math.isfinite(_latency_ms(view, node)):
                task = self._here(call.tasks[answer.place].task, post)
                if task is not None and task.task not in elsewhere:
                    announced = call.tasks[answer.place]._replace(task=task)
                    bids.append(Bid(node, announced, answer.ms, answer.place > 0))
        call.awarded = self.award(bids, view) if bids else None
        if call.awarded is None:
            self._close(call, post)
            return
        if call.awarded.is_counter:
            # The task that was announced has found no node.
            self._stay(call.arrived, post, self._why_it_stays(call))
        node, view = call.awarded.node, post.view
        award = self._call_to(node, call.number, (call.awarded.announced,), view)
        post.send(node, "award", call.awarded.ms, call.number, note=award)
        patience_ms = self.patience_ms(award.latency_ms, post)
        post.remind(patience_ms, "award is due", float(node), call.number)

    def _send(self, call: OpenCall, bid: Bid, post: Post) -> None:
        """The bidder has accepted: the task goes there."""
        task = self._here(bid.announced.task, post)
        if task is not None and not post.move(task, self._decision(task, bid, post.view)):
            self._award_failed(call, "its node takes no tasks any more", post)
            return
        self._close(call, post)

    def _award_failed(self, call: OpenCall, reason: str, post: Post) -> None:
        """A bidder has refused its award: the next best bid is awarded."""
        bid = call.awarded
        assert bid is not None  # asked only then
        task = self._here(bid.announced.task, post)
        if task is not None:
            post.refused(task, self._decision(task, bid, post.view), reason)
        call.answers = [(node, answer) for node, answer in call.answers if node != bid.node]
        call.answers.append((bid.node, Reply(NONE, reason=reason)))
        call.awarded = None
        self._decide(call, post)

    def _close(self, call: OpenCall, post: Post) -> None:
        """The call is over; a task that still waits for it starts here."""
        self._open(post).remove(call)
        self._stay(call.arrived, post, self._why_it_stays(call))
        times_ms = [answer.after_ms for _, answer in call.answers if not math.isnan(answer.after_ms)]
        if call.awarded is None and times_ms and not post.notes.get("asks later"):
            post.notes["asks later"] = True
            post.remind(max(post.slice_ms, min(times_ms)), "later")
        self._serve(post)

    def _stay(self, number: int, post: Post, reason: str) -> None:
        """Start the task of this number here, if it waits."""
        for task in post.waiting:
            if task.task == number:
                post.move(task, Decision(post.me, "stays", reason=reason))

    def _why_it_stays(self, call: OpenCall) -> str:
        reasons = [answer.reason for _, answer in call.answers if answer.reason]
        return reasons[0] if len(reasons) == len(call.answers) and reasons else "no bid beats staying"

    def _decision(self, task: ArrivingTask, bid: Bid, view: View) -> Decision:
        cost_ms = view.cost_ms(task, bid.node)
        return Decision(
            bid.node, "counter-offer" if bid.is_counter else "best bid", bid.announced.load_index,
            load_here=bid.announced.load_here, response_here_ms=bid.announced.response_here_ms,
            response_there_ms=bid.ms - cost_ms, cost_ms=cost_ms,
            task=task if isinstance(task, Candidate) else None,
        )  # fmt: skip

    def _here(self, task: ArrivingTask, post: Post) -> ArrivingTask | None:
        """A task as it is now, if it waits here or is on the node; else None."""
        for waiting in post.waiting:
            if waiting.task == task.task:
                return waiting
        view = post.view
        places = (view.candidate_rows["task"] == task.task).nonzero()[0]
        return view.candidate(int(places[0])) if len(places) else None

    def _open(self, post: Post) -> list[OpenCall]:
        found: list[OpenCall] = post.notes.setdefault("open", [])
        return found


def _latency_ms(view: View, node: int) -> float:
    """Latency of the route to a node [ms]; infinite where there is none."""
    return float(view.paths.latency_ms[node])
