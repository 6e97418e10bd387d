"""What a recording tells beside tasks and decisions: messages, failures and repairs, jobs that acts have killed."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cluster_abm.engine.tables import NONE
from cluster_abm.recording.recorded_run import table_of

# A message that is not heard has this time.
LOST = NONE


class Happenings:
    """Notes what happens, of a run that is recorded; of any other run nothing.

    Args:
        are_kept: whether the run is recorded.

    Attributes:
        jobs_killed: jobs that an act has killed, of the script or of an agent, in the order of these acts.
    """

    def __init__(self, are_kept: bool) -> None:
        self.are_kept = are_kept
        self.jobs_killed: list[int] = []
        self._messages: list[tuple[int, int, int, int, str, int]] = []
        self._failures: list[tuple[int, str, int, str, float]] = []

    def message(self, sent_ns: int, heard_ns: int, sender: int, receiver: int, topic: str, task: int) -> None:
        """A manager has sent a message.

        Args:
            sent_ns, heard_ns: when it was sent and is heard [ns]; LOST: it is not heard.
            sender, receiver: nodes.
            topic: what it is about.
            task: the task that it hands over; NONE: none.
        """
        if self.are_kept:
            self._messages.append((sent_ns, heard_ns, sender, receiver, topic, task))

    def failure(self, at_ns: int, what: str, node: int = NONE, other: str = "", factor: float = 1.0) -> None:
        """Something fails, drains, is slow or recovers.

        Args:
            at_ns: when [ns].
            what: in words, "node fails".
            node: the node; NONE: a link.
            other: what it is beside the node: the ends of a link, a device.
            factor: the speed from now on, 1 of the usual one.
        """
        if self.are_kept:
            self._failures.append((at_ns, what, node, other, factor))

    def kill(self, job: int) -> None:
        """Note a job that an act kills."""
        if self.are_kept:
            self.jobs_killed.append(job)

    def messages_table(self) -> pa.Table:
        """The table `messages` of a recording."""
        return _table("messages", ("sent_ns", "heard_ns", "sender", "receiver", "topic", "task"), self._messages)

    def failures_table(self) -> pa.Table:
        """The table `failures` of a recording."""
        return _table("failures", ("at_ns", "what", "node", "other", "factor"), self._failures)


def _table(name: str, columns: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> pa.Table:
    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    found = {column: list(value) for column, value in zip(columns, values, strict=True)}
    for text in ("topic", "what"):
        if text in found:
            found[text] = pa.array(found[text], pa.string()).dictionary_encode()
    return table_of(name, found)
