"""Eagle: no short task waits behind a long one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Integers
from cluster_abm.policies.hawk import Hawk
from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.parts.late_binding import Place
from cluster_abm.policy.talking import Ended, Message, Post
from cluster_abm.policy.tasks import ArrivingTask

# A probe goes to a node that takes no long task then; where there is one node only, it is not refused again.
MOST_REFUSALS = 2.0


# Nodes of which one number says which have long tasks, by its bits; and what stands for a node that was told none.
BITS, NOT_TOLD = 48, -1


def words_of(flags: Flags) -> Integers:
    """Flags as whole numbers of 48 bits each."""
    words = np.zeros((len(flags) + BITS - 1) // BITS, np.int64)
    for place in range(len(flags)):
        if flags[place]:
            words[place // BITS] += 2 ** (place % BITS)
    return words


class HomeOf(NamedTuple):
    """A short task on the own node, and its home."""

    task: int
    home: int


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

    @dataclass
    class Notes(Hawk.Notes):
        """What a manager remembers beside that.

        Attributes:
            told: of the head, the nodes with long tasks that each node was told, as words of bits.
            homes: of the short tasks on the own node, the homes.
            with_long: the nodes with long tasks, as the head has told.
            has_been_told: whether it has told any.
        """

        told: Queue[int] = queue()
        homes: Queue[HomeOf] = queue()
        with_long: Queue[int] = queue()
        has_been_told: bool = False

    def place_long(self, task: ArrivingTask, post: Post) -> None:
        """The head tells the node, along with the task, which nodes have long ones."""
        super().place_long(task, post)
        self.share(post)

    def share(self, post: Post) -> None:
        """Tell the nodes with long tasks which these are, unless they were told the very same."""
        has_long = np.zeros(post.nodes, np.bool_)
        for one in post.notes.long_tasks:
            has_long[one.node] = True
        nodes, words = np.flatnonzero(has_long), words_of(has_long)
        told = post.notes.told
        if not told:
            for _ in range(post.nodes * len(words)):
                told.append(NOT_TOLD)
        for place in range(len(nodes)):
            node = int(nodes[place])
            if self.note_told(node, words, post):
                post.send(node, "long tasks are on", nodes=nodes)

    def note_told(self, node: int, words: Integers, post: Post) -> bool:
        """Note that a node is told of these nodes; False: it was told the very same last."""
        first, is_news = node * len(words), False
        for place in range(len(words)):
            word = int(words[place])
            if post.notes.told[first + place] != word:
                post.notes.told[first + place] = word
                is_news = True
        return is_news

    def forget_told(self, node: int, post: Post) -> None:
        """Forget what a node was told."""
        told = post.notes.told
        words = len(told) // post.nodes
        for place in range(words):
            told[node * words + place] = NOT_TOLD

    def has_long(self, post: Post) -> bool:
        """Whether a long task runs, or waits, here."""
        if post.notes.long:
            return True
        for place in post.notes.places:  # noqa: SIM110  (a generator is not compiled)
            if place.home < 0:
                return True
        return False

    def came(self, task: ArrivingTask, post: Post) -> None:
        """Note the home of a short task, to ask it for another one."""
        super().came(task, post)
        if task.task not in post.notes.long:
            post.notes.homes.append(HomeOf(task.task, task.home))

    def home_of_ended(self, number: int, post: Post) -> int:
        """The home of a short task that has ended; -1: it is not known."""
        homes = post.notes.homes
        for place in range(len(homes)):
            if homes[place].task == number:
                home = homes[place].home
                del homes[place]
                return home
        return -1

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Ask for another task of the same job, while a slot is open; then serve the queue."""
        for task in tasks:
            home = self.home_of_ended(task.task, post)
            if home >= 0 and self.open_slots(post) > 0 and not self.has_long(post):
                self.ask_for(Place(home, task.job, 0), post)
        ended = np.zeros(len(tasks), np.int64)
        for place, task in enumerate(tasks):
            ended[place] = task.task
        ended.sort()
        for place in range(len(ended)):
            if int(ended[place]) in post.notes.long:
                post.send(post.head, "a long task has ended", about=int(ended[place]))
        super().ended(tasks, post)

    def hears(self, message: Message, post: Post) -> None:
        """Refuse probes where a long task is; probe again where one was refused."""
        notes = post.notes
        if message.topic == "probe" and self.has_long(post) and message.value < MOST_REFUSALS:
            if notes.has_been_told:
                post.send(message.nodes[0], "refused", message.value, message.about, notes.with_long)
            else:
                post.send(message.nodes[0], "refused", message.value, message.about, (post.me,))
        elif message.topic == "refused":
            self.probe_again(message, post)
        elif message.topic == "long tasks are on":
            notes.has_been_told = True
            notes.with_long.clear()
            for node in message.nodes:
                notes.with_long.append(node)
        elif message.topic == "a long task has ended":
            self.forget_long(message.about, post)
            self.share(post)
        else:
            super().hears(message, post)

    def probe_again(self, message: Message, post: Post) -> None:
        """Probe a node without a long task, as far as is known; after a second refusal one that never has any."""
        job, kept, tried = message.about, self.short_nodes(post), message.value + 1.0
        if not self.lose_place(job, message.source, post):
            return
        drawn = post.draw_nodes(1, message.nodes) if tried == 1.0 or kept == 0 else post.draw_nodes(1, stop=kept)
        if not drawn:
            drawn = post.draw_nodes(1, (message.source,))
        node = drawn[0] if drawn else message.source
        self.note_place(job, node, post)
        post.send(node, "probe", tried, job, (post.me,))

    def unanswered(self, message: Message, post: Post) -> None:
        """A refusal that gets lost is said again, and so is the end of a long task."""
        if message.topic == "refused" or message.topic == "a long task has ended":
            post.send(message.target, message.topic, message.value, message.about, message.nodes)
        else:
            super().unanswered(message, post)

    def node_failed(self, node: int, post: Post) -> None:
        """The head forgets the long tasks of a failed node, and tells the nodes that still have some."""
        super().node_failed(node, post)
        long_tasks = post.notes.long_tasks
        for _ in range(len(long_tasks)):
            one = long_tasks.popleft()
            if one.node != node:
                long_tasks.append(one)
        # When the node is back, it has forgotten the list, and needs it again.
        self.forget_told(node, post)
        self.share(post)
