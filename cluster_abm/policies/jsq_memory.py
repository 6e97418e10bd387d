"""JSQ(d) with memory: the best of the nodes probed last is probed again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import Field

from cluster_abm.policy.talking import Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Count


class JoinShortestWithMemory(Talking):
    """For each task the head node probes d nodes drawn at random and the m that it remembers; the task goes to the one
    with fewest tasks, and the m with fewest, that task included, are remembered.
    """

    class Parameters(Talking.Parameters):
        """How many are probed."""

        d: Count = Field(2, description="nodes probed, drawn at random")
        memory: Count = Field(1, description="nodes remembered, and probed too")

    name = "jsq-memory"
    source = "Mitzenmacher, Prabhakar, Shah 2002"
    summary = "each task to the shortest of d queues drawn at random and of the m best seen last, which are probed"
    rules = (("shortest of {}", "the target has fewest tasks of the {} nodes probed"),)
    central = True
    hears_ends = False

    parameters: Parameters

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Probe nodes for each task."""
        for task in tasks:
            self.probe(task, post)

    def probe(self, task: ArrivingTask, post: Post) -> None:
        """Ask the nodes for one task how many tasks they have."""
        remembered: list[int] = post.notes.get("remembered", [])
        probed = [*remembered, *post.draw_nodes(self.parameters.d, remembered)]
        post.notes.setdefault("probes", {})[task.task] = {}
        post.notes.setdefault("asked", {})[task.task] = len(probed), post.now_ms
        for node in probed:
            post.send(node, "how many tasks?", about=task.task)

    def hears(self, message: Message, post: Post) -> None:
        """A node is asked, or has answered."""
        if message.topic == "how many tasks?":
            post.send(message.source, "so many", post.tasks_here, message.about)
        elif message.about in post.notes.get("probes", {}):
            post.notes["probes"][message.about][message.source] = message.value, message.sent_ms
            self.choose(message.about, post)

    def unanswered(self, message: Message, post: Post) -> None:
        """A node does not answer; forget it, and go by the others. Say again what the head has not heard."""
        if message.topic == "so many":
            post.send(message.target, message.topic, post.tasks_here, message.about)
        elif message.about in post.notes.get("probes", {}):
            post.notes["remembered"] = [one for one in post.notes.get("remembered", []) if one != message.target]
            count, since_ms = post.notes["asked"][message.about]
            post.notes["asked"][message.about] = count - 1, since_ms
            self.choose(message.about, post)

    def node_failed(self, node: int, post: Post) -> None:
        """Forget a node that has failed."""
        post.notes["remembered"] = [one for one in post.notes.get("remembered", []) if one != node]

    def choose(self, number: int, post: Post) -> None:
        """Once all have answered about a task, start it on the node of fewest tasks, and remember the best."""
        answers = post.notes["probes"][number]
        if len(answers) < post.notes["asked"][number][0]:
            return
        found = {node: tasks + self.sent_since(at_ms, node, post) for node, (tasks, at_ms) in answers.items()}
        del post.notes["probes"][number], post.notes["asked"][number]
        task = next((one for one in post.waiting if one.task == number), None)
        if task is None:
            return
        if not found:
            self.probe(task, post)
            return
        target = min(found, key=lambda node: found[node])
        post.start(task, target, f"shortest of {len(found)}", "tasks", there=found[target])
        found[target] += 1.0
        self.note_start(target, post)
        post.notes["remembered"] = sorted(found, key=lambda node: found[node])[: self.parameters.memory]

    def sent_since(self, at_ms: float, node: int, post: Post) -> int:
        """How many tasks were sent to a node since it answered: several tasks may be probing at once."""
        return sum(one == node and when_ms >= at_ms for when_ms, one in post.notes.get("sent", ()))

    def note_start(self, node: int, post: Post) -> None:
        """Note that a task is sent to a node, for as long as a task is probing that asked before."""
        since_ms = min((when_ms for _, when_ms in post.notes["asked"].values()), default=math.inf)
        sent = [*post.notes.get("sent", ()), (post.now_ms, node)]
        post.notes["sent"] = [one for one in sent if one[0] >= since_ms]
