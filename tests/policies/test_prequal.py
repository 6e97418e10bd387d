"""Prequal, step by step, worked by hand (Wydrowski et al. 2024, section 4)."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support import finished

from cluster_abm.policies.prequal import Prequal, Probed
from cluster_abm.policies.talking import Ended, Message


def pool(*answers: tuple[int, float, float]) -> list[Probed]:
    """Answers as (node, in flight, latency), one ms apart."""
    return [Probed(*answer, float(place), 1) for place, answer in enumerate(answers)]


def test_of_the_cold_ones_the_least_latency_wins():
    """Threshold 4: node 2 is hot though it is the fastest."""
    answers = pool((0, 1.0, 80.0), (1, 4.0, 50.0), (2, 5.0, 1.0))
    assert Prequal().best(answers, 4.0).node == 1
    assert Prequal().worst(answers, 4.0).node == 2


def test_if_all_are_hot_the_fewest_in_flight_win():
    answers = pool((0, 9.0, 1.0), (1, 7.0, 90.0), (2, 8.0, 5.0))
    assert Prequal().best(answers, 4.0).node == 1
    assert Prequal().worst(answers, 4.0).node == 0


def test_without_a_hot_one_the_slowest_is_the_worst():
    assert Prequal().worst(pool((0, 1.0, 80.0), (1, 2.0, 50.0)), 4.0).node == 0


@pytest.mark.parametrize(("nodes", "uses"), [(100, 2), (32, 4), (16, 1)])
def test_reuse_by_the_papers_equation_1(nodes, uses):
    """2 / ((1 - 16/n) 3 - 1): n = 100: 2/1.52 = 1.32, up to 2; n = 32: 2/0.5 = 4; n = 16: negative, so 1."""
    assert Prequal().reuse(nodes) == uses


def post(**more):
    return SimpleNamespace(notes={}, now_ms=0.0, nodes=100, tasks_here=0, me=0, **more)


def test_the_threshold_is_the_quantile_of_what_was_seen():
    """Of 1..100 the 0.84 quantile is 84."""
    here = post()
    here.notes["seen"] = [float(count) for count in range(100, 0, -1)]
    assert Prequal().threshold(here) == 84.0


def test_answers_that_are_too_old_are_dropped_and_the_oldest_and_the_worst_by_turns():
    here, policy = post(), Prequal()
    here.notes["pool"] = pool((0, 1.0, 10.0), (1, 1.0, 20.0), (2, 9.0, 5.0), (3, 1.0, 30.0))
    here.notes["seen"] = [1.0] * 10
    here.now_ms = 1000.5
    assert [one.node for one in policy.pool(here)] == [1, 2, 3]
    policy.remove(here)
    assert [one.node for one in policy.pool(here)] == [2, 3]
    policy.remove(here)
    assert [one.node for one in policy.pool(here)] == [3]


def test_a_node_tells_the_median_latency_at_its_present_number_of_tasks():
    """Tasks that came with 1, 1, 1, 3 in flight took 10, 30, 20, 500 ms; with 2 now, 3 is nearest to 2 + 1; with none,
    1 is nearest to 0 + 1."""
    here, policy, said = post(), Prequal(), []
    here.send = lambda node, topic, value, about: said.append((node, topic, value, about))
    here.notes["with"] = {1: 1, 2: 1, 3: 1, 4: 3}
    policy.ended([Ended(1, 1, 10.0), Ended(2, 2, 30.0), Ended(3, 3, 20.0), Ended(4, 4, 500.0)], here)
    policy.hears(Message(7, 0, "probe"), here)
    here.tasks_here = 2
    policy.hears(Message(7, 0, "probe"), here)
    assert said == [(7, "answer", 20.0, 0), (7, "answer", 500.0, 2)]


def test_probes_are_counted_and_paid_for():
    """Three probes and three answers a job, but for those to the own node."""
    model = finished(1, policy__name="prequal", cluster__nodes=8, workload__duration_s=30.0)
    per_job = model.summary()["metrics"]["messages_per_job"]
    assert 6.0 * 0.7 < per_job <= 6.0
    rules = model.decisions_frame()["rule"]
    assert rules.isin(["the cold one of least latency", "all are hot: fewest in flight",
                       "random: the pool is too small"]).all()  # fmt: skip
    assert (rules == "the cold one of least latency").any()
