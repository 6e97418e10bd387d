"""Which messages between load managers get lost: one stream of random numbers for all kinds of messages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.engine.random_numbers import BETWEEN_MANAGERS, Word, lost_messages, message_uniform
from cluster_abm.model.part import part
from cluster_abm.workload import key


@part
class MessageLosses:
    """Draws which messages get lost. A draw belongs to its message, not to the order of calls.

    Its key is that of the purpose "messages" of the run's seed. Each kind of message has counters of its own:

    * the n-th question about a task, and its answer: the task's number, 2n and 2n + 1;
    * a message between managers that hold tasks: BETWEEN_MANAGERS, and how many were sent until then;
    * a load report: its receiver, its period and its sender, with the purpose REPORT. The receiver is an audience of
      load managers, or the head node; for a broadcast of the head node it is the number of nodes, one more than any.
    """

    share: float  # share of the messages that get lost, 0..1
    key: Word  # the stream's key

    def of_question(self, task: int, question: int) -> bool:
        """Whether the question of that number about a task, or the answer to it, gets lost."""
        return any(message_uniform(self.key, task, 2 * question + message) < self.share for message in range(2))

    def of_message(self, sent: int) -> bool:
        """Whether the message that makes them `sent` between managers gets lost."""
        # Whole runs send fewer messages than that stream has numbers.
        return self.share > 0.0 and float(message_uniform(self.key, BETWEEN_MANAGERS, sent)) < self.share

    def of_reports(self, period: int, receiver: int, senders: int) -> npt.NDArray[np.bool_]:
        """Which nodes' reports of a period get lost before they reach a receiver, shape (senders,)."""
        return np.asarray(lost_messages(self.key, period, receiver, senders, self.share))


def message_losses(run_seed: int, share: float) -> MessageLosses:
    """The losses of a run in which that share of the messages gets lost."""
    return MessageLosses(share=share, key=np.uint64(key(run_seed, "messages")))
