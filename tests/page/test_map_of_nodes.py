"""Positions and texts of nodes, links and arrows of a map, by hand from the size of the picture."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from drawn import decision, frame, mapped, network, number, numbers, of_class, pairs, read

from cluster_abm.results.load_scale import LoadScale
from viz import colours
from viz.colours import CLASSES, INDICES
from viz.network import DIGIT, LEAST_NUMBERED, MOST_ARROWS, MOST_NUMBERED, SMALLEST, draw, map_of


def picture(where, shown, net, index="cpu", label="a network"):
    (found,) = read(draw(where, shown, net, INDICES[index], LoadScale(4.0), label))
    return found


def nodes_of(shown, index="cpu", net=None, where=None):
    net = net or network()
    return of_class(picture(where or mapped(net), shown, net, index), "node")


@pytest.mark.parametrize(("size", "left", "right", "top", "bottom"), [
    # A margin of 24 pixels on each side and a legend of one line, 24 high; below a width of 540 it has two lines.
    ((600.0, 400.0), 24, 576, 24, 400 - 24 - 24), ((500.0, 400.0), 24, 476, 24, 400 - 24 - 48),
    # A side of at most 320 has margins of 14.
    ((600.0, 320.0), 14, 586, 14, 320 - 14 - 24), ((320.0, 400.0), 14, 306, 14, 400 - 14 - 48),
    ((600.0, 321.0), 24, 576, 24, 321 - 24 - 24),
])  # fmt: skip
def test_the_corners_of_a_grid_are_at_the_margins(size, left, right, top, bottom):
    at = mapped(network(nodes=4), *size).at
    assert [at[node] for node in range(4)] == [(left, top), (right, top), (left, bottom), (right, bottom)]


def test_without_room_all_nodes_are_within_a_pixel():
    at = mapped(network(), 20.0, 20.0).at
    assert max(x for x, _ in at.values()) - min(x for x, _ in at.values()) == 1
    assert max(y for _, y in at.values()) - min(y for _, y in at.values()) == 1


def test_a_picture_has_the_size_of_its_map_and_its_name():
    net = network()
    found = picture(mapped(net, 610.0, 420.0), frame(), net, label="nodes by load")
    assert (found.get("viewBox"), found.get("role"), found.get("aria-label")) == ("0 0 610 420", "img", "nodes by load")


@pytest.mark.parametrize(("kind", "nodes", "size", "largest"), [
    # Few nodes have a radius of 19, but stay 2 pixels from the edge: 14 - 2 = 12.
    ("torus", 4, (600.0, 400.0), 19), ("star", 6, (600.0, 400.0), 19), ("complete", 6, (600.0, 400.0), 19),
    ("torus", 4, (600.0, 320.0), 12),
    # In a grid of 256 each node has 552 x 328 / 256 pixels, a square of side 26.6. The radius is 0.42 of the side.
    ("torus", 256, (600.0, 400.0), 0.42 * math.sqrt(552 * 328 / 256)),
    # 100 nodes around a switch are on a ring of mean diameter 440: 13.8 each. The radius is 0.7 of this.
    ("star", 100, (600.0, 400.0), 0.7 * math.pi * 440 / 100),
    # A complete graph of 64 nodes is a ring; more nodes are a grid.
    ("complete", 64, (600.0, 400.0), 0.42 * math.pi * 440 / 64),
    ("complete", 100, (600.0, 400.0), 0.42 * math.sqrt(552 * 328 / 100)),
    # The smallest radius.
    ("torus", 4096, (600.0, 400.0), SMALLEST), ("star", 800, (600.0, 400.0), SMALLEST),
])  # fmt: skip
def test_the_radius_of_nodes_follows_from_their_share_of_surface_or_ring(kind, nodes, size, largest):
    assert mapped(network(kind, nodes), *size).largest == pytest.approx(largest)


def test_many_nodes_of_a_file_at_small_distances_are_smaller(tmp_path):
    link = {"bandwidth_mbps": 100, "latency_ms": 1}
    links = [{"source": str(node), "target": str(node + 1)} | link for node in range(MOST_NUMBERED)]
    path = tmp_path / "row.json"
    path.write_text(json.dumps({"nodes": [{"id": str(node)} for node in range(MOST_NUMBERED + 1)], "links": links}))
    net = network("file", MOST_NUMBERED + 1, file=str(path))
    # All nodes but the last are in a row, at 1 / 80 of the width of 552 pixels: 6.9 pixels apart.
    places = {node: (node / 80, 0.5) for node in range(MOST_NUMBERED)} | {MOST_NUMBERED: (1.0, 1.0)}
    where = map_of(net, 600.0, 400.0, np.ones(net.nodes, int), SimpleNamespace(places=places, wires=[]))
    assert where.largest == pytest.approx(0.55 * 6.9)


@pytest.mark.parametrize(("kind", "nodes", "strength"), [
    # Up to 60 lines have full strength; 120 lines have half.
    ("torus", 9, "1.00"), ("complete", 16, "0.50"),
    # 496 lines between 32 nodes would hide the nodes, and so would the 512 of a torus. A star has one line a node.
    ("complete", 32, "0.18"), ("torus", 256, "0.18"), ("star", 100, "0.70"),
])  # fmt: skip
def test_many_lines_are_faint(kind, nodes, strength):
    (links,) = read(mapped(network(kind, nodes)).background).findall("path")
    assert (links.get("stroke-opacity"), links.get("fill"), links.get("stroke")) == (strength, "none", colours.LINK)


def test_each_link_is_a_line_from_node_to_node():
    where = mapped(network("complete", 3))
    (links,) = read(where.background).findall("path")
    ends = pairs(links.get("d"))
    assert links.get("d").count("M") == links.get("d").count("L") == 3
    wanted = [where.at[node] for pair in ((0, 1), (0, 2), (1, 2)) for node in pair]
    assert np.array(ends) == pytest.approx(np.array(wanted), abs=0.51)


def test_too_many_links_are_not_drawn():
    # 1,770 lines would fill the ring.
    assert mapped(network("complete", 60)).background == ""


def test_switches_are_squares_centred_at_their_position_with_their_name():
    where = mapped(network("star", 6))
    (square,) = read(where.background).findall("rect")
    ((name, (x, y)),) = [(name, at) for name, at in where.at.items() if isinstance(name, str)]
    left, top, width, height = number(square, "x", "y", "width", "height")
    assert (square.find("title").text, width) == (name, height)
    assert (left + width / 2, top + height / 2) == pytest.approx((x, y), abs=0.06)
    assert not read(mapped(network("torus", 6)).background).findall("rect")


@pytest.mark.parametrize(("cores", "said"), [([1, 1, 1, 1], ""), ([4, 4, 4, 4], " of 4 cores")])
def test_the_title_of_a_node_has_number_cores_tasks_and_load(cores, said):
    shown = frame(tasks=np.array([3.0, 0, 0, 0]), loads={"io": np.array([2.5, 0, 0, 0])})
    first, *_ = nodes_of(shown, "io", where=mapped(network(), cores=cores))
    assert first.find("title").text == f"node 0{said}: 3 tasks, 2.5 s"
    assert first.get("data-node") == "0"


def test_the_title_of_a_node_has_its_name_in_a_graph_that_was_handed_over():
    ends = {"source": "Paris", "target": "<b>"}
    net = network("file", 2, graph=json.dumps({"nodes": [{"id": "Paris"}, {"id": "<b>"}], "edges": [ends]}))
    shown = frame(2, up=np.array([True, False]))
    titles = [one.find("title").text for one in nodes_of(shown, "cpu", net, mapped(net))]
    assert titles == ["node 0, Paris: 0 tasks, 0 tasks", "node 1, <b>: out of order"]


def test_a_node_has_the_name_and_colour_of_its_load_class():
    shown = frame(loads={"class": np.arange(4.0)})
    found = nodes_of(shown, "class")
    assert [one.find("title").text for one in found] == [
        f"node {node}: 0 tasks, {name}" for node, (name, _) in enumerate(CLASSES)
    ]
    assert [one.find("circle").get("fill") for one in found] == [colour for _, colour in CLASSES]


def test_a_failed_node_has_a_cross_and_no_number():
    where = mapped(network())
    _, out, *_ = nodes_of(frame(up=np.array([True, False, True, True])), where=where)
    assert (out.find("title").text, out.find("text"), out.get("data-node")) == ("node 1: out of order", None, None)
    circle, cross = out.find("circle"), out.find("path")
    assert (circle.get("fill"), circle.get("stroke"), cross.get("stroke")) == (
        colours.PAPER, colours.DOWN, colours.DOWN,
    )  # fmt: skip
    corners = np.array(pairs(cross.get("d"))) - where.at[1]
    # The cross reaches half of the radius to each side. The radius of an idle node is half of the largest.
    assert np.abs(corners) == pytest.approx(np.full((4, 2), where.largest / 4), abs=0.06)
    assert corners.sum(axis=0) == pytest.approx([0, 0], abs=0.2)


@pytest.mark.parametrize(
    ("tasks", "cores", "share"), [(0, 1, 0.5), (3, 1, 0.75), (12, 1, 1), (90, 1, 1), (12, 4, 0.75)]
)
def test_the_radius_of_a_node_grows_with_tasks_per_core(tasks, cores, share):
    where = mapped(network(), cores=[cores] * 4)
    found = nodes_of(frame(tasks=np.full(4, float(tasks))), where=where)
    assert [number(one.find("circle"), "r") for one in found] == pytest.approx([share * 19] * 4, abs=0.06)
    assert [number(one.find("circle"), "cx", "cy") for one in found] == [list(where.at[node]) for node in range(4)]


@pytest.mark.parametrize(("nodes", "numbered"), [(MOST_NUMBERED, True), (MOST_NUMBERED + 1, False)])
def test_up_to_eighty_nodes_have_their_numbers_if_these_fit(nodes, numbered):
    net = network("torus", nodes, dimensions=(nodes // 3, 3) if nodes % 3 == 0 else (8, nodes // 8))
    for width, fits in ((900.0, True), (200.0, False)):
        found = nodes_of(frame(nodes), net=net, where=mapped(net, width, width))
        words = [one.find("text").text for one in found if one.find("text") is not None]
        assert words == ([str(node) for node in range(nodes)] if numbered and fits else [])
        if numbered and fits:
            # An idle node has room for its number too.
            assert min(number(one.find("circle"), "r") for one in found) >= LEAST_NUMBERED


def test_numbers_are_centred_in_their_nodes_in_contrasting_ink():
    shown = frame(loads={"cpu": np.array([0.0, 4.0, 0.0, 4.0])})
    where = mapped(network())
    for node, one in enumerate(nodes_of(shown, where=where)):
        said, (x, y) = one.find("text"), where.at[node]
        assert (said.text, said.get("text-anchor"), number(said, "x")) == (str(node), "middle", x)
        # Digits are 8 pixels high: the baseline is 4 below the middle.
        assert number(said, "y") == y + 4
        fill = [part / 255 for part in colours.rgb(one.find("circle").get("fill"))]
        assert said.get("fill") == colours.ink_on(fill)
        # The node is wider than its number, which needs no rim.
        assert said.get("stroke") is None


@pytest.mark.parametrize(("load", "rim"), [(0.0, colours.PAPER), (4.0, None)])
def test_a_dark_number_wider_than_its_node_has_a_light_rim_and_a_white_one_has_none(load, rim):
    # 70 nodes have a radius of 7.6, a width of 15.2; two digits take 16.
    net = network("torus", 70, dimensions=(7, 10))
    where = mapped(net, 200.0, 213.0)
    assert 7.5 <= where.largest < 8
    found = nodes_of(frame(70, loads={"weighted": np.full(70, load)}), "weighted", net, where)
    assert {one.find("text").get("stroke") for one in found[10:]} == {rim}
    # One digit fits.
    assert {one.find("text").get("stroke") for one in found[:10]} == {None}


def test_a_number_too_wide_for_a_node_of_few_cores_is_below_it():
    # The radius is 19 / 4 = 4.75: such a node is narrower than a digit with its margin.
    where = mapped(network(), cores=[1, 64, 64, 64])
    small, large, *_ = nodes_of(frame(loads={"cpu": np.full(4, 4.0)}), where=where)
    assert number(small.find("circle"), "r") == pytest.approx(19 / 4, abs=0.06)
    assert DIGIT + 4 > 2 * 19 / 4
    y, size = number(small.find("text"), "y", "font-size")
    # The number begins below the node. A light rim separates it from lines.
    assert y - size >= where.at[0][1] + 19 / 4 - 1.1
    assert (small.find("text").get("fill"), small.find("text").get("stroke")) == (colours.INK, colours.PAPER)
    assert number(large.find("text"), "y") == where.at[1][1] + 4


def arrows(*moves, nodes=4, kind="torus", size=(600.0, 400.0)):
    net = network(kind, nodes)
    return of_class(picture(mapped(net, *size), frame(nodes, moves=moves), net), "move")


def test_arrows_are_thicker_for_more_tasks_up_to_four_pixels():
    widths = [number(arrows(*[decision()] * count)[0].find("path"), "stroke-width") for count in (1, 2, 3, 20)]
    assert widths == sorted(set(widths))
    assert widths[-1] == 4
    # Each task adds the same width.
    assert widths[1] - widths[0] == pytest.approx(widths[2] - widths[1])


def test_the_title_of_an_arrow_names_its_task_or_their_number():
    (one,) = arrows(decision(task=7, job=3))
    assert one.find("title").text == "task 7 of job 3: node 0 to node 1"
    assert one.get("data-job") == "3"
    # Several tasks: the job of the last one.
    (two,) = arrows(decision(task=7, job=3), decision(task=9, job=4))
    assert (two.find("title").text, two.get("data-job")) == ("2 tasks of job 4: node 0 to node 1", "4")


def test_if_there_are_too_many_arrows_those_of_most_tasks_are_drawn():
    ways = [(one, other) for one in range(10) for other in range(10) if one != other][: MOST_ARROWS + 1]
    moves = [decision(*way) for way in ways for _ in range(1 if way == ways[0] else 2)]
    found = [tuple(map(int, numbers(one.find("title").text)[-2:])) for one in arrows(*moves, nodes=10, kind="complete")]
    assert sorted(found) == ways[1:]


@pytest.mark.parametrize(("source", "target", "way"), [
    (0, 1, (1, 0)), (1, 0, (-1, 0)), (0, 2, (0, 1)), (2, 0, (0, -1)),
])  # fmt: skip
def test_the_head_of_an_arrow_is_at_its_end_and_points_forward(source, target, way):
    (one,) = arrows(decision(source, target))
    end = pairs(one.find("path").get("d"))[-1]
    tip, *base = np.array(pairs(one.find("polygon").get("points")))
    assert tuple(tip) == end
    # Both corners are 8 pixels from the tip, symmetric about the line.
    back = tip - sum(base) / 2
    assert back / np.hypot(*back) == pytest.approx(np.array(way), abs=0.02)
    assert [math.dist(tip, corner) for corner in base] == pytest.approx([8, 8], abs=0.1)
    assert 4 < math.dist(*base) < 8


def test_arrows_of_both_directions_are_at_their_right_of_the_link():
    to, fro = (pairs(one.find("path").get("d")) for one in arrows(decision(0, 1), decision(1, 0)))
    # Seen along an arrow to the right, its right hand side is below, at a larger y.
    link = 24.0
    assert {y for _, y in to} == {link + 2.5}
    assert {y for _, y in fro} == {link - 2.5}
