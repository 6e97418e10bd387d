"""The scenario's section: each kind takes its own keys, and a file is a kind."""

from __future__ import annotations

import tomllib

import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_from, scenario_to_toml
from cluster_abm.scenario.interconnect import Interconnect


def section(**keys):
    return load_scenario("quickstart", {f"interconnect.{key}": value for key, value in keys.items()}).interconnect


def test_a_file_is_a_kind_and_reads_back():
    scenario = load_scenario("quickstart", {"interconnect.file": "mine.json"})
    assert scenario.interconnect.kind == "file"
    assert scenario_from(tomllib.loads(scenario_to_toml(scenario))) == scenario
    assert section(kind="file", file="mine.json", nodes_per_vertex=3).nodes_per_vertex == 3


def test_trunks_are_like_other_links_unless_they_say_otherwise():
    plain = section(kind="tree", bandwidth_mbps=100.0, latency_ms=0.5)
    assert (plain.trunk_mbps, plain.trunk_ms) == (100.0, 0.5)
    free = section(kind="tree", latency_ms=0.5, trunk_bandwidth_mbps=10.0, trunk_latency_ms=0.0)
    assert (free.trunk_mbps, free.trunk_ms) == (10.0, 0.0)


def test_keys_of_kinds_are_keys():
    assert {name for keys in Interconnect.USES.values() for name in keys} == {
        name for name, field in Interconnect.model_fields.items() if field.default is None and name != "hardware"
    }


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"kind": "star", "file": "mine.json"}, ["interconnect.file 'mine.json'", "kind is 'star'"]),
        ({"kind": "file"}, ["interconnect.file", "needs interconnect.file"]),
        ({"arity": 4}, ["interconnect.arity 4", "'complete' does not use it", "fat-tree"]),
        ({"kind": "star", "trunk_latency_ms": 0.0}, ["trunk_latency_ms 0.0", "'star'", "tree, dragonfly, clusters"]),
        ({"file": "x.json", "rack_nodes": 4}, ["rack_nodes 4", "'file'", "tree"]),
        ({"kind": "fat-tree", "arity": 3}, ["interconnect.arity = 3", "multiple of 2"]),
        ({"kind": "torus", "dimensions": []}, ["interconnect.dimensions = []", "at least 1"]),
        ({"kind": "torus", "dimensions": [4, 0]}, ["interconnect.dimensions.1 = 0", "greater than or equal to 1"]),
        ({"kind": "clusters", "clusters": 2, "cluster_nodes": [1, 2, 3]}, ["clusters 2", "lists 3"]),
        ({"kind": "mesh"}, ["interconnect.kind = 'mesh'", "'dragonfly'"]),
        ({"kind": "tree", "rack_nodes": 10**30}, ["interconnect.rack_nodes", "less than or equal to 1000000000"]),
        ({"max_mb": 0}, ["interconnect.max_mb = 0", "greater than or equal to 1"]),
        ({"max_mb": 10**6}, ["interconnect.max_mb = 1000000", "less than or equal to 100000"]),
        ({"mode": "shared"}, ["interconnect.mode = 'shared'", "'contended'"]),
        ({"bandwidth_mbps": 0.0}, ["interconnect.bandwidth_mbps = 0.0", "greater than"]),
        ({"latency_ms": -1.0}, ["interconnect.latency_ms = -1.0", "greater than or equal to 0"]),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_is_named(keys, expected):
    with pytest.raises(InputError) as caught:
        section(**keys)
    assert len(caught.value.problems) == 1
    for part in expected:
        assert part in str(caught.value)
