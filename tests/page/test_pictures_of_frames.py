"""What frames become: well-formed SVG that says what the frame says."""

import base64
import io
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise

import matplotlib.image
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import busy, scenario

from cluster_abm.results.load_scale import LoadScale, scale_to
from viz import charts, colours, network
from viz.colours import INDICES
from viz.markup import Markup, joined, tag
from viz.panels import panels
from viz.run import MOST_KEPT, WatchedRun


@pytest.fixture(scope="module")
def run():
    found = WatchedRun(scenario(**busy(cluster__nodes=6)), 500.0, 400.0)
    for border in range(1, 40):
        found.advance(100.0 * border)
    return found


def parsed(markup):
    return ET.fromstring(markup)


def drawn(run, frame, index="cpu", full=4.0):
    return parsed(network.draw(run.map, frame, run.model.network, INDICES[index], LoadScale(full), "a network"))


def groups(picture, kind):
    return [one for one in picture.iter("g") if kind in one.get("class", "").split()]


@given(st.text())
def test_nothing_that_goes_in_can_break_out(words):
    element = tag("p", words, title=words)
    assert element.count("<") == 2
    assert not set('<>"') & set(element.removeprefix('<p title="').removesuffix("</p>").replace('">', "", 1))
    assert joined(Markup("<b/>"), "<b/>") == "<b/>&lt;b/&gt;"


def test_a_node_is_drawn_by_its_load_and_tasks(run):
    loads = dict(run.frame.loads) | {"cpu": np.array([0.0, 1.0, 2.0, 3.0, 4.0, 9.0])}
    frame = replace(run.frame, loads=loads, tasks=np.array([0.0, 1, 4, 9, 16, 25]), up=np.array([True] * 5 + [False]))
    nodes = groups(drawn(run, frame), "node")
    circles = [node.find("circle") for node in nodes]
    assert len(nodes) == 6
    assert circles[0].get("fill") == colours.LIGHTEST
    assert circles[4].get("fill") == INDICES["cpu"].colour.lower()
    assert len({circle.get("fill") for circle in circles[:5]}) == 5
    radii = [float(circle.get("r")) for circle in circles[:4]]
    assert radii == sorted(radii)
    assert radii[0] < radii[-1]
    assert "node 3: 9 tasks, 3 tasks" in nodes[3].find("title").text
    assert "out" in nodes[5].get("class")
    assert "out of order" in nodes[5].find("title").text


def test_nodes_of_unlike_cores_are_as_large_as_their_cores_say(run):
    groups_of = [{"count": 2, "cores": 1}, {"count": 2, "cores": 8}, {"count": 2, "cores": 64}]
    unlike = WatchedRun(scenario(**busy(cluster__nodes=6, cluster__group=groups_of)), 500.0, 400.0)
    frame = replace(unlike.frame, tasks=np.array([90.0, 0, 9, 0, 0, 90]))
    picture = drawn(unlike, frame)
    nodes = groups(picture, "node")
    shares = [(float(node.find("circle").get("r")) / unlike.map.largest) ** 2 for node in nodes]
    assert shares == pytest.approx([1 / 16, 1 / 16, 1 / 8, 1 / 8, 1, 1], abs=0.01)
    assert "node 2 of 8 cores: 9 tasks" in nodes[2].find("title").text
    assert "node 0: 90 tasks" in nodes[0].find("title").text
    words = {one.text for one in picture.iter("text")}
    assert "more cores" in words
    assert "more tasks" not in words
    assert "more tasks" in {one.text for one in drawn(run, run.frame).iter("text")}
    # A number that does not fit into its node stands beneath it.
    y = [float(node.find("text").get("y")) - unlike.map.at[place][1] for place, node in enumerate(nodes)]
    assert min(y[:2]) > 10 > 5 > max(y[4:])


def test_nodes_of_eight_cores_each_are_drawn_by_tasks_per_core(run):
    eight = WatchedRun(scenario(**busy(cluster__nodes=6, cluster__cores=8)), 500.0, 400.0)
    tasks = np.array([0.0, 1, 4, 9, 12, 25])
    radii = [
        [float(node.find("circle").get("r")) for node in groups(drawn(one, replace(one.frame, tasks=many)), "node")]
        for one, many in ((run, tasks), (eight, 8 * tasks))
    ]
    assert radii[0] == radii[1]
    found = dict(panels([eight], "cpu", ""))
    assert "CPU: tasks running or ready per core" in found["map0"]
    assert "tasks/core" in found["map0"]
    assert "per core" not in dict(panels([run], "cpu", ""))["map0"]
    assert "per core" not in dict(panels([eight], "io", ""))["map0"]


def test_a_move_is_an_arrow_from_its_source_to_its_target(run):
    moves = [move for frame in run.frames for move in frame.moves]
    picture = drawn(run, replace(run.frame, moves=(moves[0], moves[0])))
    (arrow,) = groups(picture, "move")
    assert "2 tasks" in arrow.find("title").text
    numbers = [float(number) for number in re.findall(r"[\d.]+", arrow.find("path").get("d"))]
    start, end = numbers[:2], numbers[-2:]
    for at, node, other in ((start, moves[0].source, moves[0].target), (end, moves[0].target, moves[0].source)):
        assert math.dist(at, run.map.at[node]) < math.dist(at, run.map.at[other])
    assert not groups(drawn(run, replace(run.frame, moves=())), "move")


@pytest.mark.parametrize(("kind", "passes"), [("complete", False), ("star", True)])
def test_an_arrow_takes_the_way_that_the_task_took(kind, passes):
    run = WatchedRun(scenario(**busy(cluster__nodes=8, interconnect__kind=kind)), 500.0, 500.0)
    while not run.frame.moves:
        run.advance(run.frame.now_ms + 100.0)
    # Neighbours on the ring: its middle is far off.
    there = run.frame.moves[0]._replace(source=2, target=3)
    back = there._replace(source=3, target=2)
    paths = [one.find("path").get("d") for one in groups(drawn(run, replace(run.frame, moves=(there, back))), "move")]
    (to, fro) = ([float(number) for number in re.findall(r"[\d.]+", path)] for path in paths)
    middle = tuple(sum(run.map.at[node][axis] for node in range(8)) / 8 for axis in (0, 1))
    nearest = min(math.dist(at, middle) for at in zip(to[::2], to[1::2], strict=True))
    assert (nearest < 20) == passes
    # Side by side: neither arrow begins where the other one ends.
    assert math.dist(to[:2], fro[-2:]) > 4
    assert math.dist(to[-2:], fro[:2]) > 4


@pytest.mark.parametrize(("tasks", "radius"), [(0, 0.5), (3, 0.75), (12, 1.0)])
def test_an_arrow_ends_at_the_rim_of_its_node(run, tasks, radius):
    moves = [move for frame in run.frames for move in frame.moves]
    move = moves[0]._replace(source=0, target=3)
    picture = drawn(run, replace(run.frame, moves=(move,), tasks=np.full(6, float(tasks))))
    (arrow,) = groups(picture, "move")
    numbers = [float(number) for number in re.findall(r"[\d.]+", arrow.find("path").get("d"))]
    for end, node in ((numbers[:2], 0), (numbers[-2:], 3)):
        assert math.dist(end, run.map.at[node]) == pytest.approx(
            math.hypot(radius * run.map.largest + network.GAP, network.ASIDE), abs=0.2
        )


def test_switches_are_explained_where_there_are_some(run):
    star = WatchedRun(scenario(**busy(cluster__nodes=6, interconnect__kind="star")), 500.0, 400.0)
    words = [{one.text for one in drawn(one, one.frame).iter("text")} for one in (run, star)]
    assert "switch" not in words[0]
    assert "switch" in words[1]


@pytest.mark.parametrize("width", [330.0, 490.0, 1200.0])
@pytest.mark.parametrize(
    "scale", [LoadScale(2000.0), LoadScale(2000.0, 1.0), LoadScale(0.5)], ids=["even", "log", "small"]
)
@pytest.mark.parametrize("index", INDICES)
def test_legends_have_room(index, width, scale):
    """With all that there may be in it: nothing over anything else, and nothing outside the picture."""
    star = WatchedRun(scenario(**busy(cluster__nodes=6, interconnect__kind="star")), width, 310.0)
    frame = replace(star.frame, up=np.array([True] * 5 + [False]))
    kind = colours.index_of(index, per_core=True)
    picture = parsed(network.draw(star.map, frame, star.model.network, kind, scale, ""))
    (legend,) = [one for one in picture.iter("g") if one.get("class") == "legend"]
    words = sorted((float(one.get("y")), float(one.get("x")), one.text) for one in legend.iter("text"))
    for (y, x, text), (other_y, after, _) in pairwise(words):
        assert y != other_y or x + 6.2 * len(text) + 5 <= after, text
    assert all(x + 6.2 * len(text) <= width and 0 <= y <= 310 for y, x, text in words)
    lowest_node = max(float(one.find("circle").get("cy")) + star.map.largest for one in groups(picture, "node"))
    assert lowest_node < min(y for y, _, _ in words) - 11


@pytest.mark.parametrize(
    ("name", "per_core", "unit", "starts"),
    [
        # Whole tasks begin with 1; of the tasks a core a tenth is still seen, where all nodes of a cluster wait little.
        ("cpu", False, "tasks", 1.0), ("cpu", True, "tasks/core", 0.1),
        # Of seconds of disk time three decades are seen; an access takes some milliseconds.
        ("memory", True, "%", 1.0), ("io", True, "s", 0.01),
    ],
)  # fmt: skip
def test_a_logarithmic_scale_begins_where_loads_are_told_apart(name, per_core, unit, starts):
    kind = colours.index_of(name, per_core)
    assert (kind.unit, "per core" in kind.words) == (unit, unit == "tasks/core")
    scale = scale_to(kind.full * 4, True, kind.full, kind.low)
    assert scale.low == starts
    assert 0 < scale.share(starts / 2) < scale.share(starts) < scale.share(2 * starts)


def test_shares_have_no_more_digits_than_mean_something(run):
    other = WatchedRun(scenario(**busy(cluster__nodes=6, policy__name="none")), 500.0, 400.0)
    run_frame, run.frame = run.frame, replace(run.frame, disk_utilisation=0.70601, cpu_utilisation=0.17)
    other.frame = replace(other.frame, disk_utilisation=0.706, cpu_utilisation=0.1769)
    rows = parsed(dict(panels([run, other], "cpu", ""))["numbers"]).findall("tbody/tr")
    run.frame = run_frame
    cells = {row.find("th").text: [cell.text for cell in row.findall("td")] for row in rows}
    assert cells["CPU busy now"] == ["17 %", "17.7 %", "+0.7 %"]
    assert cells["disk busy now"] == ["70.6 %", "70.6 %", "0 %"]


def test_crosses_are_explained_where_there_are_some(run):
    words = [{one.text for one in drawn(run, replace(run.frame, up=np.array(up))).iter("text")}
             for up in ([True] * 6, [True] * 5 + [False])]  # fmt: skip
    assert "out" not in words[0]
    assert "out" in words[1]


@pytest.mark.parametrize("index", INDICES)
def test_every_index_has_its_own_legend_and_all_panels_are_well_formed(run, index):
    run.pick(0)
    found = dict(panels([run], index, ""))
    assert set(found) == {"map0", "numbers", "lines", "heat0", "talk"}
    for name, html in found.items():
        parsed(f"<div>{html}</div>"), name
    assert INDICES[index].words.split(":")[0] in found["map0"]
    assert "job 0: finished" in found["talk"]


def test_two_runs_stand_beside_each_other_with_their_difference(run):
    other = WatchedRun(scenario(**busy(cluster__nodes=6, policy__name="none")), 500.0, 400.0)
    other.advance(3900.0)
    found = dict(panels([run, other], "io", ""))
    assert {"map0", "map1", "heat0", "heat1"} <= set(found)
    rows = parsed(found["numbers"]).findall("tbody/tr")
    cells = {row.find("th").text: [cell.text for cell in row.findall("td")] for row in rows}
    here, there, difference = (int(text) for text in cells["started elsewhere"])
    assert here == run.frame.totals["remote_executions"] > 0
    assert (there, difference) == (0, -here)


def test_what_went_wrong_is_told_as_text():
    ((name, html),) = panels([], "cpu", "<script>alert(1)</script>")
    assert name == "error"
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


@given(st.floats(1e-12, 1e12))
def test_axes_end_a_little_above_the_values(value):
    assert value * (1 - 1e-9) <= charts.round_above(value) <= 2 * value * (1 + 1e-9)


def test_a_heat_map_has_a_pixel_a_node_and_time():
    columns = np.array([[0.0, 2.0], [2.0, 0.0], [1.0, 2.0]])
    file = io.BytesIO(base64.b64decode(charts.pixels(columns, INDICES["cpu"], LoadScale(2.0))))
    image = np.rint(matplotlib.image.imread(file) * 255).astype(int)[:, :, :3]
    assert image.shape[:2] == (2, 3)
    # Node 0 below: its loads over time.
    light, dark = colours.rgb(colours.LIGHTEST), colours.rgb(INDICES["cpu"].colour)
    assert tuple(image[1, 0]) == light
    assert tuple(image[1, 1]) == dark
    assert [tuple(pixel) for pixel in image[0]] == [dark, light, dark]


def test_the_scale_of_a_run_never_goes_back(run):
    mine = WatchedRun(scenario(**busy(cluster__nodes=6)), 500.0, 400.0)
    ends = {name: [] for name in INDICES}
    for border in range(1, 60):
        mine.advance(100.0 * border)
        for name, seen in ends.items():
            seen.append(mine.scale(name).full)
            assert seen[-1] >= mine.frame.loads[name].max() * (1 - 1e-9)
    assert all(seen == sorted(seen) for seen in ends.values())


@pytest.mark.parametrize("index", INDICES)
@given(share=st.floats(0, 1))
def test_numbers_stand_out_from_their_nodes(index, share):
    def light(colour):
        parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2] + 0.05

    fill = [part / 255 for part in colours.shade(INDICES[index], share)]
    ink = [part / 255 for part in colours.rgb(colours.ink_on(fill))]
    assert max(light(fill), light(ink)) / min(light(fill), light(ink)) >= 4.5


@pytest.mark.parametrize("index", INDICES)
def test_shades_get_darker_along_every_scale(index):
    lights = [sum(w * part for w, part in zip((0.21, 0.72, 0.07), colours.shade(INDICES[index], share), strict=True))
              for share in ([0, 1 / 3, 2 / 3, 1] if index == "class" else np.linspace(0, 1, 20))]  # fmt: skip
    assert all(before > after for before, after in pairwise(lights))


@pytest.mark.parametrize(("first", "last"), [(0, 143), (0, 0.07), (3, 3.5), (0, 86_400)])
@pytest.mark.parametrize("most", [2, 4, 9])
def test_times_along_an_axis_are_round_and_inside_it(first, last, most):
    times = charts.round_times(first, last, most)
    assert 1 <= len(times) <= most
    assert first - 1e-9 <= times[0] <= times[-1] <= last + 1e-9
    assert all(len(f"{time:.6g}".strip("0.")) <= 4 for time in times)


@pytest.mark.parametrize("size", [(260.0, 190.0), (330.0, 400.0), (600.0, 200.0), (1000.0, 300.0), (400.0, 60.0)])
def test_negotiations_fit_into_their_room_and_say_why(run, size):
    from viz.talk import HEAD, LINES, negotiations

    table = parsed(f"<div>{negotiations([run], size)}</div>").find("table")
    rows = table.findall("tbody/tr")
    lines = int(table.get("class").removeprefix("lines-"))
    assert len(rows) * LINES[lines - 1] + (HEAD if lines == 1 else 0) <= max(size[1], LINES[lines - 1])
    assert rows
    for row in rows:
        why = next(one for one in row.iter() if one.get("class") == "why")
        assert why.text.strip()
        assert "IOLB Fig. 1" in why.find("span").text
        assert why.text.strip() in row.get("data-tip")
        assert re.match(rf"Task \d+ of job {row.get('data-job')}: ", row.get("data-tip"))
        if lines > 1:
            assert f"job {row.get('data-job')} · " in "".join(row.itertext())


def test_a_map_of_another_size_has_the_same_nodes_in_it(run):
    other = WatchedRun(scenario(**busy(cluster__nodes=6)), 500.0, 400.0)
    before = dict(other.map.at)
    other.resize(1000.0, 800.0)
    assert (other.map.width, other.map.height, other.map.nodes) == (1000.0, 800.0, 6)
    for node, (x, y) in before.items():
        # Margins and legend are as large as before.
        assert (other.map.at[node][0] - 24) / 952 == pytest.approx((x - 24) / 452)
        assert y <= other.map.at[node][1] < 800


def test_of_two_runs_that_end_apart_the_lines_have_one_clock():
    runs = [WatchedRun(scenario(workload__jobs=jobs, workload__duration_s=1.0), 500.0, 400.0) for jobs in (1, 60)]
    clock_ms = 0.0
    while any(run.frame.running for run in runs):
        clock_ms += 500.0
        for run in runs:
            run.advance(clock_ms)
    short, long = runs
    assert short.model.now_ms < long.model.now_ms - 2000
    assert len(short.times_s) == len(long.times_s)
    assert np.abs(np.subtract(short.times_s, long.times_s)).max() <= 0.5
    assert short.series("mean_slowdown")[-1] == short.model.summary()["metrics"]["mean_slowdown"]
    assert not short.frame.moves


def test_what_is_kept_goes_back_to_the_beginning_and_stays_bounded():
    run = WatchedRun(scenario(), 500.0, 400.0)
    for border in range(1, 3 * MOST_KEPT):
        run.advance(10.0 * border)
    times_s = run.times_s
    assert MOST_KEPT / 2 <= len(times_s) <= MOST_KEPT + 1
    assert times_s[0] == 0
    assert times_s[-1] == run.model.now_ms / 1000
    assert len({round(gap, 9) for gap in np.diff(times_s[:-1])}) == 1
