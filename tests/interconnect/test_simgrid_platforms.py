"""Platforms of SimGrid as networks: units, routes, clusters, and what is refused, on files of our own making."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.graphs.formats import simgrid
from cluster_abm.graphs.reading import read_graph
from cluster_abm.graphs.simgrid.clusters import numbers_in
from cluster_abm.graphs.simgrid.units import gflops_of, mbps_of, ms_of
from cluster_abm.interconnect import Network
from cluster_abm.scenario.interconnect import Interconnect

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
# Over a route of 350 ms, 1 MB a second.
PAIR = """<zone id="world" routing="Full">
  <host id="here" speed="2Gf" core="4"/> <host id="there" speed="500Mf,250Mf"/>
  <link id="a" bandwidth="1MBps" latency="100ms"/> <link id="b" bandwidth="16Mbps" latency="250ms"/>
  <route src="here" dst="there"><link_ctn id="a"/><link_ctn id="b"/></route>
</zone>"""


@pytest.fixture
def platform(tmp_path):
    def write(inside, version="4.1"):
        path = tmp_path / "platform.xml"
        path.write_text(f'{HEAD}<platform version="{version}">{inside}</platform>')
        return path

    return write


def network(path, nodes, **keys):
    return Network(Interconnect(file=str(path), **keys), nodes)


def route(found, source, target):
    """Bandwidth [Mbps] and latency [ms] of the route between two vertices, by their names."""
    one, other = (found.vertices.index(name) for name in (source, target))
    bandwidth, latency = found.routes_from(one)
    return pytest.approx((8.0 * bandwidth[other], latency[other]))


def zone(*parts, routing="Full", name="z"):
    return f'<zone id="{name}" routing="{routing}">{"".join(parts)}</zone>'


def hosts(names, speed="1Gf"):
    return "".join(f'<host id="{name}" speed="{speed}"/>' for name in names)


def links(**named):
    """Links by name: bandwidth in Mbps and latency in ms."""
    return "".join(f'<link id="{name}" bandwidth="{mbps}Mbps" latency="{ms}ms"/>' for name, (mbps, ms) in named.items())


def leads(source, target, over, tag="route", **more):
    ends = {"src": source, "dst": target} | more
    said = " ".join(f'{key}="{value}"' for key, value in ends.items())
    return f"<{tag} {said}>{''.join(f'<link_ctn id={chr(34)}{link}{chr(34)}/>' for link in over)}</{tag}>"


# ---- units -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "gflops"), [
    ("1Gf", 1.0), ("98.095Mf", 0.098095), ("2e9", 2.0), ("2.5E9f", 2.5), ("3Tf", 3000.0), ("7megaflops", 0.007),
    ("4 Gf", 4.0), ("500000kf", 0.5), ("5e5kiloflops", 0.5),
])  # fmt: skip
def test_speeds(text, gflops):
    assert gflops_of(text, "") == pytest.approx(gflops, rel=1e-12)


@pytest.mark.parametrize(("text", "mbps"), [
    ("125MBps", 1000.0), ("1Gbps", 1000.0), ("1.25E9Bps", 10_000.0), ("1", 8e-6), ("1KiBps", 8192e-6),
    ("2MiBps", 16.777216), ("1Kibps", 1024e-6), ("1kbps", 1e-3), ("1kBps", 8e-3), ("1KBps", 8e-3),
    ("1GiBps", 8589.934592),
])  # fmt: skip
def test_bandwidths_are_bytes_without_a_unit_and_bits_with_a_small_b(text, mbps):
    assert mbps_of(text, "") == pytest.approx(mbps, rel=1e-12)


@pytest.mark.parametrize(("text", "ms"), [
    ("0", 0.0), ("50us", 0.05), ("1.5ms", 1.5), ("1.0E-4s", 0.1), ("2", 2000.0), ("3ns", 3e-6), ("1m", 60_000.0),
])  # fmt: skip
def test_latencies(text, ms):
    assert ms_of(text, "") == pytest.approx(ms, rel=1e-12)


@pytest.mark.parametrize(("read", "text"), [
    (gflops_of, "1GBps"), (gflops_of, "0"), (gflops_of, "-1Gf"), (mbps_of, "1Gf"), (mbps_of, "0MBps"),
    (mbps_of, "nan"), (ms_of, "-1us"), (ms_of, "1 day"), (ms_of, "1e999s"), (mbps_of, "1_0MBps"),
])  # fmt: skip
def test_wrong_units_are_named(read, text):
    with pytest.raises(InputError, match=r"file: x = .*allowed"):
        read(text, "file: x")


def test_a_radical_is_a_list_of_ranges():
    assert numbers_in("0-2,10,7-8", "") == [0, 1, 2, 10, 7, 8]
    for wrong in ("", "3-1", "a", "1-", "0-99999999", "-1"):
        with pytest.raises(InputError, match="radical = "):
            numbers_in(wrong, "radical")


# ---- hosts and routes --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_task_travels_for_the_latency_and_its_size_over_the_narrowest_link(platform):
    """5 s of CPU here, 8 MB over 1 MB/s and 350 ms, 5 s there."""
    path = platform(PAIR.replace("2Gf", "1Gf").replace("500Mf,250Mf", "1Gf").replace('core="4"', ""))
    model = ClusterModel(
        scenario(
            interconnect__file=str(path), cluster__context_switch_ms=0.0, negotiation__migration_ms=0.0,
            negotiation__mode="papers",
            workload__kind="none", workload__initial=[{"node": 0, "cpu_ms": 10_000.0, "memory_mb": 8.0}],
            script=[{"at_s": 5.0, "act": "send", "task": 0, "node": 1}],
        ),
        seed=1,
    )  # fmt: skip
    model.run()
    assert model.summary()["metrics"]["makespan_ms"] == pytest.approx(18_350.0, abs=1e-6)


def test_hosts_have_speeds_and_cores(platform):
    path = platform(PAIR)
    found = scenario(interconnect__file=str(path), interconnect__gflops_per_speed=2.0)
    assert found.cluster.nodes == 2
    assert [(group.cpu_speed, group.cores) for group in found.cluster.group] == [(1.0, 4), (0.25, 1)]
    assert [group.cpu_speed for group in scenario(interconnect__file=str(path)).cluster.group] == [2.0, 0.5]


def test_the_p_state_that_a_host_begins_in_counts(platform):
    path = platform(PAIR.replace('speed="500Mf,250Mf"', 'speed="500Mf,250Mf" pstate="1"'))
    assert read_graph(path).nodes["there"]["cpu_speed"] == 0.25


def test_a_link_of_several_routes_is_one_edge(platform):
    """A - x - y - B, and C at y: the routes say where the junctions are, though none is named."""
    inside = zone(
        hosts("ABC"),
        links(a=(100, 1), m=(50, 2), b=(100, 4), c=(80, 8)),
        leads("A", "B", "amb"),
        leads("A", "C", "amc"),
        leads("C", "B", "cb"),
    )
    found = network(platform(inside), 3)
    assert len(found.graph) == 5
    assert found.graph.number_of_edges() == 4
    assert nx.is_tree(found.graph)
    assert route(found, "A", "B") == (50, 7)
    assert route(found, "A", "C") == (50, 11)
    assert route(found, "B", "C") == (80, 12)
    # All transfers from A share one link.
    assert found.links_between(0, 1)[0] == found.links_between(0, 2)[0]


def test_routes_over_routers_and_hosts(platform):
    inside = zone(
        hosts("AB"),
        '<router id="r"/>',
        links(a=(100, 1), b=(10, 2)),
        leads("A", "r", "a"),
        leads("r", "B", "b"),
        routing="Floyd",
    )
    found = network(platform(inside), 2)
    assert set(found.graph) == {0, 1, "r"}
    assert route(found, "A", "B") == (10, 3)


def test_a_link_between_more_than_two_points_is_a_medium(platform):
    """Each of A, B and C has a link of its own, and all cross the same backbone once."""
    inside = zone(
        hosts("ABC"),
        links(a=(100, 1), b=(90, 2), c=(80, 4), back=(70, 10)),
        leads("A", "B", ["a", "back", "b"]),
        leads("A", "C", ["a", "back", "c"]),
        leads("B", "C", ["b", "back", "c"]),
    )
    path = platform(inside)
    found = network(path, 3)
    assert route(found, "A", "B") == (70, 13)
    assert route(found, "A", "C") == (70, 15)
    assert route(found, "B", "C") == (70, 16)
    assert any("more than two points: 1" in note for note in found.notes)
    with pytest.raises(InputError, match=r"'back', which joins 3 points: allowed is .*delay"):
        network(path, 3, mode="contended")


def test_media_that_would_be_short_cuts_are_refused(platform):
    """A - B over m and A - C over m, but B - C over another link that is slower: over m it would be faster."""
    inside = zone(
        hosts("ABC"),
        links(m=(100, 1), slow=(100, 50)),
        leads("A", "B", "m"),
        leads("A", "C", "m"),
        leads("B", "C", ["slow"]),
    )
    with pytest.raises(InputError, match=r"1 of 3 routes lead another way.*'B' - 'C': 1 ms in place of 50.*'m'"):
        network(platform(inside), 3)


def test_routes_that_are_not_the_shortest_are_named(platform):
    inside = zone(
        hosts("ABC"),
        links(x=(100, 1), y=(100, 2), z=(100, 9)),
        leads("A", "B", "x"),
        leads("B", "C", "y"),
        leads("A", "C", "z"),
    )
    found = network(platform(inside), 3)
    assert [note for note in found.notes if "1 of 3 routes lead another way" in note and "3 ms in place of 9" in note]
    assert route(found, "A", "C") == (100, 3)


def test_routes_that_are_not_checked_are_counted(platform, monkeypatch):
    """Of three sources one is looked at: the route from C, which is longer than its way over B, is not."""
    monkeypatch.setattr(simgrid, "MOST_VISITS", 1)
    given = [leads("A", "B", "x"), leads("B", "C", "y"), leads("C", "A", "z")]
    inside = hosts("ABC") + links(x=(100, 1), y=(100, 2), z=(100, 9))
    notes = network(platform(zone(inside, *given)), 3).notes
    assert any("the first 1 of 3 routes checked: none leads another way" in note for note in notes)
    notes = network(platform(zone(inside, *given[::-1])), 3).notes
    assert any("the first 1 of 3 routes checked: 1 of 1 routes lead another way" in note for note in notes)


def test_zones_meet_at_their_gateways_and_become_clusters(platform):
    inner = [
        zone(hosts(f"{side}1 {side}2".split()), f'<router id="{side}"/>',
             links(**{f"{side}a": (100, 1), f"{side}b": (100, 2)}),
             leads(f"{side}1", side, [f"{side}a"]), leads(f"{side}2", side, [f"{side}b"]), name=f"zone {side}")
        for side in "lr"
    ]  # fmt: skip
    over = leads("zone l", "zone r", ["wide"], tag="zoneRoute", gw_src="l", gw_dst="r")
    found = network(platform(zone(*inner, links(wide=(1000, 50)), over, name="world")), 4)
    assert route(found, "l2", "r1") == (100, 53)
    assert found.cluster_of.tolist() == [0, 0, 1, 1]
    assert found.cluster_names[0] == "zone l"
    old = platform(
        zone(*inner, links(wide=(1000, 50)), over, name="w").replace("zoneRoute", "ASroute").replace("zone>", "AS>")
        .replace("<zone ", "<AS "), version="4",
    )  # fmt: skip
    assert route(network(old, 4), "l2", "r1") == (100, 53)


@pytest.mark.slow
@given(st.integers(2, 9), st.data())
def test_of_any_tree_the_routes_are_those_of_the_file(tmp_path_factory, size, data):
    """Routes between all pairs of hosts of a random tree, whose inner vertices the file does not name."""
    parents = [data.draw(st.integers(0, at)) for at in range(size)]
    tree = nx.Graph([(child + 1, parent) for child, parent in enumerate(parents)])
    latencies = {frozenset(edge): data.draw(st.integers(1, 9)) for edge in tree.edges}
    names = {edge: f"l{number}" for number, edge in enumerate(latencies)}
    leaves = [vertex for vertex in tree if tree.degree(vertex) == 1]
    ways = {}
    for one in leaves:
        for other in leaves[leaves.index(one) + 1 :]:
            path = nx.shortest_path(tree, one, other)
            ways[one, other] = [frozenset(pair) for pair in itertools.pairwise(path)]
    order = data.draw(st.permutations(list(ways)))
    inside = zone(
        hosts([f"h{leaf}" for leaf in leaves]),
        links(**{names[edge]: (100, ms) for edge, ms in latencies.items()}),
        *(leads(f"h{one}", f"h{other}", [names[edge] for edge in ways[one, other]]) for one, other in order),
    )
    path = tmp_path_factory.mktemp("tree") / "p.xml"
    path.write_text(f'<platform version="4.1">{inside}</platform>')
    found = network(path, len(leaves))
    for (one, other), edges in ways.items():
        assert route(found, f"h{one}", f"h{other}") == (100, sum(latencies[edge] for edge in edges))


# ---- links of one direction --------------------------------------------------------------------------------------

ONE_WAY = {"symmetrical": "NO"}


def star_of_ways(names, up, down, policy="SHARED"):
    """Hosts that send over a link of their own and receive over another; (Mbps, ms) each."""
    ways = "".join(links(**{f"u{name}": up, f"d{name}": down}) for name in names)
    return zone(
        hosts(names),
        ways.replace("/>", f' sharing_policy="{policy}"/>'),
        *(leads(one, other, [f"u{one}", f"d{other}"], **ONE_WAY) for one, other in itertools.permutations(names, 2)),
    )


def test_links_up_and_down_are_one_edge(platform):
    """Of three hosts, each with 8 Mbps up and 8 Mbps down: no edge has both."""
    path = platform(star_of_ways("ABC", (8, 1), (8, 1)))
    found = network(path, 3)
    assert found.graph.number_of_edges() == 3
    assert found.notes == ()
    for one, other in itertools.permutations("ABC", 2):
        assert route(found, one, other) == (8, 2)
    # Each of the two has a direction for itself: none is said to share one capacity for both.
    assert network(path, 3, mode="contended").notes == ()
    fat = platform(star_of_ways("ABC", (8, 1), (8, 1), "FATPIPE"))
    with pytest.raises(InputError, match="'uA', which is FATPIPE"):
        network(fat, 3, mode="contended")


def test_links_of_two_ways_are_alike_however_their_units_are_rounded(platform):
    inside = zone(
        hosts("AB"),
        '<link id="u" bandwidth="1MBps" latency="100us"/><link id="d" bandwidth="8Mbps" latency="1.0E-4s"/>',
        leads("A", "B", "u", **ONE_WAY),
        leads("B", "A", "d", **ONE_WAY),
    )
    found = network(platform(inside), 2)
    assert (route(found, "A", "B"), found.notes) == ((8, 0.1), ())


def test_two_links_of_each_way_are_two_edges(platform):
    """Two lines, each of two links: 8 + 80 Mbps either way, whatever their order."""
    inside = zone(
        hosts("AB"),
        '<router id="r"/><router id="s"/>',
        links(a=(500, 1), b=(500, 1), u=(8, 1), v=(80, 1), x=(80, 1), y=(8, 1)),
        leads("A", "r", "a"),
        leads("s", "B", "b"),
        *(leads("r", "s", link, **ONE_WAY) for link in "uv"),
        *(leads("s", "r", link, **ONE_WAY) for link in "xy"),
        routing="Floyd",
    )
    found = network(platform(inside), 2)
    assert route(found, "A", "B") == (88, 3)
    assert route(found, "B", "A") == (88, 3)
    assert [note for note in found.notes if "1 parallel edge merged" in note]


@pytest.mark.parametrize(("up", "down"), [((8, 1), (80, 1)), ((8, 1), (8, 2))])
def test_links_up_and_down_that_differ_are_refused(platform, up, down):
    pair = zone(
        hosts("AB"), links(u=up, d=down), leads("A", "B", "u", **ONE_WAY), leads("B", "A", "d", symmetrical="no")
    )
    numbers = [f"{mbps} Mbps, {ms} ms" for mbps, ms in (up, down)]
    with pytest.raises(
        InputError, match=rf"'u' \({numbers[0]}\) from 'A' to 'B', but link 'd' \({numbers[1]}\) back: .*alike"
    ):
        network(platform(pair), 2)
    with pytest.raises(InputError, match="links must be alike in both directions"):
        network(platform(star_of_ways("ABC", up, down)), 3)


@pytest.mark.parametrize("down", [30, 20])
def test_ways_behind_a_medium_are_known_from_the_target(platform, down):
    """A, B and C around a medium; from C a link leads to D, and another one back."""
    inside = zone(
        hosts("ABCD"),
        links(m=(70, 10), a=(90, 1), b=(90, 1), c=(90, 1), u=(20, 2), d=(down, 2)),
        *(leads(one, other, [one.lower(), "m", other.lower()]) for one, other in itertools.combinations("ABC", 2)),
        leads("C", "D", "u", **ONE_WAY),
        leads("D", "C", "d", **ONE_WAY),
        leads("A", "D", "amcu", **ONE_WAY),
        leads("D", "A", "dcma", **ONE_WAY),
    )
    if down != 20:
        with pytest.raises(InputError, match=r"'u' .* from 'C' to 'D', but link 'd' .* back"):
            network(platform(inside), 4)
        return
    found = network(platform(inside), 4)
    assert route(found, "A", "D") == (20, 14)
    assert not any("merged" in note for note in found.notes)


def test_routes_there_and_back_over_other_junctions_are_compared(platform):
    """Over two links there and two back; nothing says that they meet halfway."""
    inside = zone(
        hosts("AB"),
        links(a=(10, 1), b=(20, 1), c=(40, 1), d=(30, 1)),
        leads("A", "B", "ab", **ONE_WAY),
        leads("B", "A", "cd", **ONE_WAY),
    )
    notes = network(platform(inside), 2).notes
    assert any("differ there and back: 1" in note and "10 Mbps and 2 ms, back 30 and 2" in note for note in notes)
    alike = inside.replace("30Mbps", "10Mbps")
    assert network(platform(alike), 2).notes == ()


# ---- clusters ----------------------------------------------------------------------------------------------------

CLUSTER = '<cluster id="c" prefix="n-" suffix=".org" radical="0-3,9" speed="1Gf" core="2" bw="1Gbps" lat="1ms" {}/>'


def test_a_cluster_is_a_star_with_a_router(platform):
    found = network(platform(CLUSTER.format("")), 5)
    assert found.vertices == ("n-0.org", "n-1.org", "n-2.org", "n-3.org", "n-9.org")
    assert route(found, "n-0.org", "n-9.org") == (1000, 2)
    assert "n-c_router.org" in found.graph
    assert scenario(interconnect__file=str(platform(CLUSTER.format("")))).cluster.group[0].cores == 2


def test_a_backbone_adds_its_latency_once(platform):
    outside = zone(CLUSTER.format('bb_bw="500Mbps" bb_lat="10ms" router_id="door"'), zone(hosts(["out"]), name="o"),
                   links(up=(2000, 5)), leads("c", "o", ["up"], "zoneRoute", gw_src="door", gw_dst="out"))  # fmt: skip
    path = platform(outside)
    found = network(path, 6)
    assert route(found, "n-0.org", "n-1.org") == (500, 12)
    assert route(found, "n-0.org", "out") == (500, 1 + 10 + 5)
    with pytest.raises(InputError, match="backbone of 'c', which all of its 5 hosts share"):
        network(path, 6, mode="contended")
    # With room for all that hosts send, and all that comes in, nothing ever waits for it.
    assert network(platform(CLUSTER.format('bb_bw="10Gbps" bb_lat="10ms"')), 5, mode="contended").nodes == 5
    with pytest.raises(InputError, match="backbone"):
        network(platform(CLUSTER.format('bb_bw="9.9Gbps"')), 5, mode="contended")


def test_a_zone_of_the_routing_cluster(platform):
    inside = zone(
        '<cabinet id="k" prefix="h" suffix="" radical="1-2" speed="1Gf" bw="80Mbps" lat="1ms"/>',
        hosts(["alone"]),
        '<link id="own" bandwidth="40Mbps" latency="2ms" sharing_policy="SPLITDUPLEX"/>',
        '<host_link id="alone" up="own_UP" down="own_DOWN"/>',
        '<router id="r"/>',
        '<backbone id="b" bandwidth="60Mbps" latency="4ms"/>',
        routing="Cluster",
    )
    found = network(platform(inside), 3)
    assert route(found, "h1", "h2") == (60, 6)
    assert route(found, "h1", "alone") == (40, 7)


def host_links(*ends, inside=""):
    """Hosts h0, h1 and so on of a zone of the routing Cluster, with the links up and down of each."""
    named = [f"h{number}" for number in range(len(ends))]
    pairs = zip(named, ends, strict=True)
    joins = "".join(f'<host_link id="{host}" up="{up}" down="{down}"/>' for host, (up, down) in pairs)
    return zone(hosts(named), inside, joins, '<router id="r"/>', routing="Cluster")


def test_host_links_of_their_own_up_and_down_share_nothing(platform):
    pairs = host_links("ud", "vw", inside=links(u=(8, 1), d=(8, 1), v=(8, 1), w=(8, 1)))
    found = network(platform(pairs), 2, mode="contended")
    assert (route(found, "h0", "h1"), found.notes) == ((8, 2), ())
    both = network(platform(host_links("uu", "vw", inside=links(u=(8, 1), v=(8, 1), w=(8, 1)))), 2, mode="contended")
    assert [note.partition(": ")[2] for note in both.notes] == [
        "links that share one capacity for both directions: 1; each direction has it here"
    ]


@pytest.mark.parametrize(("ends", "said"), [
    (["ff", "uu"], "link 'f', which is FATPIPE"),
    (["uf", "vv"], "link 'f', which is FATPIPE"),
    (["uu", "uu", "vv"], "link 'u', which is that of 2 hosts"),
    (["uv", "vu"], "link 'u', which is that of 2 hosts"),
])  # fmt: skip
def test_host_links_that_hosts_do_not_share_as_in_the_file(platform, ends, said):
    given = links(u=(8, 1), v=(8, 1), f=(8, 1)).replace('id="f"', 'id="f" sharing_policy="FATPIPE"')
    path = platform(host_links(*ends, inside=given))
    assert route(network(path, len(ends)), "h0", "h1") == (8, 2)
    with pytest.raises(InputError, match=f"{said}.*allowed is .*delay"):
        network(path, len(ends), mode="contended")


def test_a_link_of_a_host_and_of_a_route(platform):
    """It is counted once, and what crosses both of its edges would not share it."""
    inner = host_links("uu", "vv", inside=links(u=(8, 1), v=(8, 1)))
    path = platform(zone(inner, hosts(["out"]), leads("r", "out", "u"), name="world"))
    found = network(path, 3)
    assert not [note for note in found.notes if "leads over" in note]
    assert route(found, "h1", "out") == (8, 2)
    with pytest.raises(InputError, match="link 'u', which is that of a host and part of a route"):
        network(path, 3, mode="contended")


@pytest.mark.parametrize(("mbps", "fits"), [("5Gbps", True), ("4.9Gbps", False)])
def test_a_fatpipe_backbone_is_shared_by_none(platform, mbps, fits):
    """Five hosts of 1 Gbps each: on the way to the router no more than 5 Gbps come together."""
    path = platform(CLUSTER.format(f'bb_bw="{mbps}" bb_sharing_policy="FATPIPE"'))
    assert network(path, 5).nodes == 5
    if fits:
        assert network(path, 5, mode="contended").nodes == 5
        return
    with pytest.raises(InputError, match="backbone of 'c', which is FATPIPE: each transfer has all of it"):
        network(path, 5, mode="contended")


def test_a_torus_has_a_link_for_each_neighbour(platform):
    found = network(platform(CLUSTER.replace("0-3,9", "0-23").format('topology="TORUS" topo_parameters="4,3,2"')), 24)
    whole = nx.grid_graph([2, 3, 4], periodic=True)
    # networkx has the pair of a dimension of two once, too.
    assert found.graph.number_of_edges() == whole.number_of_edges() == 24 + 24 + 12
    # From 0 to (3, 2, 1): one step in each dimension.
    assert route(found, "n-0.org", f"n-{3 + 4 * 2 + 12}.org") == (1000, 3)
    assert route(found, "n-0.org", "n-2.org") == (1000, 2)


def test_a_fat_tree_of_two_levels(platform):
    """2;4,4;1,2;1,2: four leaf switches with four nodes each, two cores, two cables from each leaf to each core."""
    tree = CLUSTER.replace("0-3,9", "0-15").format('topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2"')
    path = platform(tree)
    read = read_graph(path)
    assert len(read) == 16 + 4 + 2
    assert read.number_of_edges() == 16 + 4 * 2 * 2
    found = network(path, 16)
    assert route(found, "n-0.org", "n-3.org") == (1000, 2)
    assert route(found, "n-0.org", "n-4.org") == (1000, 4)


# ---- what is refused ---------------------------------------------------------------------------------------------

BARE = zone(hosts("AB"), links(x=(1, 1)), leads("A", "B", "x"))
REFUSED = [
    (BARE.replace("<host", '<include file="o.xml"/><host', 1), "<include>: nothing outside"),
    (BARE.replace('speed="1Gf"', 'speed="1Gf" state_file="s"', 1), "'A'.*state_file.*failures.file"),
    (BARE.replace('latency="1ms"', 'latency="1ms" bandwidth_file="b"'), "'x'.*bandwidth_file"),
    (BARE.replace('latency="1ms"', 'latency="1ms" sharing_policy="WIFI"'), "sharing_policy = 'WIFI': allowed SHARED"),
    (BARE.replace("</zone>", '<bypassRoute src="A" dst="B"/></zone>'), "<bypassRoute>"),
    (BARE.replace("Full", "Vivaldi"), "routing = 'Vivaldi': allowed Full"),
    (BARE.replace("</zone>", "<gpu/></zone>"), "<gpu>: allowed: zone, host"),
    (BARE.replace('<link_ctn id="x"/>', '<link_ctn id="q"/>'), "'A' - 'B': there is no link 'q'"),
    (BARE.replace('dst="B"', 'dst="B" symmetrical="maybe"'), "'A' - 'B': symmetrical = 'maybe': allowed YES, NO"),
    (BARE.replace('dst="B"', 'dst="C"'), "'A' - 'C': there is no host or router 'C'"),
    (BARE.replace('<link_ctn id="x"/>', ""), "it has no link"),
    (BARE.replace('id="B"', 'id="A"'), "vertex 'A': there are two"),
    (BARE.replace('speed="1Gf"', 'speed="fast"', 1), "'A'>: speed = 'fast': allowed"),
    (BARE.replace('speed="1Gf"', 'speed="1Gf" core="0"', 1), "cores = 0"),
    (BARE.replace('speed="1Gf"', 'speed="1Gf" pstate="1"', 1), "pstate = '1': allowed a whole number from 0 to 0"),
    (BARE.replace(' speed="1Gf"', "", 1), "'A'>: speed is missing"),
    (BARE.replace('bandwidth="1Mbps"', 'bandwidth="1"').replace("1ms", "-1ms"), "'x'>: latency = '-1ms'"),
    ('<cabinet id="c"/>', 'routing "Cluster" alone'),
    (CLUSTER.format('topology="DRAGONFLY" topo_parameters="3,4;4,3;5,1;2"'), "DRAGONFLY.*interconnect.kind"),
    (CLUSTER.format('limiter_link="1Gbps"'), "limiter_link"),
    (CLUSTER.format('topology="TORUS" topo_parameters="2,2"'), "4 places, but there are 5 hosts"),
    (CLUSTER.format('topology="TORUS" topo_parameters="2,x"'), "'x': allowed: a whole number"),
    (CLUSTER.format('topology="FAT_TREE" topo_parameters="2;5;1;1"'), "levels;down"),
    (CLUSTER.replace("0-3,9", "0-99999").format(""), "allowed up to 20,000 hosts"),
]  # fmt: skip


@pytest.mark.parametrize(("inside", "said"), REFUSED)
def test_what_would_be_lost_is_refused_by_name(platform, inside, said):
    with pytest.raises(InputError, match=f"platform.xml.*{said}"):
        network(platform(inside), 2)


def test_shared_and_fatpipe_links_in_contention(platform):
    path = platform(BARE)
    assert network(path, 2).notes == ()
    assert "one capacity for both directions: 1" in network(path, 2, mode="contended").notes[0]
    split = platform(BARE.replace('latency="1ms"', 'latency="1ms" sharing_policy="SPLITDUPLEX"'))
    assert network(split, 2, mode="contended").notes == ()
    fat = platform(BARE.replace('latency="1ms"', 'latency="1ms" sharing_policy="FATPIPE"'))
    assert route(network(fat, 2), "A", "B") == (1, 1)
    with pytest.raises(InputError, match="'x', which is FATPIPE"):
        network(fat, 2, mode="contended")


def test_older_platforms_and_entities_are_refused(platform, tmp_path):
    with pytest.raises(InputError, match="version = '3'"):
        read_graph(platform(BARE, version="3"))
    path = tmp_path / "e.xml"
    path.write_text(f'<!DOCTYPE platform [<!ENTITY a "b">]><platform version="4.1">{BARE}</platform>')
    with pytest.raises(InputError, match="declares the entity 'a'"):
        read_graph(path)


def test_what_is_left_out_is_counted(platform):
    loops = leads("A", "A", "x") + '<prop id="a" value="b"/>'
    found = network(platform(BARE.replace("</zone>", f"{links(unused=(1, 1))}{loops}</zone>")), 2)
    assert len(found.notes) == 3
    assert "from a host to itself: 1" in found.notes[0]
    assert "no route between two hosts leads over: 1" in found.notes[1]
    assert "1 <prop>" in found.notes[2]


def test_graphml_in_a_file_named_xml_is_known_by_its_root(tmp_path):
    path = tmp_path / "g.xml"
    path.write_text('<graphml><graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"/>'
                    "</graph></graphml>")  # fmt: skip
    assert list(read_graph(path)) == ["a", "b"]
