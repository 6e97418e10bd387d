"""Placement by data: choices worked by hand, and against brute force over all nodes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, DataMap, Hardware, Paths, View, create
from cluster_abm.scenario.schema import PolicyChoice

LIKE_ALL = Hardware(1.0, 480.0, 0.5, np.inf, False, 8.1, 8.0, 40.0, 160.0)


def data_map(cluster_of, size_mb, holders, mb_per_s, latency_ms=None):
    """A map from matrices of bandwidths and latencies between nodes."""
    mb_per_s = np.array(mb_per_s, float)
    latency_ms = np.zeros_like(mb_per_s) if latency_ms is None else np.array(latency_ms, float)
    return DataMap(
        np.array(size_mb, float),
        np.array(holders, np.int64),
        np.array(cluster_of, np.int64),
        lambda node: (mb_per_s[node], latency_ms[node]),
    )


def by_distance(cluster_of, local, remote):
    """A matrix of one number inside clusters and another between them."""
    cluster_of = np.array(cluster_of)
    return np.where(cluster_of[:, None] == cluster_of, local, remote)


def seen(data, tasks=None, me=0, refused=()):
    """What the load manager of a node sees."""
    loads = np.zeros(data.nodes, LOAD)
    loads["tasks"] = 0 if tasks is None else tasks
    return View(
        me, loads, (LIKE_ALL,) * data.nodes, Paths.alike(data.nodes, 10.0), 100.0, lambda task, draw: 0.5,
        frozenset(refused), data=data,
    )  # fmt: skip


def needs(*files, home=0):
    """A task whose job needs these files."""
    return ArrivingTask(7, 7, home, 1000.0, 0.0, 100.0, 4.0, 0.0, files=files)


def target(name, view, arriving, **parameters):
    """Where a policy places it."""
    return create(PolicyChoice(name=name, **parameters)).place(arriving, view).target


# The example of tests/formulas/test_fetching_files.py; file 1 has a second copy, the others have it twice in one place.
TWO = [0, 0, 1, 1]
EXAMPLE = data_map(
    TWO, [100, 50, 30], [[0, 0], [1, 2], [3, 3]], by_distance(TWO, 100, 10), by_distance(TWO, 1, 20)
)  # fmt: skip


def test_the_worked_example():
    assert EXAMPLE.access_ms((0, 1, 2)).tolist() == [3521, 4021, 10321, 10521]
    assert [EXAMPLE.access_ms_on((0, 1, 2), node) for node in range(4)] == [3521, 4021, 10321, 10521]
    assert [EXAMPLE.source(1, node) for node in range(4)] == [1, 1, 2, 2]
    assert [EXAMPLE.source(2, node) for node in range(4)] == [3, 3, 3, 3]
    on_node_mb, in_cluster_mb = EXAMPLE.held_mb((0, 1))
    assert on_node_mb.tolist() == [100, 50, 50, 0]
    assert in_cluster_mb.tolist() == [150, 150, 50, 50]
    for name in ("data-access", "data-majority"):
        assert target(name, seen(EXAMPLE, me=3), needs(0, 1, 2)) == 0
        assert target(name, seen(EXAMPLE, me=0), needs(2)) == 3


def test_two_copies_in_one_cluster_count_once():
    data = data_map([0, 0, 1], [40, 60], [[0, 1], [2, 2]], np.full((3, 3), 10.0))
    assert data.held_mb((0, 1))[1].tolist() == [40, 40, 60]


def test_the_majority_is_wrong_when_the_rest_is_far_from_it():
    # Cluster 0 holds 60 MB, clusters 1 and 2 hold 50 each and are near each other: 100 MB/s against 1.
    clusters = [0, 1, 2]
    mb_per_s = [[1, 1, 1], [1, 1, 100], [1, 100, 1]]
    data = data_map(clusters, [60, 50, 50], [[0], [1], [2]], mb_per_s)
    # At 0: 50 s + 50 s; at 1: 60 s + 0.5 s; at 2 the same.
    assert data.access_ms((0, 1, 2)).tolist() == [100_000, 60_500, 60_500]
    assert target("data-majority", seen(data), needs(0, 1, 2)) == 0
    assert target("data-access", seen(data), needs(0, 1, 2)) == 1
    assert target("data-access", seen(data, tasks=[0, 3, 2]), needs(0, 1, 2)) == 2


def test_the_majority_is_wrong_when_many_small_files_are_far_away():
    # 20 MB in one file against ten of 1 MB; each transfer between the clusters waits 2 s for the first byte.
    files = tuple(range(11))
    data = data_map([0, 1], [20] + [1] * 10, [[0]] + [[1]] * 10, np.full((2, 2), 10.0), by_distance([0, 1], 0, 2000))
    assert data.access_ms(files).tolist() == [10 * 2100, 4000]
    assert target("data-majority", seen(data), needs(*files)) == 0
    assert target("data-access", seen(data), needs(*files)) == 1


@pytest.mark.parametrize("name", ["data-access", "data-majority"])
def test_among_equals_fewest_tasks_then_home_then_the_next_one(name):
    # A copy on each node.
    data = data_map(TWO, [10], [[0, 1, 2, 3]], by_distance(TWO, 100, 10))
    assert target(name, seen(data, [2, 1, 3, 1], me=2), needs(0)) == 3
    assert target(name, seen(data, [1, 1, 1, 1], me=2), needs(0)) == 2
    assert target(name, seen(data, [1, 1, 1, 1], me=2, refused=[3]), needs(0)) == 2
    assert target(name, seen(data, [1, 1, 2, 2], me=2), needs(0)) == 0


@pytest.mark.parametrize("name", ["data-access", "data-majority"])
def test_without_files_the_shortest_queue(name):
    view = seen(EXAMPLE, [3, 2, 1, 1], me=0)
    assert target(name, view, needs()) == 2
    view.data = None
    assert target(name, view, needs()) == 2
    assert target(name, view, needs(), **({"load_weight_ms": 10.0} if name == "data-access" else {})) == 2


@pytest.mark.parametrize("name", ["data-access", "data-majority"])
def test_who_has_refused_is_not_asked_again(name):
    # Without node 0 the rest of its cluster is next: 4021 ms; then node 2, for node 1 has refused too.
    assert target(name, seen(EXAMPLE, me=3, refused=[0]), needs(0, 1, 2)) == 1
    assert target(name, seen(EXAMPLE, me=2, refused=[0, 1, 3]), needs(0, 1, 2)) == 2


def test_load_weighs_against_data():
    # T is 3521 at node 0 and 4021 at node 1, whose queue is shorter by one: it pays from 500 ms a task on.
    view = seen(EXAMPLE, [1, 0, 9, 9])
    assert target("data-access", view, needs(0, 1, 2), load_weight_ms=499.0) == 0
    assert target("data-access", view, needs(0, 1, 2), load_weight_ms=501.0) == 1


def test_the_asked_node_refuses_once_home_would_have_been_cheaper():
    policy = create(PolicyChoice(name="data-access", load_weight_ms=1000.0))
    arriving = needs(0, 1, 2, home=1)
    decision = policy.place(arriving, seen(EXAMPLE, [0, 2, 9, 9], me=1))
    # By what is known: 3521 against home's 4021 + 2000.
    assert (decision.target, decision.load_here, decision.load_there) == (0, 6021, 3521)
    assert policy.accept(arriving, decision, seen(EXAMPLE, [2, 0, 0, 0], me=0)) == ""
    assert policy.accept(arriving, decision, seen(EXAMPLE, [3, 0, 0, 0], me=0)) == "dearer than home by now"


def test_no_way_is_infinitely_far():
    data = data_map([0, 1, 1], [0, 5], [[0], [2]], [[9, 0, 0], [0, 9, 5], [0, 5, 9]], by_distance([0, 1, 1], 0, np.inf))
    assert data.access_ms((0,)).tolist() == [0, np.inf, np.inf]
    assert data.access_ms((0, 1)).tolist() == [np.inf] * 3
    assert data.access_ms((1,)).tolist() == [np.inf, 1000, 0]


@st.composite
def maps(draw):
    nodes, files, copies = draw(st.integers(1, 6)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    cluster_of = draw(st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes))
    pick = st.sampled_from
    size_mb = [draw(pick([0.0, 1.0, 3.0, 80.0])) for _ in range(files)]
    holders = [[draw(st.integers(0, nodes - 1)) for _ in range(copies)] for _ in range(files)]
    mb_per_s = [[draw(pick([1.0, 10.0, 125.0])) for _ in range(nodes)] for _ in range(nodes)]
    latency_ms = [[draw(pick([0.0, 0.5, 40.0])) for _ in range(nodes)] for _ in range(nodes)]
    needed = draw(st.lists(st.integers(0, files - 1), unique=True))
    tasks = draw(st.lists(st.integers(0, 3), min_size=nodes, max_size=nodes))
    me = draw(st.integers(0, nodes - 1))
    return cluster_of, size_mb, holders, mb_per_s, latency_ms, tuple(needed), tasks, me


def fetched_by_hand(case, node):
    """Time to fetch all files to a node, and whence each comes, written down from the paper's two loops."""
    cluster_of, size_mb, holders, mb_per_s, latency_ms, needed, _, _ = case
    total, legs = 0.0, []
    for file in needed:
        inside = [holder for holder in holders[file] if cluster_of[holder] == cluster_of[node]]
        times = {
            holder: 0.0 if holder == node else size_mb[file] / mb_per_s[holder][node] * 1000 + latency_ms[holder][node]
            for holder in inside or holders[file]
        }
        total += min(times.values())
        legs.append(min(times, key=times.get))
    return total, legs


@pytest.mark.slow
@given(maps())
def test_data_access_is_the_best_of_all_nodes(case):
    cluster_of, size_mb, holders, mb_per_s, latency_ms, needed, tasks, me = case
    data = data_map(cluster_of, size_mb, holders, mb_per_s, latency_ms)
    by_hand = [fetched_by_hand(case, node) for node in range(data.nodes)]
    totals = [total for total, _ in by_hand]
    assert data.access_ms(needed) == pytest.approx(totals, rel=1e-12)
    for node, (_, legs) in enumerate(by_hand):
        assert [data.source(file, node) for file in needed] == legs
    best = [node for node, total in enumerate(totals) if total == pytest.approx(min(totals), rel=1e-13)]
    expected = min(best, key=lambda node: (tasks[node], (node - me) % data.nodes))
    assert target("data-access", seen(data, tasks, me), needs(*needed)) == expected


@pytest.mark.slow
@given(maps())
def test_data_majority_is_the_most_of_all_nodes(case):
    cluster_of, size_mb, holders, mb_per_s, _, needed, tasks, me = case
    data = data_map(cluster_of, size_mb, holders, mb_per_s)

    def worth(node):
        inside = [file for file in needed if any(cluster_of[one] == cluster_of[node] for one in holders[file])]
        here = [file for file in needed if node in holders[file]]
        return -sum(size_mb[file] for file in inside), -sum(size_mb[file] for file in here)

    expected = min(range(data.nodes), key=lambda node: (*worth(node), tasks[node], (node - me) % data.nodes))
    assert target("data-majority", seen(data, tasks, me), needs(*needed)) == expected


@given(
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=3), copies=st.integers(1, 3), data=st.data(),
    size_mb=st.lists(st.floats(0.1, 90), min_size=1, max_size=6),
)  # fmt: skip
def test_where_all_clusters_are_alike_far_the_majority_loses_no_more_than_a_fetch_within_a_cluster(
    sizes, size_mb, copies, data
):
    # T is S/b - S_C (1/b - 1/B) - S_k/B: all there is, what the cluster and what the node holds; b wide-area, B local.
    # The majority has the largest S_C, so T can only be less elsewhere by what another node holds, at most S/B.
    cluster_of = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
    node = st.integers(0, len(cluster_of) - 1)
    holders = [[data.draw(node) for _ in range(copies)] for _ in size_mb]
    placed = data_map(cluster_of, size_mb, holders, by_distance(cluster_of, 100, 10))
    files = tuple(range(len(size_mb)))
    times_ms = placed.access_ms(files)
    assert [placed.access_ms_on(files, node) for node in range(len(cluster_of))] == times_ms.tolist()
    on_node_mb, in_cluster_mb = placed.held_mb(files)
    everything_mb = sum(size_mb)
    by_formula = everything_mb / 0.01 - in_cluster_mb * (1 / 0.01 - 1 / 0.1) - on_node_mb / 0.1
    assert times_ms == pytest.approx(by_formula, abs=1e-6)
    majority = target("data-majority", seen(placed), needs(*files))
    assert times_ms[majority] <= times_ms.min() + everything_mb / 0.1 + 1e-6
