"""Every mark of the page's drawings: shape, place, size, stroke, colour and letters, as one line of text each."""

from __future__ import annotations

import base64
import io
import math

import numpy as np
import pytest
from drawn import colour_at, decision, frame, mapped, network, of_class, pairs, read, run_of
from matplotlib.image import imread

from cluster_abm.model.observing.watching import JobLife
from cluster_abm.results.load_scale import LoadScale, SeenLoads
from viz import charts, colours
from viz.charts import Line
from viz.colours import INDICES
from viz.network import draw, legend
from viz.panels import panels

NAMED = {getattr(colours, name): name for name in ("INK", "PAPER", "FAINT", "LINE", "LINK", "MOVE", "DOWN", "RIM")}
# What other tests are about: meanings, for mouse, keyboard and clicks.
UNTOLD = ("data-tip", "data-key", "data-job", "data-node", "tabindex", "aria-label", "href")


def marks(element):
    """Each mark below an element: `circle 24,24 r 19, fill PAPER, stroke DOWN 2` or `text 27,4 "moved" 11 middle`."""
    found = []
    for one in element.iter():
        if one.tag in ("circle", "rect", "path", "polygon", "text", "image"):
            found.append(_told(one))
    return found


def _told(one):
    given = {key: NAMED.get(value, value) for key, value in one.attrib.items() if key not in UNTOLD}
    place = [given.pop(key, None) for key in ("x", "y")] if one.tag != "circle" else [given.pop("cx"), given.pop("cy")]
    words = [one.tag, *([",".join(place)] if place[0] is not None else [])]
    words += [f"{given.pop('width')}x{given.pop('height')}"] if "width" in given else []
    words += [given.pop(key) for key in ("d", "points") if key in given]
    words += [f'"{one.text}"'] if one.tag == "text" and one.text else []
    words += [f"{key} {value}" for key, value in given.items()]
    return " ".join(words)


def drawn_map():
    """Four nodes of one core in 200 x 340 pixels: node 1 with 12 tasks, node 3 out of order, a task that has moved."""
    net = network()
    shown = frame(
        tasks=np.array([0.0, 12.0, 0.0, 0.0]), up=np.array([True, True, True, False]), moves=(decision(0, 1),),
        loads={name: np.array([0.0, 4.0, 0.0, 0.0]) for name in INDICES},
    )  # fmt: skip
    return read(draw(mapped(net, 200.0, 340.0), shown, net, INDICES["cpu"], LoadScale(4.0), "a network"))


def test_marks_of_a_map():
    # Margins of 14 pixels; above the lower one a legend of two lines of 24: nodes are at 14 and 186, 14 and 278.
    # The radius of the largest node is two pixels less than the margin; an idle node has room for its number, 7.5.
    found = [one for one in marks(drawn_map()) if " 7x8 " not in one]
    number = "fill #000000 text-anchor middle font-size 11"
    assert found[:10] == [
        "path M14 14L14 278M14 14L186 14M186 14L186 278M14 278L186 278 stroke LINK stroke-opacity 1.00 fill none",
        # An arrow keeps two pixels from the rims, 2.5 beside the link: 14 + 7.5 + 2 and 186 - 12 - 2. One task is 1.7
        # wide. Corners of the head: 8 cos 0.4 = 7.4 behind the tip and 8 sin 0.4 = 3.1 beside it.
        "path M23.5 16.5L172.0 16.5 fill none stroke-width 1.7 stroke-linejoin round",
        "polygon 172.0,16.5 164.6,19.6 164.6,13.4 stroke none",
        "circle 14,14 r 7.5 fill #eef1f3 stroke RIM stroke-width 1", f'text 14,18 "0" {number}',
        "circle 186,14 r 12 fill #6b8e23 stroke RIM stroke-width 1", f'text 186,18 "1" {number}',
        "circle 14,278 r 7.5 fill #eef1f3 stroke RIM stroke-width 1", f'text 14,282 "2" {number}',
        "circle 186,278 r 7.5 fill PAPER stroke DOWN stroke-width 2",
    ]  # fmt: skip
    # A cross reaches half of the radius to each side.
    assert found[10] == "path M182.2 274.2L189.8 281.8M182.2 281.8L189.8 274.2 stroke DOWN stroke-width 2"


def test_arrows_shine_through_and_letters_of_a_legend_are_faint():
    groups = [one.attrib for one in drawn_map().iter("g")]
    assert groups[0] == {"stroke": colours.MOVE, "stroke-opacity": "0.75", "fill": colours.MOVE}
    classes = ["move", "node", "node", "node", "node out", "legend"]
    assert [one["class"] for one in groups if "class" in one] == classes
    assert groups[-2] == {"font-size": "11", "fill": colours.FAINT, "class": "legend"}


def test_arrows_of_more_tasks_are_half_a_pixel_wider_each():
    widths = []
    for count in (1, 2, 5, 6):
        picture = draw(mapped(network()), frame(moves=(decision(0, 1),) * count), network(), INDICES["cpu"],
                       LoadScale(4.0), "")  # fmt: skip
        widths += [one.find("path").get("stroke-width") for one in of_class(read(picture), "move")]
    assert widths == ["1.7", "2.2", "3.7", "4"]


def test_marks_of_a_legend_in_one_line():
    where = mapped(network("star", 6))
    found = marks(read(legend(where, INDICES["cpu"], LoadScale(2.0), False)))
    # The line is 24 pixels high, its middle two pixels above its own: 400 - 12 - 2 = 386.
    # Steps of 7 pixels from 8 on, above their numbers.
    assert [one.partition(" fill")[0] for one in found[:24]] == [f"rect {8 + 7 * step},377 7x8" for step in range(24)]
    # Ticks of 3 pixels at the ends, 2 and 0, and at the root of a half, 1. A digit is 6.6 wide: 3.3 to the left.
    assert found[24:30] == [
        "path M176.0 385.0v3 stroke FAINT", 'text 172.7,397 "2 tasks"', "path M8.0 385.0v3 stroke FAINT",
        'text 8,397 "0"', "path M126.8 385.0v3 stroke FAINT", 'text 123.5,397 "1"',
    ]  # fmt: skip
    # "2 tasks" ends at 172.7 + 7 x 6.6 = 218.9; 26 pixels on, at 244.9, the rest begins.
    assert found[30:] == [
        "circle 248.9,386 r 3.5 fill #cfd6db stroke RIM", "circle 260.9,386 r 7 fill #cfd6db stroke RIM",
        'text 271.9,390 "more tasks"', "path M342 386h18 stroke MOVE stroke-width 2",
        "polygon 366,386 358,382 358,390 fill MOVE", 'text 370.9,390 "moved"',
        # Another 174 pixels on the switch, and 60 more the node that is out.
        "rect 418.9,382 8x8 rx 2 fill #7b8790", 'text 431.9,390 "switch"',
        "circle 484.9,386 r 5.5 fill PAPER stroke DOWN stroke-width 1.5",
        "path M482.3 383.4L487.5 388.6M482.3 388.6L487.5 383.4 stroke DOWN stroke-width 1.5", 'text 494.9,390 "out"',
    ]  # fmt: skip


def test_marks_of_a_legend_of_classes_in_two_lines():
    found = marks(read(legend(mapped(network(), 300.0), INDICES["class"], LoadScale(2.0), True)))
    assert found == [
        # Squares of 11 pixels, 15 to their word, whose letters are 6.4 wide, and 9 to the next one: 8 + 24 + 4 x 6.4.
        "rect 8,357 11x11 fill #eef1f3 stroke RIM", 'text 23,366 "idle"',
        "rect 57.6,357 11x11 fill #a6cee3 stroke RIM", 'text 72.6,366 "low"',
        "rect 100.8,357 11x11 fill #e6ab02 stroke RIM", 'text 115.8,366 "normal"',
        "rect 163.2,357 11x11 fill #d55e00 stroke RIM", 'text 178.2,366 "high"',
        # The second line begins at 8 again, 24 pixels lower.
        "circle 12,386 r 3.5 fill #cfd6db stroke RIM", "circle 24,386 r 7 fill #cfd6db stroke RIM",
        'text 35,390 "more tasks"', "path M105 386h18 stroke MOVE stroke-width 2",
        "polygon 129,386 121,382 121,390 fill MOVE", 'text 134,390 "moved"',
    ]  # fmt: skip


def test_marks_of_a_chart_of_lines():
    lines = [Line("A", "#ff0000", False, [1.0, 1.0]), Line("BC", "#0000ff", True, [2.0, 2.0], 2.6)]
    # The margins are 40 left, 8 right, 25 above and 18 below: values are between 25 and 125, times between 40 and 340.
    assert marks(read(charts.lines("t", [0.0, 1.0], lines, 348.0, 143.0))) == [
        'text 0,12 "t" font-size 12 fill INK',
        # Numbers end 5 pixels left of the axis, and stand at their line's height: half of a digit below it.
        "path M40 125.0H340 stroke LINE", 'text 35,128.5 "0" text-anchor end font-size 11',
        "path M40 75.0H340 stroke LINE", 'text 35,78.5 "1" text-anchor end font-size 11',
        "path M40 25.0H340 stroke LINE", 'text 35,28.5 "2" text-anchor end font-size 11',
        "path M40.0 125.0v3 stroke FAINT", 'text 40,139 "0 s" text-anchor start font-size 11',
        "path M190.0 125.0v3 stroke FAINT", 'text 190,139 "0.5 s" text-anchor middle font-size 11',
        "path M340.0 125.0v3 stroke FAINT", 'text 340,139 "1 s" text-anchor end font-size 11',
        "path M40.0 75.0L340.0 75.0 fill none stroke #ff0000 stroke-width 1.8",
        "path M40.0 25.0L340.0 25.0 fill none stroke #0000ff stroke-width 2.6 stroke-dasharray 5 3",
        # Names from the right end, 6.6 pixels a letter; 18 before each its sample of 14, and 8 between two.
        'text 326.8,12 "BC" font-size 11',
        "path M309 8.5h14 fill none stroke #0000ff stroke-width 2.6 stroke-dasharray 4 2",
        'text 294.2,12 "A" font-size 11', "path M276 8.5h14 fill none stroke #ff0000 stroke-width 1.8",
    ]  # fmt: skip


@pytest.mark.parametrize(("x", "anchor"), [
    # Within 20 pixels of an end of the axis a time begins or ends at its mark: 60 and 320 are not.
    (19.9, "start"), (20.0, "middle"), (280.0, "middle"), (280.1, "end"),
])  # fmt: skip
def test_times_near_the_ends_stay_within_the_chart(x, anchor):
    # An axis of 300 pixels, from just before a round time to 300 s later: a pixel is a second.
    first = 1000.0 - x
    found = marks(read(charts.lines("t", [first, first + 300.0], [], 348.0, 143.0)))
    (told,) = [one for one in found if '"1,000 s"' in one]
    assert f"text-anchor {anchor}" in told


def test_marks_of_a_heat_map():
    picture = charts.heat_map("loads", [0.0, 10.0], np.zeros((2, 3)), INDICES["cpu"], LoadScale(2.0), 348.0, 138.0)
    group = next(read(picture).iter("g"))
    assert group.attrib == {"fill": colours.FAINT}
    assert marks(group)[:6] == [
        'text 0,12 "loads" font-size 12 fill INK',
        "image 40,20 300x100 preserveAspectRatio none style image-rendering:pixelated",
        "rect 40,20 300x100 fill none stroke LINE",
        # The last node above, the first one below, the word in the middle; all end 5 pixels left of the axis.
        'text 35,29 "2" text-anchor end font-size 11', 'text 35,120 "0" text-anchor end font-size 11',
        'text 35,73 "node" text-anchor end font-size 11',
    ]  # fmt: skip


def test_marks_of_a_life():
    picture = read(charts.life(JobLife(3, "running", 2, 1, (0, 4), {"cpu": 100.0, "io": 300.0}), 160.0))
    assert next(picture.iter("svg")).get("viewBox") == "0 0 160 40"
    assert marks(picture) == [
        "rect 0,0 40x18 fill #6B8E23", "rect 40,0 120x18 fill #6A62CF",
        # Squares of 10 pixels beside their words, 14 on; letters are 6 wide, and 12 are between a word and a square.
        "rect 0,25 10x10 fill #6A62CF", 'text 14,34 "I/O 75 %" font-size 11',
        "rect 74,25 10x10 fill #6B8E23", 'text 88,34 "CPU 25 %" font-size 11',
    ]  # fmt: skip


def arrows(net, *moves, size=(600.0, 400.0)):
    shown = frame(net.nodes, moves=[decision(*ends) for ends in moves])
    return of_class(read(draw(mapped(net, *size), shown, net, INDICES["cpu"], LoadScale(4.0), "")), "move")


def test_an_arrow_is_round_where_its_way_has_a_corner():
    # From node 0, at 24, 24, down to node 2, at 352, and right to node 3, at 576. On the right of its way, outside the
    # corner, it is 2.5 pixels beside the links; from 36 pixels before the corner to 36 behind it is round. Rims are
    # 9.5 pixels from the middle of idle nodes, with a gap of 2.
    (one,) = arrows(network(), (0, 3))
    assert marks(one) == [
        "path M21.5 35.5L21.5 318.5Q21.5 354.5 57.5 354.5L564.5 354.5 fill none stroke-width 1.7 stroke-linejoin round",
        "polygon 564.5,354.5 557.1,357.6 557.1,351.4 stroke none",
    ]


def test_the_head_of_a_slanting_arrow_points_along_it():
    net = network("complete", 4)
    (one,) = arrows(net, (0, 1))
    before, end = (np.array(at) for at in pairs(one.find("path").get("d")))
    tip, *base = np.array(pairs(one.find("polygon").get("points")))
    assert tip == pytest.approx(end)
    along = (end - before) / math.dist(end, before)
    for corner, side in zip(base, (-0.4, 0.4), strict=True):
        # 8 pixels back, turned by 0.4 radians to one side and to the other.
        turned = np.array([[math.cos(side), -math.sin(side)], [math.sin(side), math.cos(side)]]) @ along
        assert corner == pytest.approx(tip - 8 * turned, abs=0.11)


def test_eighty_arrows_are_drawn_and_not_one_more():
    ways = [(one, other) for one in range(10) for other in range(10) if one != other]
    assert [len(arrows(network("complete", 10), *ways[:count])) for count in (79, 80, 81)] == [79, 80, 80]


@pytest.mark.parametrize(("nodes", "dimensions", "numbers"), [(80, (8, 10), 80), (81, (9, 9), 0)])
def test_eighty_nodes_have_numbers_and_81_have_none(nodes, dimensions, numbers):
    net = network("torus", nodes, dimensions=dimensions)
    picture = read(draw(mapped(net), frame(nodes), net, INDICES["cpu"], LoadScale(4.0), ""))
    assert sum(one.find("text") is not None for one in of_class(picture, "node")) == numbers


@pytest.mark.parametrize(("nodes", "largest"), [
    # Up to 64 nodes of a complete network are a ring, on which each has 3.14 x 440 / 64 = 21.6 pixels; 65 are a grid,
    # where each has a square of side 52.8, and the largest radius there is.
    (64, 0.42 * math.pi * 440 / 64), (65, 19.0),
])  # fmt: skip
def test_the_last_ring(nodes, largest):
    assert mapped(network("complete", nodes)).largest == pytest.approx(largest)


def node_numbers(net, where, load=4.0):
    shown = frame(net.nodes, loads={name: np.full(net.nodes, load) for name in INDICES})
    picture = read(draw(where, shown, net, INDICES["cpu"], LoadScale(4.0), ""))
    return [one.find("text") for one in of_class(picture, "node")]


def test_the_number_of_a_node_of_few_cores_is_below_it_if_it_is_wider():
    net = network("torus", 12, dimensions=(4, 3))
    # Radii of 19 times the root of 3/16 and 5/23: 8.2 and 8.9, so 16.5 and 17.7 wide. With 4 pixels of margin a digit
    # takes 10.6 and two take 17.2.
    for few, most, below in ((3, 16, [False, True]), (5, 23, [False, False])):
        where = mapped(net, cores=[most, few, *[most] * 8, most, few])
        first, last = (node_numbers(net, where)[node] for node in (1, 11))
        radius = 19 * math.sqrt(few / most)
        for one, node, is_below in ((first, 1, below[0]), (last, 11, below[1])):
            # Inside, it stands 4 pixels below the middle; outside, 10 below the rim.
            down = radius + 10 if is_below else 4
            assert float(one.get("y")) == pytest.approx(where.at[node][1] + down, abs=0.06)
    # Outside, it has a light rim.
    rim = node_numbers(net, mapped(net, cores=[16] * 11 + [3]))[11].attrib
    assert (rim["stroke"], rim["stroke-width"], rim["paint-order"]) == (colours.PAPER, "2.5", "stroke")


def test_two_cores_are_told():
    net = network()
    picture = read(draw(mapped(net, cores=[2] * 4), frame(), net, INDICES["cpu"], LoadScale(4.0), ""))
    assert of_class(picture, "node")[0].find("title").text == "node 0 of 2 cores: 0 tasks, 0 tasks"


@pytest.mark.parametrize(("full", "words"), [
    # Numbers are 6.6 pixels a digit and 6 apart. From 1,000 to 6,000 there are 168 x 0.78 / 4.78 = 27 pixels, which the
    # halves of both numbers, 33 pixels, do not leave; from 100 to 1,500 there are 6.2 of 16 left.
    (6000.0, ["0", "1", "10", "100", "6,000 tasks"]), (1500.0, ["0", "1", "10", "100", "1,500 tasks"]),
])  # fmt: skip
def test_numbers_that_would_touch_are_left_out(full, words):
    found = read(legend(mapped(network()), INDICES["cpu"], LoadScale(full, 1.0), True)).find("g/g")
    texts = sorted((float(one.get("x")), one.text) for one in found.iter("text"))
    assert [text for _, text in texts] == words
    assert len(found.findall("path")) == len(words)


@pytest.mark.parametrize(("name", "words", "first"), [
    # A cluster in which nothing has happened has a scale up to these; where loads differ by orders of magnitude the
    # first power of ten is not below the last one.
    ("cpu", "2 tasks", 1.0), ("memory", "100 %", 1.0), ("io", "1 s", 0.01), ("weighted", "2 × mean", 0.01),
])  # fmt: skip
def test_the_scale_of_an_idle_cluster(name, words, first):
    index = INDICES[name]
    idle = SeenLoads(index.full, index.low).scale
    found = read(legend(mapped(network()), index, idle, True)).find("g/g")
    assert max((float(one.get("x")), one.text) for one in found.iter("text"))[1] == words
    assert LoadScale(1000.0, index.low).ticks[1] == first


def test_a_high_chart_has_six_numbers_at_most():
    picture = read(charts.lines("t", [0.0, 1.0], [Line("", "#000000", False, [3.0, 3.0])], 348.0, 170.0))
    assert [one.text for one in picture.iter("text") if one.get("x") == "35"] == ["0", "1", "2", "3"]


def test_a_chart_has_a_time_each_ninety_pixels():
    def times(width):
        picture = read(charts.lines("t", [0.0, 3.0], [], width, 143.0))
        return [one.text for one in picture.iter("text") if one.get("y") == "139"]

    assert (times(359.0), times(360.0)) == (["0 s", "2 s"], ["0 s", "1 s", "2 s", "3 s"])


def test_pixels_of_a_heat_map():
    def image(columns, index, scale):
        file = io.BytesIO(base64.b64decode(charts.pixels(np.array(columns), INDICES[index], scale)))
        return (imread(file)[:, :, :3] * 255).round().tolist()

    # Two times, two nodes: node 0 is below. A load of 1 of 2 is at the root of a half.
    found = image([[0.0, 2.0], [1.0, 2.0]], "cpu", LoadScale(2.0))
    wanted = [[colour_at("cpu", 1.0)] * 2, [colour_at("cpu", 0.0), colour_at("cpu", 0.5**0.5)]]
    assert np.array(found) == pytest.approx(np.array(wanted), abs=1.1)
    classes = [list(colours.rgb(colour)) for _, colour in colours.CLASSES]
    assert image([[float(place)] for place in range(4)], "class", LoadScale(3.0)) == [classes]


@pytest.mark.parametrize(("width", "place"), [
    # The first entry takes 14 + 48 pixels and 12 behind them; the second 18 + 48 from 74 on, to 140.
    (140.0, "88,34"), (139.0, "14,50"),
])  # fmt: skip
def test_an_entry_of_a_life_that_does_not_fit_is_in_the_next_line(width, place):
    life = JobLife(3, "running", 2, 1, (0, 4), {"cpu": 0.25, "io": 0.75})
    assert f'text {place} "CPU 25 %" font-size 11' in marks(read(charts.life(life, width)))


def test_lines_of_a_panel():
    run = run_of(frame(now_ms=0.0), frame(now_ms=1000.0, cpu_utilisation=0.5, disk_utilisation=1.0))
    html = dict(map(tuple, panels([run], "cpu", "")))
    busy = list(read(html["lines"]).iter("svg"))[1]
    strokes = {one.get("stroke"): one.get("stroke-width") for one in busy.iter("path") if one.get("stroke-width")}
    assert strokes == {colours.CPU: "1.2", colours.DISK: "2.6"}
    # Shares are of 100 %.
    assert [one.text for one in busy.iter("text") if one.get("x") == "35"] == ["0", "50", "100"]
    titles = read(html["map0"]).find("h2").attrib, read(html["talk"]).find("h2").attrib
    assert [(one["tabindex"], bool(one["data-tip"])) for one in titles] == [("0", True)] * 2
    # A click on a decision picks its job.
    assert next(read(html["talk"]).iter("table")).get("data-picks") == "1"
