"""Nodes fail, or drain, while transfers share links: where tasks and their files go then, and by which links."""

from __future__ import annotations

import numpy as np
import pytest
from crossings.table import crosses
from crossings.timelines import CHECKPOINTS, CONTENDED, ONE_FILE, counts, fails, life, ns, send_all_to, timeline

from cluster_abm.interconnect import Network
from cluster_abm.scenario.interconnect import Interconnect


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shared", "ends_ms"),
    [
        # Each fetches its file as if it was alone.
        ({}, [200 + 500 + 10, 100 + 500 + 10]),
        # At 200 task 1 has 0.5 MB. Both have half the link until it has the other 4.5, at 1100; task 0 then has 4.5
        # too, and the last 0.5 for itself.
        (CONTENDED, [1150 + 10, 1100 + 10]),
    ],
)
@crosses("failure", "drain", "staging", "links")
def test_a_task_that_is_turned_back_fetches_its_file_to_its_home(shared, ends_ms, tmp_path):
    """A file of 5 MB is on node 2; a link has 10 MB/s. Task 0 is sent from node 0 to 1 at 0, and fetches its file there
    when node 1 fails at 200. It goes back to node 0, though that drains since 150. Task 1 fetches its own there, from
    100 on."""
    jobs = [{"home": 0, "cpu_ms": 10}, {"home": 0, "cpu_ms": 10, "arrival_ms": 100}]
    model = timeline(
        tmp_path, jobs, cluster__nodes=3, policy__name="jsq", **ONE_FILE, **fails((1, 200)),
        **(shared | {"interconnect__bandwidth_mbps": 80.0}),
    )  # fmt: skip
    send_all_to(model, 1, 0)
    model.run(until_ms=150.0)
    model.node_agents[0].drain()
    model.run()
    assert life(model, 0) == {"finish": ns(ends_ms[0]), "cpu": ns(10), "migration": ns(ends_ms[0] - 10)}
    assert life(model, 1)["finish"] == ns(ends_ms[1])
    assert counts(model, 0) == {}
    assert model.jobs_frame()["node"].tolist() == [0, 0]
    # To node 1, and twice to node 0.
    assert model.summary()["metrics"]["fetched_mb"] == 15.0
    assert model.summary()["metrics"]["remote_executions"] == 0


@pytest.mark.parametrize("shared", [{}, CONTENDED])
@pytest.mark.parametrize(
    ("saved", "enters_ms", "left_ms"),
    [
        # A start costs 10 ms.
        ({}, 50 + 10 + 5, 50),
        # At 40 it had computed 35 ms. It goes on after 20 ms, and an image of 15 MB.
        (CHECKPOINTS | {"failures__checkpoint_period_ms": 40.0}, 50 + 20 + 15 + 5, 15),
    ],
)
@crosses("checkpoint", "failure", "staging", "links")
def test_a_start_on_the_managers_own_node_costs_what_it_costs_elsewhere(shared, saved, enters_ms, left_ms, tmp_path):
    """A task of 50 ms has its file at 5, and its node fails at 50. Node 1 stands in for it, and takes the task itself:
    what that costs is over when the file is fetched, again, in 5 ms; whether transfers share links or not."""
    model = timeline(
        tmp_path, [{"cpu_ms": 50, "memory_mb": 15}], cluster__nodes=3, **(shared | saved), **ONE_FILE, **fails((0, 50))
    )
    model.run()
    parts = {"cpu": ns(45 + left_ms), "migration": ns(5 + enters_ms - 50)}
    assert life(model) == {"finish": ns(enters_ms + left_ms)} | parts
    assert model.jobs_frame()["node"].tolist() == [1]


@pytest.mark.parametrize("nodes", [2, 3])
@pytest.mark.parametrize("shared", [{}, CONTENDED])
@pytest.mark.parametrize("with_all", [False, True])
@pytest.mark.parametrize("source", [0, 1])
@crosses("failure", "links")
def test_a_start_whose_source_fails_begins_anew_elsewhere(source, with_all, shared, nodes, tmp_path):
    """Links of 10 MB/s. A start on node 1 or 0, of 10 ms and 4 MB: 400 ms, and 40 at each of two disks. At 200 its
    source fails, with all nodes or without: the time so far is travel, and the time up to 500, when there are nodes
    again, is not. Then it takes as long as the first one would have: on another node than its manager's, or, of two, on
    that."""
    blocked_ms = 300 if with_all else 0
    model = timeline(
        tmp_path, [{"cpu_ms": 10, "initial_data_mb": 4, "home": source}], cluster__nodes=nodes, policy__name="jsq",
        failures__event=[{"node": node, "at_s": 0.2, "for_s": 0.3} for node in range(nodes)] if with_all
        else [{"node": source, "at_s": 0.2}],
        **(shared | {"interconnect__bandwidth_mbps": 80.0}),
    )  # fmt: skip
    send_all_to(model, 1 - source)
    model.run()
    parts = {"finish": ns(200 + blocked_ms + 490 + 10), "cpu": ns(10), "migration": ns(200 + 490)}
    assert life(model) == parts | ({"blocked": ns(300)} if blocked_ms else {})


@pytest.mark.parametrize(("kind", "hops", "links"), [("star", 2, [0, 5]), ("bus", 1, [0]), ("complete", 1, [2])])
def test_no_route_leads_to_or_from_a_node_that_has_failed(kind, hops, links):
    """Three nodes, the middle one out: links of 10 MB/s and 3 ms each."""
    whole = Network(Interconnect(kind=kind, bandwidth_mbps=80.0, latency_ms=3.0), 3)
    left = whole.without(nodes={1}, links=set())
    inf = np.inf
    bandwidths, latencies = zip(*(left.routes_from(source) for source in range(3)), strict=True)
    assert np.array(bandwidths).tolist() == [[inf, 0, 10], [0, inf, 0], [10, 0, inf]]
    assert np.array(latencies).tolist() == [[0, inf, 3 * hops], [inf, 0, inf], [3 * hops, inf, 0]]
    assert list(left.links_between(0, 2)) == links
    for ends in ((0, 1), (1, 0), (1, 2), (2, 1)):
        with pytest.raises(ValueError, match=f"from node {ends[0]} to node {ends[1]}"):
            left.links_between(*ends)
        assert whole.links_between(*ends)
