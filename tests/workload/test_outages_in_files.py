"""Outages of nodes from tables: our own columns, recorded failures by a map, and what is wrong with them."""

from __future__ import annotations

import gzip
import itertools
import lzma
import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario.failures import Failures
from cluster_abm.study.design.fingerprint import cell_key
from cluster_abm.workload.outages.reading import outages_in_file

OWN = "node,down_s,up_s\n2,3,5\n1,2.5,\n0,1,2\n"
# Rows of our own, under the header of the file as others read it: its first line is a title.
LANL = """System,machine type,nodes,procstot,procsinnode,nodenum,nodenumz,node install,node prod,node decom,fru type,\
mem,cputype,memtype,num intercon,purpose,Prob Started (mm/dd/yy hh:mm),Prob Fixed (mm/dd/yy hh:mm),Down Time,\
Facilities,Hardware,Human Error,Network,Undetermined,Software,Same Event
2,cluster,49,6152,80,10,10,5-Apr,5-Jun,current,part,80,1,1,0,compute,06/21/2003 10:54,06/21/2003 11:00,6,,Disk,,,,,No
2,cluster,49,6152,80,9,9,5-Apr,5-Jun,current,part,80,1,1,0,compute,06/21/03 10:55,,7,,Memory,,,,,No
2,cluster,49,6152,80,9,9,5-Apr,5-Jun,current,part,80,1,1,0,compute,06/22/03 10:55,,,,Memory,,,,,No
20,cluster,49,6152,80,3,3,5-Apr,5-Jun,current,part,80,1,1,0,compute,06/20/03 10:55,06/20/03 10:56,1,,CPU,,,,,No
"""
FTA = (
    "# event_id\tcomponent_id\tnode_id\tplatform_id\tnode_name\tevent_type\tevent_start_time\tevent_stop_time\tend\n"
    "1\t1\t7\t0\tn7\t1\t1000000000\t1000000100.5\tNULL\n"
    "2\t1\t7\t0\tn7\t0\t1000000100.5\t1000000200\tNULL\n"
    "3\t1\t30\t0\tn30\t0\t1000000050\t1000000060\tNULL\n"
)


@pytest.fixture
def table(tmp_path):
    def write(text, name="outages.csv"):
        path = tmp_path / name
        data = text.encode()
        pack = {".gz": gzip.compress, ".xz": lzma.compress}.get(path.suffix, bytes)
        path.write_bytes(pack(data))
        return str(path)

    return write


def read(path, nodes=4, names=(), **keys):
    found = outages_in_file(Failures(file=path, **keys), nodes, names)
    return list(zip(found.node.tolist(), found.down_s.tolist(), found.up_s.tolist(), strict=True)), found.notes


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.csv.xz"])
def test_a_table_of_our_columns(table, name):
    assert read(table(OWN, name)) == ([(0, 1.0, 2.0), (1, 2.5, math.inf), (2, 3.0, 5.0)], ())


def test_tabs_and_parquet_are_tables_too(table, tmp_path):
    assert read(table(OWN.replace(",", "\t"), "a.tsv"))[0][1] == (1, 2.5, math.inf)
    path = tmp_path / "a.parquet"
    pd.DataFrame({"up_s": [5.0, None], "node": [2, 1], "down_s": [3, 2]}).to_parquet(path)
    assert read(str(path))[0] == [(1, 2.0, math.inf), (2, 3.0, 5.0)]


def test_no_file_is_no_outage():
    assert read(None) == ([], ())


def test_outages_that_overlap_or_touch_are_one(table):
    rows = "1,10,20\n1,20,25\n1,12,14\n1,30,31\n2,10,20\n1,31.5,\n1,40,50\n"
    found, notes = read(table("node,down_s,up_s\n" + rows))
    assert found == [(1, 10, 25), (1, 30, 31), (1, 31.5, math.inf), (2, 10, 20)]
    assert len(notes) == 1
    assert notes[0].endswith("rows put together with another outage of their node: 3")


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 20), st.integers(1, 8)), min_size=1, max_size=12))
@pytest.mark.slow
def test_a_node_is_down_whenever_a_row_says_so(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("t") / "a.csv"
    path.write_text("node,down_s,up_s\n" + "".join(f"{node},{down},{down + last}\n" for node, down, last in rows))
    found, _ = read(str(path), 3)
    for node in range(3):
        for second in range(30):
            is_down = any(one == node and down <= second < down + last for one, down, last in rows)
            assert is_down == any(one == node and down <= second < up for one, down, up in found)
    assert found == sorted(found)
    assert all(one[0] != two[0] or one[2] < two[1] for one, two in itertools.pairwise(found))


@pytest.mark.slow
def test_a_run_is_the_one_with_the_same_events(table):
    events = [{"at_s": 1.0, "node": 2, "for_s": 1.5}, {"at_s": 1.25, "node": 1}, {"at_s": 3.0, "node": 2, "for_s": 0.5}]
    path = table("node,down_s,up_s\n2,1,2.5\n1,1.25,\n2,3,3.5\n")
    models = [
        ClusterModel(scenario(**busy(policy__name="jsq", workload__duration_s=4.0, **keys)), seed=2)
        for keys in (
            {"failures__event": events}, {"failures__file": path}, {"failures__file": path, "failures__event": events},
        )
    ]  # fmt: skip
    for model in models:
        model.run()
    first, second, both = (model.summary() for model in models)
    assert first["metrics"]["node_failures"] == 3
    assert first["metrics"]["restarts"] > 0
    assert first == second == both
    for name in ("jobs_frame", "nodes_frame", "decisions_frame"):
        assert getattr(models[0], name)().equals(getattr(models[1], name)())


def test_nodes_may_be_named_as_in_the_networks_file(table, tmp_path):
    path = tmp_path / "p.xml"
    path.write_text(
        '<platform version="4"><AS id="z" routing="Full"><host id="sun" speed="1Gf"/><host id="moon" speed="1Gf"/>'
        '<link id="l" bandwidth="1Gbps"/><route src="sun" dst="moon"><link_ctn id="l"/></route></AS></platform>'
    )
    outages = table("node,down_s,up_s\nmoon,0,10\n")
    model = ClusterModel(
        scenario(interconnect__file=str(path), failures__file=outages, workload__kind="none",
                 workload__initial=[{"node": 1, "cpu_ms": 100.0, "memory_mb": 1.0}]), seed=1,
    )  # fmt: skip
    model.step()
    assert model.parts.availability.up.tolist() == [True, False]
    with pytest.raises(InputError, match=r"row 1: node = 'moon': allowed: 0 to 1$"):
        read(outages, 2)
    with pytest.raises(InputError, match="row 1: node = 'moon': allowed: 0 to 1, or the name of a vertex"):
        read(outages, 2, ("sun", "mars"))


@pytest.mark.parametrize(("row", "said"), [
    ("4,1,2", "row 2: node = '4': allowed: 0 to 3"),
    ("-1,1,2", "row 2: node = '-1'"),
    ("1.5,1,2", r"row 2: node = '1\.5'"),
    (",1,2", "row 2: node is empty"),
    ("1,,2", "row 2: down_s is empty"),
    ("1,soon,2", "row 2: down_s and up_s: a number of seconds"),
    ("1,1,later", "row 2: down_s and up_s: a number of seconds"),
    ("1,3,3", "row 2: up_s = 3: must be after down_s = 3"),
    ("1,-1,3", "row 2: down_s = -1: allowed: 0 or more"),
    ("1,1,2e9", r"row 2: 2e\+09 s: allowed up to 1e\+09"),
    ("1,1", "1 rows have 2 cells where 3"),
])  # fmt: skip
def test_a_wrong_row_is_named(table, row, said):
    with pytest.raises(InputError, match=f"outages.csv.*{said}"):
        read(table(f"node,down_s,up_s\n0,1,2\n{row}\n"))


def test_reasons_for_which_there_is_no_outage_are_those_that_happened(table):
    with pytest.raises(InputError, match=r"no outage in it \(left out by the filter: 3\)$"):
        read(table(OWN), filter="node > 9")


@pytest.mark.parametrize(("text", "said"), [
    ("", "empty"), ("node,down_s,up_s\n", "no row, only a header"), ("node,down_s\n1,2\n", "'up_s' is not there"),
])  # fmt: skip
def test_a_file_without_outages(table, text, said):
    with pytest.raises(InputError, match=said):
        read(table(text))
    with pytest.raises(InputError, match="cannot be read"):
        read("no-such-file.csv")


def test_a_start_cuts_what_was_before(table):
    found, notes = read(table(OWN), start_s=2.75)
    assert found == [(1, 0.0, math.inf), (2, 0.25, 2.25)]
    assert notes[0].endswith("rows before failures.start_s: 1")


def test_a_file_may_be_too_large(table):
    path = table("node,down_s,up_s\n" + "1,2,3\n" * 200_000)
    with pytest.raises(InputError, match=r"failures\.max_mb"):
        read(path, max_mb=1)


# ---- by a map ----------------------------------------------------------------------------------------------------


def test_lanls_failures_of_a_system(table):
    """Nodes 9 and 10 are 0 and 1; from 10:54 to 11:00, and from 10:55 for seven minutes, whatever the century says."""
    found, notes = read(table(LANL), 2, map="lanl", filter="System == 2")
    assert found == [(0, 60.0, 480.0), (1, 0.0, 360.0)]
    assert [note.rpartition("rows ")[2] for note in notes] == [
        "left out by the filter: 1",
        "left out, without an end: 1",
    ]


@pytest.mark.parametrize("title", ["", "LA-UR-05-7318\n", "Failures of 22 systems, 1996-2005\r\n", "a,b,c\n\n"])
@pytest.mark.parametrize("form", ["", " (mm/dd/yy hh:mm)"])
def test_both_headers_of_lanls_failures(table, title, form):
    """One copy has a line above its header, another has no forms of dates in it."""
    plain = read(table(LANL), 3, map="lanl")[0]
    assert read(table(title + LANL.replace(" (mm/dd/yy hh:mm)", form)), 3, map="lanl")[0] == plain


def test_a_title_is_left_out_only_if_the_next_line_names_the_columns(table):
    assert read(table("Outages\n" + OWN))[0] == read(table(OWN))[0]
    with pytest.raises(InputError, match="is not there; there are: Outages"):
        read(table("Outages\nof 2003\n" + OWN))
    with pytest.raises(InputError, match="'down_s' is not there; there are: node, of, 2003"):
        read(table("node of 2003\n1,2,3\n" + OWN))
    # The first line counts wherever it can be the header.
    assert read(table("down_s,node,up_s\n5,2,6\n"))[0] == [(2, 5.0, 6.0)]


@pytest.mark.parametrize("title", [
    "Outages of 2003\n", "# Outages, 2003\n", "Outages; 2003; 2004\r\n", "Site = north\n", "[2003] outages\n", "{\n",
    "\ufeffOutages | 2003\n\n",
])  # fmt: skip
@pytest.mark.parametrize("between", [",", "\t", ";", " "])
def test_a_title_does_not_say_what_stands_between_cells(table, title, between):
    rows = "node,down_s,up_s\n2,3,5\n0,1,2\n".replace(",", between)
    assert read(table(title + rows))[0] == read(table(rows))[0] == [(0, 1.0, 2.0), (2, 3.0, 5.0)]


def test_a_title_between_remarks(table):
    columns = {"file": {"remark": "#"}, "node": "n", "down": {"column": "d", "unit": "s"}}
    assert read(table("# a\nOutages of 2003\n# b\nn d\n1 2\n"), columns=columns)[0] == [(1, 2.0, math.inf)]


def test_a_name_before_parentheses_stands_for_one_column_alone(table):
    assert read(table("node,down_s (s),up_s (s)\n1,2,3\n"))[0] == [(1, 2.0, 3.0)]
    assert read(table("node,down_s (s),down_s,up_s\n1,9,2,3\n"))[0] == [(1, 2.0, 3.0)]
    with pytest.raises(InputError, match="'down_s' is not there"):
        read(table("node,down_s (s),down_s (min),up_s\n1,2,2,3\n"))


def test_lanls_failures_of_all_systems(table):
    found, _ = read(table(LANL), 3, map="lanl")
    day = 86_400.0
    assert found == [(0, day, day + 420.0), (1, day - 60.0, day + 300.0), (2, 0.0, 60.0)]
    with pytest.raises(InputError, match=r"outages of 3 nodes, but cluster.nodes is 2: allowed are cluster.nodes = 3"):
        read(table(LANL), 2, map="lanl")


@pytest.mark.parametrize("nothing", ["", " ", "unknown"])
def test_half_of_an_id_is_no_node(table, nothing):
    """Of four rows two lack the system or the node's number: there is one node, which is down twice."""
    head = "System,nodenum,Prob Started,Prob Fixed,Down Time\n"
    ids = ["20,10", f"20,{nothing}", f"{nothing},9", "20,10"]
    rows = "".join(
        f"{one},06/21/03 10:5{at},06/21/03 10:5{at + 1},1\n" for one, at in zip(ids, (1, 3, 5, 7), strict=True)
    )
    found, notes = read(table(head + rows), 4, map="lanl")
    assert found == [(0, 0.0, 60.0), (0, 360.0, 420.0)]
    assert [note.rpartition("rows ")[2] for note in notes] == ["left out, no node: 2"]


def test_half_of_an_id_of_the_failure_trace_archive(table):
    found, notes = read(table(FTA.replace("\t30\t0\t", "\tnull\t0\t"), "event_trace.tab"), 2, map="grid5000")
    assert found == [(0, 0.0, 99.5)]
    assert notes[-1].endswith("rows left out, no node: 1")


def test_grid5000_of_the_failure_trace_archive(table):
    """Only intervals of unavailability (event_type 0); node 7 before node 30; the first begins at 0."""
    assert read(table(FTA, "event_trace.tab"), 2, map="grid5000")[0] == [(0, 50.5, 150.0), (1, 0.0, 10.0)]


def test_columns_of_ones_own(table):
    text = "host;begin;hours\nn10;01.02.2024 10:00;2\nn2;01.02.2024 11:00;0.5\nn2;;1\n"
    columns = {
        "node": "host", "down": {"column": "begin", "unit": "date", "format": "%d.%m.%Y %H:%M"},
        "lasts": {"column": "hours", "unit": "h"}, "nodes": "ranks", "zero": "first",
    }  # fmt: skip
    found, notes = read(table(text), 4, columns=columns)
    assert found == [(0, 3600.0, 5400.0), (1, 0.0, 7200.0)]
    assert notes[0].endswith("rows left out, no time of failure: 1")


def test_fields_that_differ_from_a_map(table):
    """Only years of two digits: node 10's time is not read, and the outage of node 9 is the first."""
    up = {"column": "Prob Fixed (mm/dd/yy hh:mm)", "unit": "date", "format": "%m/%d/%y %H:%M"}
    found, notes = read(table(LANL), 2, map="lanl", filter="System == 2", columns={"up": up})
    assert found == [(0, 0.0, 420.0)]
    assert any(note.endswith("rows left out, a time is not read: 1") for note in notes)


def test_wrong_maps_are_refused_by_field():
    for columns, said in [
        ({"node": "n"}, "columns: down is missing"),
        ({"node": "n", "down": {"column": "d", "unit": "MB"}}, "down: unit"),
        ({"node": "n", "down": "d", "lasts": {"column": "l", "unit": "iso"}}, "lasts: unit"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=f"failures.*{said}"):
            scenario(failures__file="f.csv", failures__columns=columns)
    with pytest.raises(InputError, match=r"failures.*map.*lanl"):
        scenario(failures__file="f.csv", failures__map="lanle")
    with pytest.raises(InputError, match="failures"):
        scenario(failures__file="f.csv", failures__filter="System +")


def test_a_pattern_that_is_none_is_named(table):
    with pytest.raises(InputError, match=r"failures\.columns\.node\.pattern"):
        read(table(OWN), columns={"node": {"column": "node", "pattern": "(("}, "down": {"column": "down_s"}})


def test_a_result_is_named_after_the_content_of_the_file(table, tmp_path):
    path = table(OWN)
    before = cell_key(scenario(failures__file=path))
    assert before != cell_key(scenario())
    assert before == cell_key(scenario(failures__file=path, failures__max_mb=7))
    table(OWN.replace("2.5", "2.25"))
    assert cell_key(scenario(failures__file=path)) != before
