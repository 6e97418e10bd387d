"""`data-class`: LMIP's two algorithms together, worked by hand, and against each of them alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import busy, finished
from test_data_access import by_distance, data_map, maps, needs
from test_load_class import HIGH, IDLE, LOW, NORMAL, TASKS, class_written_down, view_of, views

from cluster_abm.errors import InputError
from cluster_abm.policies import create
from cluster_abm.scenario.schema import PolicyChoice

# Two clusters of three nodes, 12.5 MB/s inside and 1.25 between. File 0, 100 MB, lies on node 1; file 1, 50 MB, on 2;
# file 2, 25 MB, on 4.
CLUSTERS = [0, 0, 0, 1, 1, 1]
FILES = data_map(CLUSTERS, [100, 50, 25], [[1], [2], [4]], by_distance(CLUSTERS, 12.5, 1.25))
ALL = needs(0, 1, 2)


def policy(name="data-class", **parameters):
    return create(PolicyChoice(name=name, **parameters))


def seen(me, samples, free_mb=None, held_mb=None, refused=(), data=FILES, tasks=()):
    return replace(view_of(me, samples, free_mb, held_mb, refused, tasks), data=data)


def target(view, arriving=ALL, **parameters):
    return policy(**parameters).place(arriving, view).target


def test_times_of_the_example():
    # On node 0: 8 + 4 + 20 s. On 1, 4 + 20; on 2, 8 + 20; on 3 and 5, 80 + 40 + 2, on 4, 80 + 40.
    assert FILES.access_ms((0, 1, 2)).tolist() == [32_000, 24_000, 28_000, 122_000, 120_000, 122_000]


def test_the_designated_node_takes_it_if_it_is_idle_whatever_the_others_are():
    assert target(seen(5, [IDLE, IDLE, IDLE, IDLE, IDLE, IDLE])) == 1
    assert target(seen(1, [IDLE, IDLE, IDLE, IDLE, IDLE, IDLE])) == 1


def test_else_the_idle_node_of_its_cluster_that_is_nearest_to_the_files():
    assert target(seen(5, [IDLE, LOW, IDLE, IDLE, IDLE, IDLE])) == 2
    assert target(seen(5, [IDLE, LOW, NORMAL, IDLE, IDLE, IDLE])) == 0
    # Home is idle itself, but far from the files.
    assert target(seen(5, [NORMAL, LOW, NORMAL, NORMAL, NORMAL, IDLE])) == 1
    assert target(seen(5, [NORMAL, LOW, NORMAL, NORMAL, NORMAL, IDLE]), across_clusters=True) == 5
    assert target(seen(5, [NORMAL, LOW, NORMAL, IDLE, IDLE, IDLE]), across_clusters=True) == 4


def test_among_idle_nodes_alike_near_the_next_one_after_the_designated_node():
    # File 0 is all it needs: nodes 2 and 0 are alike near to node 1.
    assert target(seen(0, [IDLE, LOW, IDLE, IDLE, IDLE, IDLE]), needs(0)) == 2
    assert target(seen(0, [IDLE, LOW, IDLE, IDLE, IDLE, IDLE], refused=[2]), needs(0)) == 0


def test_from_a_high_designated_node_to_the_low_one_of_its_cluster_with_most_free_memory():
    free_mb = [300.0, 0.0, 200.0, 400.0, 400.0, 400.0]
    assert target(seen(5, [LOW, HIGH, LOW, LOW, LOW, LOW], free_mb)) == 0
    assert target(seen(5, [NORMAL, HIGH, LOW, LOW, LOW, LOW], free_mb)) == 2
    # No low node there: as the pseudo-code ends, it is run on the local host.
    assert target(seen(5, [NORMAL, HIGH, NORMAL, LOW, LOW, LOW], free_mb)) == 1
    assert target(seen(5, [NORMAL, HIGH, NORMAL, LOW, LOW, LOW], free_mb), across_clusters=True) == 3
    # Not high: it stays there, however low the others are.
    assert target(seen(5, [LOW, NORMAL, LOW, LOW, LOW, LOW], free_mb)) == 1


def test_page_faults_are_known_of_the_own_node_only():
    high = [LOW, HIGH, NORMAL, LOW, LOW, LOW]
    held_mb = [0.0, 0.0, 50.0, 80.0, 0.0, 0.0]
    assert target(seen(1, high, held_mb=held_mb)) == 2  # node 3 holds more, in the other cluster
    assert target(seen(1, high, held_mb=held_mb), across_clusters=True) == 3
    assert target(seen(1, [LOW, HIGH, HIGH, LOW, LOW, LOW], held_mb=held_mb)) == 1  # N_sel is high
    # What node 5 keeps elsewhere says nothing of node 1's page faults.
    assert target(seen(5, high, held_mb=held_mb)) == 0


def test_without_the_designated_node_the_next_best_is_designated():
    assert target(seen(5, [IDLE] * 6, refused=[1])) == 2
    assert target(seen(5, [IDLE] * 6, refused=[0, 1, 2])) == 4


@pytest.mark.slow
@settings(max_examples=66)
@given(view=views(), with_map=st.booleans())
def test_without_files_it_is_load_class(view, with_map):
    if with_map:
        view = replace(view, data=data_map([0] * view.nodes, [1], [[0]], np.full((view.nodes, view.nodes), 10.0)))
    assert repr(policy().place(needs(), view)) == repr(policy("load-class").place(needs(), view))


@pytest.mark.slow
@settings(max_examples=66)
@given(case=maps(), sample=st.sampled_from([IDLE, LOW, NORMAL, HIGH]))
def test_where_all_nodes_are_alike_in_class_it_is_data_access(case, sample):
    cluster_of, size_mb, holders, mb_per_s, latency_ms, needed, tasks, me = case
    view = seen(me, [sample] * len(cluster_of), data=data_map(cluster_of, size_mb, holders, mb_per_s, latency_ms))
    view.loads["tasks"] = tasks
    if needed:
        assert target(view, needs(*needed)) == policy("data-access").place(needs(*needed), view).target


@pytest.mark.slow
@settings(max_examples=66)
@given(view=views(), data=st.data())
def test_in_one_cluster_it_is_the_pseudo_code_with_the_designated_node_as_local_host(view, data):
    # Bandwidth without a difference, and no copies that differ: T is least, and the same, on the node that holds it.
    holder = data.draw(st.integers(0, view.nodes - 1))
    view = replace(
        view, data=data_map([0] * view.nodes, [10], [[holder]], np.full((view.nodes, view.nodes), 10.0)),
        overflow_of_mine=lambda: np.zeros(view.nodes),
    )  # fmt: skip
    local = policy("data-access").place(needs(0), view).target
    classes = [class_written_down(row["cpu_percent"], row["mean_queue"], row["memory_percent"]) for row in view.loads]
    order = [(local + step) % view.nodes for step in range(1, view.nodes)]
    asked = [node for node in order if node not in view.refused]
    idle = [node for node in asked if classes[node] == "idle"]
    low = [node for node in asked if classes[node] == "low"]
    if classes[local] == "idle":
        expected = local
    elif idle:
        # Where the holder has refused, all are alike near.
        expected = idle[0]
    elif classes[local] == "high" and low:
        expected = max(low, key=lambda node: view.loads["free_mb"][node])
    else:
        expected = local
    assert target(view, needs(0)) == expected


def test_the_asked_node_refuses_what_it_was_chosen_for_no_more():
    def answer(chosen_by, true):
        decision = policy().place(ALL, seen(5, chosen_by))
        return policy().accept(ALL, decision, seen(decision.target, true))

    idle = [IDLE] * 6
    busy_but_2 = [NORMAL, NORMAL, IDLE, NORMAL, NORMAL, NORMAL]
    high_1 = [NORMAL, HIGH, NORMAL, NORMAL, NORMAL, NORMAL]
    assert answer(idle, [NORMAL] * 6) == ""
    assert answer(idle, [HIGH] * 6) == "highly loaded by now"
    assert answer(busy_but_2, busy_but_2) == ""
    assert answer(busy_but_2, [LOW] * 6) == "not idle any more"
    # It was known to be high, and there was no low node beside it.
    assert answer(high_1, high_1) == ""
    assert answer([NORMAL, HIGH, LOW, NORMAL, NORMAL, NORMAL], [HIGH] * 6) == "highly loaded by now"


def test_running_processes_migrate_as_those_of_load_class():
    view = seen(0, [HIGH, LOW, NORMAL, LOW, LOW, LOW], held_mb=[0.0, 10.0, 200.0, 0.0, 0.0, 0.0], tasks=TASKS)
    decision = policy().relieve(view)
    assert (decision.task.task, decision.target) == (2, 2)
    # As text: what load-class does not estimate is nan, which does not equal itself.
    assert repr(decision) == repr(policy("load-class").relieve(view))
    assert policy(migration=False).acts_every_ms is None


def test_wrong_parameters_are_refused():
    with pytest.raises(InputError, match=r"low_queue 5: must not be above high_queue 4"):
        policy(low_queue=5.0)
    with pytest.raises(InputError, match=r"policy\.across_clusters = 1"):
        policy(across_clusters=1)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_in_a_run_tasks_start_nearer_to_their_files(mode):
    shared = {
        "interconnect__kind": "clusters", "interconnect__clusters": 3, "interconnect__bandwidth_mbps": 100.0,
        "interconnect__trunk_bandwidth_mbps": 10.0, "data__files": 20, "data__size_mb__mean": 1.0,
        "negotiation__mode": mode,
    }  # fmt: skip
    fetched = {
        name: finished(3, **busy(policy__name=name, **shared)).summary()["metrics"]["breakdown_ms"]["migration"]
        for name in ("load-class", "data-class")
    }
    assert fetched["data-class"] < 0.8 * fetched["load-class"]
