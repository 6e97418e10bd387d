"""SNDlib's native format, on a file of our own making."""

from __future__ import annotations

import pytest

from cluster_abm.errors import InputError
from cluster_abm.graphs.reading import read_graph
from cluster_abm.interconnect import Network
from cluster_abm.scenario.interconnect import Interconnect

OWN = """?SNDlib native format; type: network; version: 1.0
# network three of our own

META (
  granularity = 5min
  unit = MBITPERSEC
)

# NODE SECTION
NODES (
  Berlin ( 13.48 52.52 )
  Ulm ( 10.00 48.40 )
  Bonn ( 7.10 50.73 )
)

LINKS (
  # <link_id> ( <source> <target> ) <pre_installed_capacity> <cost> <routing_cost> <setup_cost> ( {<capacity> <cost>}* )
  L1 ( Berlin Ulm ) 40.00 0.00 0.00 0.00 ( 155.00 25.00 622.00 60.00 )
  L2 ( Ulm Bonn ) 0.00 0.00 0.00 0.00 ( 622.00 60.00 155.00 25.00 )
  L3 ( Bonn Berlin ) 0.00 0.00 0.00 0.00 ( )
)

DEMANDS (
  D1 ( Berlin Ulm ) 1 195.00 UNLIMITED
)

ADMISSIBLE_PATHS (
)
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "three.txt"
        path.write_text(text)
        return path

    return write


def test_capacities_are_what_is_installed_else_the_least_module(written):
    path = written(OWN)
    read = read_graph(path)
    assert list(read) == ["Berlin", "Ulm", "Bonn"]
    assert read.nodes["Ulm"] == {"longitude": 10.0, "latitude": 48.4}
    found = Network(Interconnect(file=str(path), trunk_bandwidth_mbps=7.0, trunk_latency_ms=2.0), 3)
    bandwidths = {frozenset(edge): found.graph.edges[edge]["bandwidth_mbps"] for edge in found.graph.edges}
    assert bandwidths == {frozenset({0, 1}): 40.0, frozenset({1, 2}): 155.0, frozenset({0, 2}): 7.0}
    said = " ".join(found.notes)
    assert "no capacity installed: 1; that of the least module" in said
    assert "not read: ADMISSIBLE_PATHS, DEMANDS" in said
    assert "1 of 3 links have no bandwidth_mbps: 7 taken" in said
    assert "3 of 3 links have no latency_ms: 2 taken" in said


@pytest.mark.parametrize(("unit", "mbps"), [("GBITPERSEC", 40_000.0), ("KBITPERSEC", 0.04), ("BITSPERSEC", 4e-5)])
def test_the_unit_of_the_file_counts(written, unit, mbps):
    read = read_graph(written(OWN.replace("MBITPERSEC", unit)))
    assert read.edges["Berlin", "Ulm", 0]["bandwidth_mbps"] == pytest.approx(mbps, rel=1e-12)


def test_admissible_paths_are_passed_over(written):
    # As SNDlib's polska and pioro40 have them: within a demand's parentheses, which end on lines of their own.
    paths = "  D1 (\n    P1 ( L1 )\n    P2 ( L3 L2 )\n  )\n  NODES (\n    P3 ( L2 )\n  )\n"
    assert OWN.count("ADMISSIBLE_PATHS (\n") == 1
    read = read_graph(written(OWN.replace("ADMISSIBLE_PATHS (\n", f"ADMISSIBLE_PATHS (\n{paths}")))
    bare = read_graph(written(OWN))
    assert (list(read), list(read.edges)) == (list(bare), list(bare.edges))
    assert read.graph == bare.graph  # no section more in what is not read


def test_without_a_unit_no_capacity_is_a_bandwidth(written):
    found = Network(Interconnect(file=str(written(OWN.replace("unit = MBITPERSEC", "")))), 3)
    assert any("META says no unit" in note for note in found.notes)
    assert {data["bandwidth_mbps"] for *_, data in found.graph.edges(data=True)} == {1024.0}


@pytest.mark.parametrize(("old", "new", "said"), [
    ("?SNDlib native format; type: network", "network", "is to begin with"),
    ("type: network", "type: solution", "solution.*allowed: type network"),
    ("version: 1.0", "version: 2.0", "version '2.0'"),
    ("MBITPERSEC", "STM1", "line 6: unit = 'STM1': allowed BITSPERSEC, KBITPERSEC"),
    ("( 13.48 52.52 )", "( 13.48 )", "line 11.*allowed: ID"),
    ("13.48", "east", "line 11: 'east': a number"),
    ("13.48", "nan", "line 11: 'nan': a number"),
    ("( Berlin Ulm ) 40.00", "( Berlin ) 40.00", "line 18.*allowed: ID"),
    ("( Berlin Ulm ) 40.00", "( Berlin Ulm ) -40.00", "line 18.*below 0"),
    ("622.00 60.00 )", "622.00 )", "line 18.*MODULE"),
    ("( Berlin Ulm ) 40.00", "( Berlin Rome ) 40.00", "no vertex 'Rome'"),
    ("  Ulm (", "  Berlin (", "'Berlin': there are two"),
    ("ADMISSIBLE_PATHS (\n)", "ADMISSIBLE_PATHS (", "'ADMISSIBLE_PATHS' of line 27 does not end"),
    ("DEMANDS (", "LINKS (", "allowed: NODES"),
    ("NODES (", "KNOTS (", "no section NODES"),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(written, old, new, said):
    assert old in OWN
    with pytest.raises(InputError, match=f"three.txt.*{said}"):
        read_graph(written(OWN.replace(old, new, 1)))
