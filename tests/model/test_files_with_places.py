"""Files that have places of their own: where they lie, what fetching them takes by hand, and where copies are."""

from __future__ import annotations

import numpy as np
import pytest
from support import finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.interconnect.places import holders_of
from cluster_abm.policies import available
from cluster_abm.results.columns import described

SITES = ("north", "east", "west")
# Of the page docs/concepts/places-of-data.md: 100 MB/s inside a site, and from east to west; from north to east 10, to
# west 2.5.
T_MS = (13_000.0, 6_200.0, 24_500.0)  # 50/10 + 20/2.5; 60/10 + 20/100; 60/2.5 + 50/100 [s]
OF_OTHER_NODES_MS = (13_600.0, 6_700.0, 24_700.0)  # and their own site's file, at 100 MB/s


def sites(tmp_path, rows, files, **more):
    """Settings of the three sites with two nodes each, a trace of these rows, and these files."""
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join(["arrival_ms,home,cpu_ms,files", *rows]) + "\n")
    return {
        "cluster__nodes": 6, "cluster__context_switch_ms": 0.0, "interconnect__file": "three-sites",
        "interconnect__nodes_per_vertex": 2, "interconnect__bandwidth_mbps": 800.0, "workload__kind": "trace",
        "workload__trace__file": str(path), "negotiation__mode": "papers", "negotiation__remote_execution_ms": 0.0,
        "data__file": [{"name": name, "size_mb": size, "at": at} for name, size, at in files],
    } | more  # fmt: skip


def test_the_example_of_lmip_is_what_the_page_works_out():
    seen = {}
    for policy in ("none", "data-access", "data-majority"):
        model = ClusterModel("lmip-example", policy__name=policy)
        model.run()
        seen[policy] = model.jobs_frame().set_index("home")
        if policy != "none":
            assert model.decisions_frame()["cluster_t_ms"].tolist() == [T_MS] * 3
        if policy == "data-access":
            assert model.decisions_frame()[["load_here", "load_there"]].to_numpy().T.tolist() == [
                [*T_MS],
                [6_200.0] * 3,
            ]
    # A second of CPU besides. At home each job waits for its own cluster's T.
    assert seen["none"]["response_ms"].tolist() == [1000.0 + t_ms for t_ms in T_MS]
    # Most data lies in north (60 MB of 130), least T is in east.
    assert seen["data-majority"]["node"].tolist() == [0, 0, 0]
    assert seen["data-majority"]["response_ms"].tolist() == [14_000.0] * 3
    assert seen["data-access"]["node"].tolist() == [2, 2, 2]
    assert seen["data-access"]["response_ms"].tolist() == [7_200.0] * 3


def test_at_the_other_nodes_of_a_cluster_its_own_file_is_fetched_too():
    model = ClusterModel("lmip-example")
    t_ms = model.staging.map.access_ms(model.staging.files_of(0))
    assert t_ms.tolist() == [t for pair in zip(T_MS, OF_OTHER_NODES_MS, strict=True) for t in pair]


def test_copies_lie_where_tasks_have_fetched_them_until_the_tasks_end():
    model = ClusterModel("lmip-example")
    first = (("maps",), (), ("images",), (), ("labels",), ())
    at_work = (("maps",), (), ("maps", "images", "labels"), (), ("labels",), ())
    seen = {}
    while model.now_ms < 8000.0:
        model.step()
        seen[model.now_ms] = model.copies_by_node()
    # The files have come after 6.2 s, the task computes for a second, and its copies go with it.
    assert {held for at, held in seen.items() if at < 6_200.0 or at > 7_200.0} == {first}
    assert {held for at, held in seen.items() if 6_200.0 < at < 7_200.0} == {at_work}


def test_copies_of_tasks_go_with_a_failed_node_and_those_of_the_catalogue_stay(tmp_path):
    keys = sites(tmp_path, ["0,1,5000,maps"], [("maps", 10.0, ["north"])])
    event = {"at_s": 2.0, "for_s": 1.0}
    for node, held in ((1, (("maps",), ())), (0, (("maps",), ("maps",)))):
        model = ClusterModel(scenario(**keys, failures__event=[event | {"node": node}], policy__name="none"))
        while model.now_ms < 1990.0:
            model.step()
        assert model.copies_by_node()[:2] == (("maps",), ("maps",))
        while model.now_ms < 2020.0:
            model.step()
        assert model.copies_by_node()[:2] == held


@pytest.mark.parametrize(("at", "wait_ms"), [
    # A task on node 1 needs 10 MB: from node 0 at 100 MB/s, from east at 10, from west at 2.5.
    ([1], 0.0), ([0], 100.0), (["north"], 100.0), (["cluster 0"], 100.0), ([2], 1000.0), (["east"], 1000.0),
    ([5], 4000.0), (["west", "east"], 1000.0), ([4, 2, 0], 100.0), (["north", "north"], 0.0), ([4, 1], 0.0),
])  # fmt: skip
def test_a_task_waits_for_the_nearest_copy(tmp_path, at, wait_ms):
    model = finished(**sites(tmp_path, ["0,1,100,maps"], [("maps", 10.0, at)]))
    assert model.jobs_frame()["response_ms"].tolist() == [100.0 + wait_ms]
    assert model.summary()["metrics"]["fetched_mb"] == 10.0 * (wait_ms > 0)
    assert model.summary()["metrics"]["fetched_between_clusters_mb"] == 10.0 * (wait_ms > 100)


def test_a_graph_file_says_where_files_lie(tmp_path):
    edge = '<edge source="a" target="b"/><edge source="b" target="c"/>'
    cells = {"a": "maps; images", "b": "", "c": "images"}
    nodes = "".join(f'<node id="{name}"><data key="f">{cell}</data></node>' for name, cell in cells.items())
    path = tmp_path / "net.graphml"
    path.write_text(
        '<graphml><key id="f" for="node" attr.name="files" attr.type="string"/>'
        f'<graph edgedefault="undirected">{nodes}{edge}</graph></graphml>'
    )
    keys = sites(tmp_path, ["0,1,100,maps"], [("maps", 8.0, []), ("images", 4.0, ["b"])], cluster__nodes=3)
    keys |= {"interconnect__file": str(path), "interconnect__nodes_per_vertex": None}
    model = finished(**keys)
    assert dict(model.graph.nodes(data="files")) == {"a": ["maps", "images"], "b": ["images"], "c": ["images"]}
    # 8 MB at 100 MB/s.
    assert model.jobs_frame()["response_ms"].tolist() == [180.0]
    pooled = ClusterModel(scenario(**keys | {"policy__name": "pooled"}))
    assert pooled.graph.nodes["a"]["files"] == ["maps", "images"]
    with pytest.raises(
        InputError, match=r"vertex 'a': files 'images': no \[\[data\.file\]\] of this name says its size"
    ):
        ClusterModel(scenario(**keys | {"data__file": [MAPS | {"name": "maps"}], "data__files": 5}))


def test_the_nodes_of_a_cluster_take_turns(tmp_path):
    names = "abcd"
    settings = scenario(**sites(tmp_path, ["0,1,100,"], [(name, 10.0, ["east", 0]) for name in names]))
    assert holders_of(settings.data.file, Network(settings.interconnect, 6)) == [(2, 0), (3, 0), (2, 0), (3, 0)]


def test_jobs_that_name_no_file_draw_the_same_ones_as_without_placed_files(tmp_path):
    rows = [f"{500 * job},{job % 6},40,{'maps' if job % 3 == 0 else ''}" for job in range(30)]
    drawn = {
        "data__files": 9, "data__copies": 2, "data__size_mb": {"kind": "exponential", "mean": 5.0},
        "data__affinity": 0.5, "data__popularity_skew": 1.0,
    }  # fmt: skip
    placed = ClusterModel(scenario(**sites(tmp_path, rows, [("maps", 10.0, [3])], **drawn))).staging
    nothing = [row.rpartition(",")[0] + "," for row in rows]
    plain = ClusterModel(scenario(**sites(tmp_path, nothing, [], **drawn))).staging
    for job in range(30):
        assert placed.files_of(job) == ((9,) if job % 3 == 0 else plain.files_of(job))
    assert placed.catalogue.size_mb.tolist() == [*plain.catalogue.size_mb, 10.0]
    assert placed.catalogue.holders.tolist() == [*plain.catalogue.holders.tolist(), [3, 3]]
    assert placed.names[8:] == ("file-8", "maps")
    # Named by its numbers, a file of fewer copies is fetched and counted once.
    assert placed.map.held_mb((9,))[0].tolist() == [0, 0, 0, 10, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["none", "data-access", "data-majority", "data-class", "wal-pm"])
def test_leaping_and_stepping_leave_the_same_bytes(tmp_path, policy):
    files = [("a", 3.0, ["north"]), ("b", 2.0, ["east", 5]), ("c", 1.0, [4])]
    names = ["a;b;c", "a", "", "c;b"]
    rows = [f"{40 * job},{job % 6},{50 + job},{names[job % 4]}" for job in range(60)]
    keys = sites(tmp_path, rows, files, policy__name=policy, negotiation__mode="negotiated")
    leaping, stepping = (ClusterModel(scenario(**keys), seed=3) for _ in range(2))
    in_python = ClusterModel(scenario(**keys), seed=3, compile_decisions=False)
    leaping.run()
    in_python.run()
    assert same_records(leaping, in_python)
    assert leaping.summary() == in_python.summary()
    while stepping.running:
        stepping.step()
    assert same_records(leaping, stepping)
    assert leaping.summary() == stepping.summary()
    assert leaping.decisions_frame().equals(stepping.decisions_frame())
    assert leaping.copies_by_node() == stepping.copies_by_node() == (("a",), (), ("b",), (), ("c",), ("b",))


def test_the_column_of_t_is_there_with_placed_files_alone(tmp_path, monkeypatch):
    assert "cluster_t_ms" in described("decisions")
    keys = sites(tmp_path, ["0,1,100,"], [], policy__name="data-access", data__files=4)
    assert "cluster_t_ms" not in finished(**keys).decisions_frame()
    keys = sites(tmp_path, ["0,1,100,"], [("maps", 10.0, [3])], policy__name="jsq")
    model = finished(**keys)
    # With a number for each of too many clusters the table would be large.
    monkeypatch.setattr("cluster_abm.model.run_results.MOST_CLUSTERS", 2)
    assert "cluster_t_ms" not in model.decisions_frame()
    monkeypatch.setattr("cluster_abm.model.run_results.MOST_CLUSTERS", 3)
    # No file is needed: T is 0 everywhere.
    assert model.decisions_frame()["cluster_t_ms"].tolist() == [(0.0, 0.0, 0.0)] * len(model.decisions_frame())
    assert np.array_equal(model.copies_by_node()[3], ["maps"])


MAPS = {"name": "maps", "size_mb": 10.0, "at": [0]}


@pytest.mark.parametrize(("files", "message"), [
    ([MAPS, MAPS], r"data\.file\.1\.name 'maps': file\.0 has it, too: must be unique"),
    ([MAPS | {"name": "file-1"}], r"data\.file\.0\.name 'file-1': is that of a drawn file"),
    ([MAPS | {"name": "a;b"}], r"data\.file\.0\.name = 'a;b': must be a text of 1 to 200 letters without \";\""),
    ([MAPS | {"name": " "}], r"data\.file\.0\.name = ' '"),
    ([MAPS | {"size_mb": 0.0}], r"data\.file\.0\.size_mb = 0\.0: .*greater than 0"),
    ([MAPS | {"at": [6]}], r"data\.file\.0\.at 6: file 'maps': must be below cluster\.nodes, 6"),
    ([MAPS | {"at": [-1]}], r"data\.file\.0\.at\.0 = -1: must be the number of a node, from 0, or the name"),
    ([MAPS | {"at": [True]}], r"data\.file\.0\.at\.0 = True: must be the number of a node"),
    ([{"name": "maps", "at": [0]}], r"data\.file\.0\.size_mb: is missing"),
    ([MAPS | {"where": [0]}], r"unknown key 'data\.file\.0\.where'"),
    ([MAPS | {"at": ["nroth"]}], r"data\.file\.0\.at 'nroth': file 'maps': no such cluster or vertex; did you"),
    ([MAPS | {"at": ["cluster 3"]}], r"data\.file\.0\.at 'cluster 3': .*no such cluster or vertex; did you"),
    ([MAPS | {"at": []}], r"data\.file\.0\.at: file 'maps' lies nowhere: name a node, a cluster or a vertex"),
])  # fmt: skip
@pytest.mark.parametrize("policy", ["none", "pooled"])
def test_wrong_files_are_named_with_what_is_allowed(tmp_path, files, message, policy):
    assert policy in available()
    keys = sites(tmp_path, ["0,1,100,"], [], data__files=4, policy__name=policy) | {"data__file": files}
    with pytest.raises(InputError, match=message):
        ClusterModel(scenario(**keys))
