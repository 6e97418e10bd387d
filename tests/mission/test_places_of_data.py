"""The mission: "a networkx graph models the interconnect and the places of data across clusters for initial placement".

A graph with files on its vertices is handed over as it is. A job needs three of the files. LMIP's rule, `data-access`,
starts it where fetching them takes least time, and the test works these times out by hand.
"""

from __future__ import annotations

import networkx as nx
import pytest

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError

SIZES_MB = {"maps": 60.0, "images": 50.0, "labels": 20.0}


@pytest.fixture
def graph() -> nx.Graph:
    """Three clusters, of one, two and one nodes; 80 Mbps are 10 MB/s, since 8 Mb are 1 MB."""
    graph = nx.Graph()
    graph.add_node("oslo", cluster="north", files=["maps"])
    graph.add_node("riga", cluster="east", files=["images"])
    graph.add_node("pskov", cluster="east")
    graph.add_node("bergen", cluster="west", files=["labels"])
    graph.add_edge("oslo", "riga", bandwidth_mbps=80.0, latency_ms=0.0)
    graph.add_edge("oslo", "bergen", bandwidth_mbps=20.0, latency_ms=0.0)
    graph.add_edge("riga", "bergen", bandwidth_mbps=800.0, latency_ms=0.0)
    graph.add_edge("riga", "pskov", bandwidth_mbps=400.0, latency_ms=0.0)
    return graph


# What each transfer takes [s], by the narrowest link on the route of fewest links.
T_WC = {"oslo": 0.0, "riga": 0.0, "pskov": 50 / 50, "bergen": 0.0}
T_BC = {
    "oslo": 50 / 10 + 20 / 2.5,  # images from riga, labels from bergen
    "riga": 60 / 10 + 20 / 100,  # maps from oslo, labels from bergen
    "pskov": 60 / 10 + 20 / 50,  # the same, through riga: labels by its own link of 50 MB/s
    "bergen": 60 / 2.5 + 50 / 100,  # maps from oslo, images from riga
}


def model_of(graph: nx.Graph, trace: object, policy: str, **more: object) -> ClusterModel:
    """One job, submitted at oslo, which needs all three files and a second of CPU."""
    files = [{"name": name, "size_mb": size_mb} for name, size_mb in SIZES_MB.items()]
    keys = {
        "policy__name": policy, "workload__trace__file": str(trace), "data__file": files,
        "negotiation__mode": "papers", "negotiation__remote_execution_ms": 0.0,
    }  # fmt: skip
    return ClusterModel("replay", network=graph, **(keys | more))


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,files\n0,0,1000,0,maps;images;labels\n")
    return path


def test_a_job_starts_where_its_files_are_cheapest_to_fetch(graph, trace):
    by_hand_ms = {city: 1000.0 * (T_WC[city] + T_BC[city]) for city in graph}
    assert min(by_hand_ms, key=by_hand_ms.__getitem__) == "riga"
    model = model_of(graph, trace, "data-access")
    model.run()
    (decision,) = model.decisions_frame().itertuples()
    assert list(graph)[decision.target] == "riga"
    # T of each cluster is the least over its nodes: north, east, west.
    assert decision.cluster_t_ms == pytest.approx((13_000.0, 6_200.0, 24_500.0))
    assert decision.cluster_t_ms == pytest.approx((by_hand_ms["oslo"], by_hand_ms["riga"], by_hand_ms["bergen"]))
    # 6.2 s for the files and a second of CPU.
    assert model.jobs_frame()["response_ms"].tolist() == pytest.approx([7_200.0])


def test_the_cluster_with_most_of_the_data_is_another_one_and_takes_longer(graph, trace):
    model = model_of(graph, trace, "data-majority")
    model.run()
    assert list(graph)[model.decisions_frame()["target"][0]] == "oslo"
    assert model.jobs_frame()["response_ms"].tolist() == pytest.approx([14_000.0])


def test_every_nodes_time_is_the_one_by_hand(graph, trace):
    for home, city in enumerate(graph):
        trace.write_text(f"arrival_ms,home,cpu_ms,io_per_ms,files\n0,{home},1000,0,maps;images;labels\n")
        model = model_of(graph, trace, "none")
        model.run()
        assert model.jobs_frame()["response_ms"].tolist() == pytest.approx([1000.0 * (1 + T_WC[city] + T_BC[city])])


def test_the_graph_shows_where_copies_lie_as_they_move(graph, trace):
    before = {city: dict(graph.nodes[city]) for city in graph}
    model = model_of(graph, trace, "data-access")
    first = {"oslo": ["maps"], "riga": ["images"], "pskov": [], "bergen": ["labels"]}
    assert dict(model.graph.nodes(data="files")) == first
    while model.now_ms < 6_500.0:
        model.step()
    # The job computes in riga, on copies of its own.
    assert dict(model.graph.nodes(data="files")) == first | {"riga": ["maps", "images", "labels"]}
    model.run()
    assert dict(model.graph.nodes(data="files")) == first
    assert {city: dict(graph.nodes[city]) for city in graph} == before


def test_a_file_without_a_size_is_refused(graph, trace):
    graph.nodes["pskov"]["files"] = ["mpas"]
    with pytest.raises(InputError, match=r"vertex 'pskov': files 'mpas': no \[\[data\.file\]\] of this name says its"):
        model_of(graph, trace, "data-access")


def test_a_scenario_may_put_further_copies_on_the_graphs_vertices(graph, trace):
    files = [{"name": name, "size_mb": size_mb} for name, size_mb in SIZES_MB.items()]
    files[0]["at"] = ["pskov"]
    model = model_of(graph, trace, "data-access", data__file=files)
    model.run()
    # Maps now come from pskov at 50 MB/s: riga has T_WC = 60/50 and T_BC = 20/100, pskov 50/50 and 20/50.
    # Both are 1.4 s: the next node after home takes it.
    assert list(graph)[model.decisions_frame()["target"][0]] == "riga"
    assert model.decisions_frame()["cluster_t_ms"][0] == pytest.approx((13_000.0, 1_400.0, 1_700.0))
