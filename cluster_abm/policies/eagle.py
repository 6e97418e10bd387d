"""Eagle: no short task waits behind a long one."""

from __future__ import annotations

from collections.abc import Sequence

from cluster_abm.policies.hawk import Hawk
from cluster_abm.policy.parts.late_binding import Place
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.tasks import ArrivingTask

# A probe goes to a node that takes no long task then; where there is one node only, it is not refused again.
MOST_REFUSALS = 2.0


class Eagle(Hawk):
    """As Hawk, but a node with a long task refuses the probes of short jobs.

    With its refusal it sends the set of the nodes with long tasks, as the head knows it (succinct state sharing); the
    home then probes a node outside this set, and if that refuses too one of those that are kept for short jobs. A node
    on which a task of a short job has ended asks its home for another one of the same job before it takes the next
    from its queue (sticky batch probing). Nodes do not steal. Eagle's reordering of waiting short jobs by their
    remaining work is not modelled: places are served first come, first served.
    """

    name = "eagle"
    source = "Delgado, Didona, Dinu, Zwaenepoel 2016"
    summary = "as hawk; nodes with long tasks refuse short ones, and finish the job whose task they had first"
    steals = False

    def place_long(self, task: ArrivingTask, post: Post) -> None:
        """The head tells the node, along with the task, which nodes have long ones."""
        super().place_long(task, post)
        self.share(post)

    def share(self, post: Post) -> None:
        """Tell the nodes with long tasks which these are."""
        known: dict[int, int] = post.notes.get("given", {})
        nodes = tuple(sorted(set(known.values())))
        for node in nodes:
            if post.notes.setdefault("told", {}).get(node) != nodes:
                post.notes["told"][node] = nodes
                post.send(node, "long tasks are on", nodes=nodes)

    def has_long(self, post: Post) -> bool:
        """Whether a long task runs, or waits, here."""
        return bool(post.notes.get("long")) or any(place.home < 0 for place in self.queue(post))

    def came(self, task: ArrivingTask, post: Post) -> None:
        """Note the home of a short task, to ask it for another one."""
        super().came(task, post)
        if not self.is_long(task):
            post.notes.setdefault("homes", {})[task.task] = task.home

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Ask for another task of the same job, while a slot is open; then serve the queue."""
        homes: dict[int, int] = post.notes.setdefault("homes", {})
        for task in tasks:
            home = homes.pop(task.task, -1)
            if home >= 0 and self.open_slots(post) > 0 and not self.has_long(post):
                self.ask_for(Place(home, task.job), post)
        running: set[int] = post.notes.get("long", set())
        for number in sorted(running.intersection(task.task for task in tasks)):
            post.send(post.head, "a long task has ended", about=number)
        super().ended(tasks, post)

    def hears(self, message: Message, post: Post) -> None:
        """Refuse probes where a long task is; probe again where one was refused."""
        if message.topic == "probe" and self.has_long(post) and message.value < MOST_REFUSALS:
            known: tuple[int, ...] = post.notes.get("with long", (post.me,))
            post.send(message.nodes[0], "refused", message.value, message.about, known)
        elif message.topic == "refused":
            self.probe_again(message, post)
        elif message.topic == "long tasks are on":
            post.notes["with long"] = message.nodes
        elif message.topic == "a long task has ended":
            post.notes.get("given", {}).pop(message.about, None)
            self.share(post)
        else:
            super().hears(message, post)

    def probe_again(self, message: Message, post: Post) -> None:
        """Probe a node without a long task, as far as is known; after a second refusal one that never has any."""
        job = message.about
        probed: list[int] = post.notes.get("probed", {}).get(job, [])
        if message.source not in probed:
            return
        probed.remove(message.source)
        kept = range(self.short_nodes(post))
        tried = message.value + 1.0
        closed = message.nodes if tried == 1.0 or not kept else range(len(kept), post.nodes)
        node = (post.draw_nodes(1, closed) or post.draw_nodes(1, [message.source]) or [message.source])[0]
        probed.append(node)
        post.send(node, "probe", tried, job, (post.me,))

    def unanswered(self, message: Message, post: Post) -> None:
        """A refusal that gets lost is said again, and so is the end of a long task."""
        if message.topic in ("refused", "a long task has ended"):
            post.send(message.target, message.topic, message.value, message.about, message.nodes)
        else:
            super().unanswered(message, post)

    def node_failed(self, node: int, post: Post) -> None:
        """The head forgets the long tasks of a failed node, and tells the nodes that still have some."""
        super().node_failed(node, post)
        given: dict[int, int] = post.notes.get("given", {})
        for number in [number for number, target in given.items() if target == node]:
            del given[number]
        # When the node is back, it has forgotten the list, and needs it again.
        post.notes.get("told", {}).pop(node, None)
        self.share(post)
