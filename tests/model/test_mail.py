"""The mail between load managers, alone: when events are due, and which messages a failed node loses."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cluster_abm.engine.tables import NEVER
from cluster_abm.model.message_losses import MessageLosses
from cluster_abm.model.observing.happenings import Happenings
from cluster_abm.model.talking.mail import Mail
from cluster_abm.policy.talking import Message

MS = 1_000_000


def mail_of(up=(True, True, True), timeout_ms=200.0, loss_share=0.0, are_instant=False) -> Mail:
    """Mail between three nodes, 3 ms apart, in slices of 10 ms."""
    live = SimpleNamespace(routes=SimpleNamespace(paths_from=lambda node: SimpleNamespace(latency_ms=np.full(3, 3.0))))
    availability = SimpleNamespace(up=np.array(up))
    losses = MessageLosses(share=loss_share, key=np.uint64(7))
    return Mail(live=live, availability=availability, timeout_ms=timeout_ms, slice_ns=10 * MS, losses=losses,
                are_instant=are_instant, happenings=Happenings(False))  # fmt: skip


def message(source: int, target: int, topic: str, task=None) -> Message:
    return Message(source, target, topic, 0.0, -1, (), task, 0.0)


def told(mail: Mail) -> list[tuple[float, int, str, str]]:
    """Take all events from the mail, in their order: (time [ms], node, kind, topic of the message or argument)."""
    found = []
    while (event := mail.take(NEVER)) is not None:
        said = event.message.topic if event.message is not None else str(*event.given)
        found.append((event.at_ns / MS, event.manager, event.kind, said))
    return found


@pytest.mark.parametrize(
    ("timeout_ms", "known_ms"),
    [
        (200.0, 220),
        # At least one slice: a manager that sends again at once would go on for ever within a slice.
        (0.0, 30),
        (9.0, 30),
        (11.0, 31),
    ],
)
def test_a_message_is_unanswered_after_the_timeout_and_after_a_slice_at_least(timeout_ms, known_ms):
    """The message is sent at 20 ms."""
    mail = mail_of(up=(True, False, True), timeout_ms=timeout_ms)
    mail.send(message(0, 1, "may I?"), 20 * MS)
    assert mail.next_ns == known_ms * MS
    assert told(mail) == [(known_ms, 0, "unanswered", "may I?")]


def test_in_mode_papers_no_message_is_lost_or_takes_time():
    mail = mail_of(loss_share=0.999, are_instant=True)
    for number in range(10):
        mail.send(message(0, 1, str(number)), 20 * MS)
    assert told(mail) == [(20, 1, "hears", str(number)) for number in range(10)]
    assert mail.submit(0, 2) == 0
    # The message from the home to the head counts too.
    assert mail.sent == 11


def test_a_home_sends_the_head_a_message_about_a_job_unless_it_is_the_head():
    mail = mail_of()
    assert (mail.submit(0, 2), mail.submit(2, 2), mail.sent) == (3 * MS, 0, 1)


def test_only_events_before_an_instant_are_taken():
    mail = mail_of()
    mail.tell(30 * MS, 1, "begins")
    assert mail.take(30 * MS) is None
    assert mail.take(30 * MS + 1).manager == 1
    assert mail.next_ns == NEVER


def test_messages_to_a_failed_node_become_unanswered_and_its_own_events_are_dropped():
    """Node 1 fails at 22 ms. Node 0's question to it is unanswered 200 ms later. A task that node 2 hands over to it is
    given back. Its reminder, and the timeout of its own message, are dropped. Its answer to node 2 still arrives. The
    other nodes learn of the failure after the timeout."""
    task = SimpleNamespace(task=5, job=4)
    mail = mail_of()
    mail.send(message(0, 1, "question"), 20 * MS)
    mail.send(message(2, 1, "yours", task), 20 * MS)
    mail.send(message(1, 1, "reminder"), 100 * MS)
    mail.tell(150 * MS, 1, "unanswered", message(1, 2, "silence"))
    mail.send(message(1, 2, "answer"), 20 * MS)
    mail.send(message(0, 2, "other"), 20 * MS)
    assert mail.node_fails(1, 22 * MS) == [task]
    assert told(mail) == [
        (23, 2, "hears", "answer"), (23, 2, "hears", "other"), (222, 0, "unanswered", "question"),
        (222, 0, "node_failed", "1"), (222, 2, "node_failed", "1"),
    ]  # fmt: skip


def test_a_node_that_is_down_does_not_learn_of_another_failure():
    mail = mail_of(up=(True, False, False))
    assert mail.node_fails(1, 0) == []
    assert told(mail) == [(200, 0, "node_failed", "1")]


def test_the_tasks_of_a_job_are_withdrawn_and_all_other_events_stay():
    first, second = SimpleNamespace(task=5, job=4), SimpleNamespace(task=6, job=5)
    mail = mail_of()
    mail.tell(30 * MS, 0, "arrives", (first,))
    mail.send(message(0, 1, "yours", first), 30 * MS)
    mail.send(message(0, 1, "yours too", second), 20 * MS)
    mail.tell(10 * MS, 2, "begins")
    assert mail.brought() == [second, first, first]
    assert mail.withdraw(4) == [first, first]
    assert mail.brought() == [second]
    assert told(mail) == [(10, 2, "begins", ""), (23, 1, "hears", "yours too")]
