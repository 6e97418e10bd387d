"""Work stealing: a node that falls idle asks others for waiting tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from cluster_abm.policy.parts.slots import SlottedPolicy
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Count


class WorkStealing(SlottedPolicy):
    """Tasks wait at their home, first come, first served, until a slot is free there.

    A node without any task asks victims, drawn at random or all others, which hand over the newest half of their
    waiting tasks, or one. Asking one victim, once, for one task, is the model of which Mitzenmacher (1998) gives the
    fixed point: the share of nodes with two tasks or more is ((1 + l) - sqrt(1 + 2 l - 3 l^2)) / 2 at load l.
    """

    class Parameters(SlottedPolicy.Parameters):
        """Which nodes an idle one asks, for how much, and how often."""

        victims: Count | Literal["all"] = Field(1, description="nodes that an idle node asks: a number, or all")
        amount: Literal["half", "one"] = Field("half", description="what a victim hands over of its waiting tasks")
        retry_slices: int = Field(
            10, ge=0, description="slices after which a node that got nothing asks again; 0: it waits for its own"
        )

    name = "work-stealing"
    source = "Mitzenmacher 1998; Hendler, Shavit 2002 (half)"
    summary = "tasks wait at their home; an idle node asks others, and gets half of what waits there"
    rules = (
        ("next of those that wait here", "the oldest of the tasks that wait here"),
        ("stolen", "the target was idle and has stolen the task"),
    )

    parameters: Parameters

    @dataclass
    class Notes:
        """What a manager remembers.

        Attributes:
            asked: how many victims have been asked and have not answered.
            reminded: whether it will ask again.
        """

        asked: int = 0
        reminded: bool = False

    def begins(self, post: Post) -> None:
        """Look for work."""
        self.look_for_work(post)

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Start what there are slots for."""
        if not self.start_together(tasks, post):
            self.serve(post)

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Slots have become free."""
        self.serve(post)
        self.look_for_work(post)

    def serve(self, post: Post) -> None:
        """Start the oldest waiting tasks in free slots."""
        for task in post.waiting[: self.free_slots(post)]:
            post.start(task, post.me, "next of those that wait here" if task.home == post.me else "stolen")

    def look_for_work(self, post: Post) -> None:
        """Ask victims, if there is nothing to do and none is being asked."""
        if post.tasks_here or post.waiting or post.notes.asked:
            return
        count = post.nodes if isinstance(self.parameters.victims, str) else self.parameters.victims
        # A thief that gets half may keep tasks waiting; one task alone leaves none but at homes.
        if self.parameters.amount == "one":
            asked = post.draw_homes(count, (post.me,))
        else:
            asked = post.draw_nodes(count, (post.me,))
        post.notes.asked = len(asked)
        for node in asked:
            post.send(node, "any work?")
        if not asked:
            self.ask_again(post)

    def ask_again(self, post: Post) -> None:
        """Ask again later, if so chosen."""
        if self.parameters.retry_slices and not post.notes.reminded:
            post.notes.reminded = True
            post.remind(self.parameters.retry_slices * post.slice_ms, "ask again")

    def hears(self, message: Message, post: Post) -> None:
        """A node asks for work; a task is handed over, or there is none; or it is time to ask again."""
        if message.topic == "any work?":
            waiting = post.waiting
            count = 1 if self.parameters.amount == "one" else -(-len(waiting) // 2)
            for task in waiting[len(waiting) - min(count, len(waiting)) :]:
                post.hand(task, message.source, "stolen")
            if not waiting:
                post.send(message.source, "none waits")
        elif message.topic == "stolen":
            post.notes.asked = 0
            self.serve(post)
        elif message.topic == "none waits":
            self.got_nothing(post)
        else:
            post.notes.reminded = False
            self.look_for_work(post)

    def got_nothing(self, post: Post) -> None:
        """One of those that were asked has nothing; if none had, ask again later."""
        if post.notes.asked:
            post.notes.asked -= 1
            if not post.notes.asked:
                self.ask_again(post)

    def unanswered(self, message: Message, post: Post) -> None:
        """A victim that does not answer has nothing; a task that could not be handed over stays here."""
        if message.topic == "any work?":
            self.got_nothing(post)
        elif message.topic == "stolen":
            self.serve(post)
        elif message.topic == "none waits":
            post.send(message.target, message.topic)
