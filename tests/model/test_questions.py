"""Questions between load managers, alone: how many messages count, how long they take, and how many get lost."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cluster_abm.model.deciding.questions import Questions
from cluster_abm.model.message_losses import MessageLosses

MS = 1_000_000


def questions_of(loss_share=0.0, are_instant=False, tasks=1) -> Questions:
    """Three nodes, and node 2 is down. Latency is 3 ms from node 0, 4 from node 1 to 0; no route leads from 1 to 1."""
    latency_ms = {0: np.array([0, 3.0, 3.0]), 1: np.array([4.0, np.inf, 3.0])}
    live = SimpleNamespace(routes=SimpleNamespace(paths_from=lambda node: SimpleNamespace(latency_ms=latency_ms[node])))
    availability = SimpleNamespace(up=np.array([True, True, False]))
    losses = MessageLosses(share=loss_share, key=np.uint64(7))
    return Questions(tasks=tasks, live=live, availability=availability, timeout_ms=200.0, losses=losses,
                     are_instant=are_instant)  # fmt: skip


@pytest.mark.parametrize(
    ("asker", "target", "are_instant", "answered", "took_ms"),
    [
        (0, 1, False, True, 6),
        (1, 0, False, True, 8),
        (0, 1, True, True, 0),
        # Node 2 is down, and no route leads from node 1 to 1: the asker waits for the timeout, in both modes.
        (0, 2, False, False, 200),
        (0, 2, True, False, 200),
        (1, 1, False, False, 200),
    ],
)
def test_question_and_answer_take_twice_the_latency_and_are_two_messages(asker, target, are_instant, answered, took_ms):
    questions = questions_of(are_instant=are_instant)
    assert questions.ask(asker, target, 0) == (answered, took_ms * MS)
    assert questions.messages == 2


def test_question_and_answer_get_lost_independently():
    """With a loss of 0.2, 0.8 x 0.8 = 0.64 of 4000 questions are answered, within six standard deviations of
    sqrt(4000 x 0.64 x 0.36) = 30.4."""
    questions = questions_of(loss_share=0.2, tasks=40)
    answers = np.array([[questions.ask(0, 1, task)[0] for _ in range(100)] for task in range(40)])
    assert abs(answers.sum() - 0.64 * 4000) < 6 * 30.4
    # Questions about one task differ in their outcome, and so do the n-th questions about all tasks.
    assert (answers.any(axis=1) & ~answers.all(axis=1)).all()
    assert (answers.any(axis=0) & ~answers.all(axis=0)).all()
    assert questions.asked.tolist() == [100] * 40


def test_in_mode_papers_no_question_gets_lost():
    questions = questions_of(loss_share=0.999, are_instant=True)
    assert all(questions.ask(0, 1, 0) == (True, 0) for _ in range(20))
    assert len(questions.asked) == 0
