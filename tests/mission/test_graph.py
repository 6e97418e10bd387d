"""The mission says: "a networkx graph models the interconnect". Here it does, with every number by hand.

A graph is built with networkx alone and handed over as it is. A task is sent from one of its vertices to another. How
long that takes is latency + size / bandwidth of the narrowest link on the route:

    Paris --- 800 Mbps, 2 ms --- hub --- 80 Mbps, 3 ms --- Lyon        latency 5 ms, narrowest link 80 Mbps = 10 MB/s
    Paris --- 8 Mbps, 40 ms --- Lyon                                   40 ms: the route over the hub is shorter

The disk in Paris reads the data before, and the disk in Lyon writes them after: 20 MB at 40 MB/s, 500 ms each.
"""

from __future__ import annotations

import networkx as nx
import pytest

import cluster_abm as ca


def cities():
    graph = nx.Graph()
    graph.add_node("Paris")
    graph.add_node("hub", kind="switch")
    graph.add_node("Lyon")
    graph.add_edge("Paris", "hub", bandwidth_mbps=800, latency_ms=2)
    graph.add_edge("hub", "Lyon", bandwidth_mbps=80, latency_ms=3)
    graph.add_edge("Paris", "Lyon", bandwidth_mbps=8, latency_ms=40)
    return graph


DISKS_MS = 2 * 20.0 / 40.0 * 1000.0


class ToLyon(ca.Policy):
    """Start every task in Lyon."""

    name = "to-lyon"

    def place(self, task: ca.ArrivingTask, view: ca.View) -> ca.Decision:
        return ca.Decision(1, rule="always Lyon")


def travel_ms(graph):
    """How long the network takes for the one task of a run, which is sent from Paris to Lyon with 20 MB of data."""
    model = ca.ClusterModel(
        "cpu-bound",
        network=graph,
        policy=ToLyon(),
        overrides={
            "cluster.disk_mb_per_s": 40.0,
            "workload.duration_s": 10.0,
            "workload.jobs": 1,
            "workload.cpu_ms": {"kind": "fixed", "mean": 100.0},
            "workload.memory_mb": {"kind": "fixed", "mean": 4.0},
            "workload.initial_data_mb": {"kind": "fixed", "mean": 20.0},
            "workload.home": {"kind": "weights", "weights": [1.0, 0.0]},
            "negotiation.mode": "papers",
            "negotiation.remote_execution_ms": 0.0,
            "interconnect.mode": "delay",
        },
    )
    model.run()
    (task,) = model.jobs_frame().to_dict("records")
    assert (task["home_vertex"], task["node_vertex"]) == ("Paris", "Lyon")
    return task["migration_ms"] - DISKS_MS


@pytest.mark.slow
def test_a_transfer_takes_latency_and_size_over_the_narrowest_link():
    assert travel_ms(cities()) == pytest.approx(5.0 + 20.0 / 10.0 * 1000.0, abs=1e-6)


@pytest.mark.slow
def test_another_graph_is_another_network():
    graph = cities()
    graph.edges["hub", "Lyon"]["bandwidth_mbps"] = 400
    assert travel_ms(graph) == pytest.approx(5.0 + 20.0 / 50.0 * 1000.0, abs=1e-6)
    graph.remove_node("hub")
    assert travel_ms(graph) == pytest.approx(40.0 + 20.0 / 1.0 * 1000.0, abs=1e-6)


def test_the_model_shows_the_graph_with_its_names_and_leaves_mine_alone():
    graph = cities()
    model = ca.ClusterModel("cpu-bound", network=graph)
    assert isinstance(model.graph, nx.Graph)
    assert list(model.graph) == ["Paris", "hub", "Lyon"]
    assert nx.shortest_path(model.graph, "Paris", "Lyon", weight="latency_ms") == ["Paris", "hub", "Lyon"]
    model.node_agents[1].fail()
    assert {vertex: model.graph.nodes[vertex]["up"] for vertex in model.graph} == {
        "Paris": True, "hub": True, "Lyon": False
    }  # fmt: skip
    assert graph.nodes["Lyon"] == {}
