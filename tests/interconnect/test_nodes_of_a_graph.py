"""`interconnect.file` without `cluster.nodes`: as many nodes as the graph has vertices for them."""

from __future__ import annotations

import json

import pytest

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.scenario import load_scenario, scenario_from, scenario_to_toml

# Two parts: a ring of five, one of them a switch, and a pair.
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "switch"), ("switch", "a"), ("x", "y")]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """ring.json: five vertices, four of them nodes; parts.json: that, and a pair before it."""
    monkeypatch.chdir(tmp_path)
    for name, vertices in (
        ("ring", ["a", "b", "c", "d", "switch"]),
        ("parts", ["x", "a", "b", "y", "c", "d", "switch"]),
    ):
        document = {
            "nodes": [{"id": one} | ({"kind": "switch"} if one == "switch" else {}) for one in vertices],
            "edges": [{"source": one, "target": other} for one, other in EDGES if {one, other} <= set(vertices)],
        }
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    return tmp_path


def test_a_file_brings_its_number_of_nodes(files):
    assert load_scenario("quickstart", {"interconnect.file": "ring.json"}).cluster.nodes == 4
    assert scenario_from({"interconnect": {"file": "ring.json"}}).cluster.nodes == 4
    table = {"interconnect": {"file": "ring.json"}}
    assert load_scenario("quickstart", table).cluster.nodes == 4
    assert load_scenario("quickstart", {"interconnect.file": "two-pairs"}).cluster.nodes == 4


def test_several_nodes_at_a_vertex(files):
    keys = {"interconnect.file": "ring.json", "interconnect.nodes_per_vertex": 3}
    assert load_scenario("quickstart", keys).cluster.nodes == 12


@pytest.mark.parametrize("overrides", [{"cluster.nodes": 7}, {"cluster": {"nodes": 7}}])
def test_a_number_that_is_given_stays_and_has_to_fit(files, overrides):
    scenario = load_scenario("quickstart", {"interconnect.file": "ring.json", **overrides})
    assert scenario.cluster.nodes == 7
    with pytest.raises(InputError, match=r"4 vertices for nodes, but cluster.nodes is 7: set cluster.nodes = 4"):
        Network(scenario.interconnect, scenario.cluster.nodes)


def test_more_vertices_than_nodes_may_be_switches_that_do_not_say_so(files):
    scenario = load_scenario("quickstart", {"interconnect.file": "ring.json", "cluster.nodes": 3})
    with pytest.raises(InputError, match=r"set cluster.nodes = 4, or host = false of the vertices that only forward"):
        Network(scenario.interconnect, scenario.cluster.nodes)


def test_a_file_that_is_none_is_what_is_said_of_groups_that_it_has_no_nodes_for(files):
    groups = {"cluster": {"group": [{"count": 40}]}, "interconnect": {"file": "nowhere.json"}}
    scenario = scenario_from(groups)
    with pytest.raises(InputError, match=r"nowhere\.json: cannot be read: No such file"):
        Network(scenario.interconnect, scenario.cluster.nodes)
    with pytest.raises(InputError, match=r"counts add up to 40, but cluster.nodes is 32: set cluster.nodes = 40"):
        scenario_from({"cluster": groups["cluster"]})


def test_the_number_of_a_group_is_its_count():
    with pytest.raises(InputError, match=r"unknown key 'cluster.group.0.nodes'; .* is 'cluster.group.0.count'"):
        scenario_from({"cluster": {"group": [{"nodes": 4}]}})


def test_a_scenario_file_that_says_both_is_taken_at_its_word(files):
    scenario = scenario_from({"cluster": {"nodes": 7}, "interconnect": {"file": "ring.json"}})
    assert scenario.cluster.nodes == 7
    # As is the resolved one, whatever else is laid over it.
    (files / "resolved.toml").write_text(
        scenario_to_toml(load_scenario("cpu-bound", {"interconnect.file": "ring.json"}))
    )
    assert load_scenario("resolved.toml", {"run.seed": 2}).cluster.nodes == 4


def test_of_several_parts_the_largest_where_one_says_so(files):
    with pytest.raises(InputError, match=r'2 parts .*\(with \'a\'\).*interconnect.part = "largest" takes the largest'):
        ClusterModel("cpu-bound", interconnect__file="parts.json")
    model = ClusterModel("cpu-bound", interconnect__file="parts.json", interconnect__part="largest")
    assert model.setup.cluster.nodes == 4
    names = [model.network.graph.nodes[node]["name"] for node in range(4)]
    # In the order of the file, which is not that of a set.
    assert names == ["a", "b", "c", "d"]
    assert any(note.endswith("2 vertices outside of its largest part left out") for note in model.network.notes)


def test_a_part_is_asked_of_files_only():
    with pytest.raises(InputError, match=r"part largest: kind 'star' does not use it \(used by file\)"):
        load_scenario("quickstart", {"interconnect.kind": "star", "interconnect.part": "largest"})


@pytest.mark.parametrize("name", ["none.json", "broken.json", "no-such-network"])
def test_what_is_no_graph_is_the_networks_to_say(files, name):
    (files / "broken.json").write_text("{")
    scenario = load_scenario("quickstart", {"interconnect.file": name})
    assert scenario.cluster.nodes == 32
    with pytest.raises(InputError):
        Network(scenario.interconnect, scenario.cluster.nodes)
