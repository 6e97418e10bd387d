"""A graph from a file is a multigraph, with and without parallel edges in the file."""

from __future__ import annotations

import json

import pytest

from cluster_abm.graphs.reading import read_graph

ONE, TWO = '<edge source="a" target="b"/>', '<edge source="a" target="b"/><edge source="a" target="b"/>'


@pytest.mark.parametrize(("edges", "count"), [(ONE, 1), (TWO, 2)])
@pytest.mark.parametrize("directed", [False, True])
def test_graphml(tmp_path, edges, count, directed):
    kind = "directed" if directed else "undirected"
    path = tmp_path / "g.graphml"
    path.write_text(f'<graphml><graph edgedefault="{kind}"><node id="a"/><node id="b"/>{edges}</graph></graphml>')
    found = read_graph(path)
    assert (found.is_multigraph(), found.is_directed(), found.number_of_edges()) == (True, directed, count)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("directed", [False, True])
def test_node_link_json(tmp_path, count, directed):
    path = tmp_path / "g.json"
    nodes, links = [{"id": "a"}, {"id": "b"}], [{"source": "a", "target": "b"}] * count
    path.write_text(json.dumps({"directed": directed, "nodes": nodes, "links": links}))
    found = read_graph(path)
    assert (found.is_multigraph(), found.is_directed(), found.number_of_edges()) == (True, directed, count)
