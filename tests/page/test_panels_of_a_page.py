"""The panels of a page, from frames made by hand: numbers, three charts, and the size of each panel."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drawn import colour_at, frame, number, numbers, of_class, pairs, read, run_of

from cluster_abm.results.colours import POLICY_COLOURS
from cluster_abm.results.load_scale import LoadScale
from viz import colours
from viz.colours import INDICES
from viz.panels import ALONE, BESIDE, panels, room

NAN = math.nan
# All quantities of this frame differ.
COUNTED = frame(
    now_ms=5000.0, mean_slowdown=2.5, cpu_utilisation=0.25, disk_utilisation=0.5, lif_ms=1500.0,
    jobs={"submitted": 21, "running": 4, "blocked": 3, "finished": 11, "killed": 2, "lost": 1},
    totals={"remote_executions": 12_000, "migrations": 6, "refused_offers": 8, "disk_requests": 99, "page_faults": 40},
    up=np.array([True, False, False, True]),
)  # fmt: skip


def made(*runs, index="cpu", error="", **more):
    return dict(panels(list(runs), index, error, **more))


def rows(*runs):
    table = read(made(*runs)["numbers"])
    return {row.find("th").text: [cell.text for cell in row.findall("td")] for row in table.iter("tr") if row.find("td")
            is not None}  # fmt: skip


def test_each_quantity_is_read_from_its_field_of_the_frame():
    assert rows(run_of(COUNTED)) == {
        "mean slowdown": ["2.5"], "CPU busy now": ["25 %"], "disk busy now": ["50 %"], "load imbalance": ["1.5 s"],
        # Blocked jobs count as running: 4 + 3. Killed and lost jobs are one row: 2 + 1.
        "jobs submitted": ["21"], "jobs running now": ["7"], "jobs finished": ["11"], "killed, lost": ["3"],
        "started elsewhere": ["12,000"], "migrations": ["6"], "refused offers": ["8"], "page faults": ["40"],
        "nodes out now": ["2"],
    }  # fmt: skip


@pytest.mark.parametrize(("slowdown", "text"), [
    (NAN, "–"), (0.0, "0"), (2.0, "2"), (2.34567, "2.35"), (123.456, "123"), (1234.56, "1,235"), (12345.678, "12,346"),
    # Whole numbers are written in full.
    (1_234_567.0, "1,234,567"),
])  # fmt: skip
def test_measures_have_three_digits_or_all_of_their_integer_part(slowdown, text):
    assert rows(run_of(frame(mean_slowdown=slowdown)))["mean slowdown"] == [text]


@pytest.mark.parametrize(("first", "second", "texts"), [
    (2.0, 3.5, ["2", "3.5", "+1.5"]), (3.5, 2.0, ["3.5", "2", "-1.5"]), (2.0, 2.0, ["2", "2", "0"]),
    # A rounding error has no sign.
    (0.3, 0.1 + 0.2, ["0.3", "0.3", "0"]), (0.1 + 0.2, 0.3, ["0.3", "0.3", "0"]),
    (NAN, 2.0, ["–", "2", "–"]), (2.0, NAN, ["2", "–", "–"]),
])  # fmt: skip
def test_the_last_column_is_the_second_minus_the_first(first, second, texts):
    assert rows(*(run_of(frame(mean_slowdown=value)) for value in (first, second)))["mean slowdown"] == texts


@pytest.mark.parametrize(("first", "second", "text"), [
    (0.5, 0.75, "+25 %"), (0.75, 0.5, "-25 %"), (0.5, 0.5001, "0 %"), (0.5001, 0.5, "0 %"),
])  # fmt: skip
def test_a_difference_that_is_rounded_to_0_has_no_sign(first, second, text):
    assert rows(*(run_of(frame(cpu_utilisation=value)) for value in (first, second)))["CPU busy now"][2] == text


def test_heads_name_policies_by_colour_and_letter():
    runs = run_of(frame(now_ms=4000.0), policy="jsq"), run_of(frame(now_ms=9000.0), policy="mlb")
    table = next(read(made(*runs)["numbers"]).iter("table"))
    heads = table.findall("thead/tr/th")
    assert ["".join(one.itertext()) for one in heads] == [
        "So far", "A\N{NO-BREAK SPACE}jsq", "B\N{NO-BREAK SPACE}mlb", "B − A",
    ]  # fmt: skip
    assert [one.find("i").get("style") for one in heads[1:3]] == [
        f"background:{POLICY_COLOURS[name]}" for name in ("jsq", "mlb")
    ]
    # The time is the later one of both runs.
    assert number(table, "data-ms") == 9000
    alone = next(read(made(runs[0])["numbers"]).iter("table")).findall("thead/tr/th")
    assert ["".join(one.itertext()) for one in alone] == ["So far", "jsq"]


def test_all_rows_and_heads_have_a_tip_for_mouse_and_keyboard():
    table = read(made(run_of(COUNTED), run_of(COUNTED))["numbers"])
    heads = [one for one in table.iter("th") if one.find("i") is None]
    assert len(heads) == 13 + 2
    assert all(len(one.get("data-tip")) > 10 and one.get("tabindex") == "0" for one in heads)
    assert len({one.get("data-key") for one in heads}) == 15


@pytest.mark.parametrize(("name", "alone", "beside"), [
    ("map0", ALONE["map"], BESIDE["map"]), ("map1", ALONE["map"], BESIDE["map"]),
    ("heat0", ALONE["heat"], BESIDE["heat"]),
    ("lines", ALONE["lines"], BESIDE["lines"]), ("talk", ALONE["talk"], BESIDE["talk"]),
])  # fmt: skip
def test_the_size_of_a_panel_is_as_measured_or_the_default(name, alone, beside):
    assert (room({}, False, name), room({}, True, name)) == (alone, beside)
    assert room({name: (123.0, 45.0)}, True, name) == (123.0, 45.0)
    assert room({"other": (123.0, 45.0)}, False, name) == alone


def sizes_of(found):
    """Name, width and height of each picture in a panel."""
    return [(one.get("aria-label"), *numbers(one.get("viewBox"))[2:]) for one in read(found).iter("svg")]


def test_pictures_have_the_size_of_their_panel():
    resized = []
    run = run_of(COUNTED, COUNTED)
    run.resize = lambda *size: resized.append(size)
    found = made(run, sizes={"map0": (500.0, 300.0), "heat0": (410.0, 120.0)})
    assert resized == [(500.0, 300.0)]
    assert [size for _, *size in sizes_of(found["heat0"])] == [[410, 120]]


@pytest.mark.parametrize(("size", "across"), [((1000.0, 200.0), True), ((600.0, 200.0), False), ((601.0, 200.0), True)])
def test_charts_are_side_by_side_in_a_panel_more_than_three_times_as_wide_as_high(size, across):
    found = made(run_of(COUNTED, COUNTED), sizes={"lines": size})["lines"]
    (body,) = of_class(read(found), "body")
    assert body.get("class") == f"body {'across' if across else 'down'}"
    pictures = sizes_of(found)
    assert [name for name, *_ in pictures] == ["Mean slowdown", "Busy [%]", "Load imbalance [s]"]
    for _, width, height in pictures:
        # Charts side by side have gaps of 8 pixels.
        assert (width, height) == pytest.approx(
            (size[0] / 3 - 8, size[1]) if across else (size[0], size[1] / 3), abs=0.01
        )


def lines_of(*runs):
    """Lines and names of each chart. A line is (colour, width, whether dashed, values at its points)."""
    charts = []
    for picture in read(made(*runs, sizes={"lines": (348.0, 429.0)})["lines"]).iter("svg"):
        top = max(float(one.text.replace(",", "")) for one in picture.iter("text") if number(one, "x") == 35)
        found = []
        for one in picture.iter("path"):
            if one.get("stroke-width") is None or "h" in one.get("d"):
                continue
            values = [round((125 - y) / 100 * top, 3) for _, y in pairs(one.get("d"))]
            found.append(
                (one.get("stroke"), number(one, "stroke-width"), one.get("stroke-dasharray") is not None, values)
            )
        names = [one.text for one in picture.iter("text") if one.text in ("A", "B", "CPU", "disk")]
        charts.append((found, sorted(names)))
    return charts


EARLY = frame(now_ms=1000.0, mean_slowdown=1.0, cpu_utilisation=0.5, disk_utilisation=0.25, lif_ms=2000.0)
LATE = frame(now_ms=2000.0, mean_slowdown=4.0, cpu_utilisation=1.0, disk_utilisation=0.75, lif_ms=1000.0)


def test_charts_show_slowdown_shares_in_percent_and_imbalance_in_seconds():
    slowdown, busy, imbalance = lines_of(run_of(EARLY, LATE))
    jsq = POLICY_COLOURS["jsq"]
    assert slowdown == ([(jsq, 1.8, False, [1, 4])], [])
    assert imbalance == ([(jsq, 1.8, False, [2, 1])], [])
    (cpu, disk), names = busy
    assert names == ["CPU", "disk"]
    assert (cpu[0], cpu[3], disk[0], disk[3]) == (colours.CPU, [50, 100], colours.DISK, [25, 75])
    # The widths differ, for prints in grey.
    assert cpu[1] < disk[1]


def test_the_second_run_is_dashed_and_a_run_that_ended_has_a_shorter_line():
    slowdown, busy, _ = lines_of(run_of(EARLY, policy="jsq"), run_of(EARLY, LATE, policy="mlb"))
    assert [(ink, dashed, values) for ink, _, dashed, values in slowdown[0]] == [
        (POLICY_COLOURS["jsq"], False, [1]), (POLICY_COLOURS["mlb"], True, [1, 4]),
    ]  # fmt: skip
    assert slowdown[1] == ["A", "B"]
    assert [(ink, dashed) for ink, _, dashed, _ in busy[0]] == [
        (colours.CPU, False), (colours.DISK, False), (colours.CPU, True), (colours.DISK, True),
    ]  # fmt: skip
    # Each quantity has one name for both runs.
    assert busy[1] == ["CPU", "disk"]


@pytest.mark.parametrize(("error", "note", "name", "words"), [
    ("a < b", "", "error", "The run has stopped. a < b"), ("", "c", "note", "The run before was stopped. c"),
    # An error outranks a note.
    ("a", "c", "error", "The run has stopped. a"),
])  # fmt: skip
def test_an_error_or_note_is_the_first_panel(error, note, name, words):
    found = panels([run_of(COUNTED)], "cpu", error, note)
    assert [name for name, _ in found] == [name, "map0", "numbers", "lines", "heat0", "talk"]
    assert "".join(read(found[0][1]).itertext()) == words
    assert [name for name, _ in panels([], "cpu", error, note)] == [name]
    assert panels([], "cpu", "") == []


def test_panels_name_their_run_if_there_are_two():
    runs = run_of(COUNTED, policy="jsq"), run_of(COUNTED, policy="mlb")
    both, alone = made(*runs, index="io"), made(runs[0], index="io")
    title = next(read(both["map1"]).iter("h2"))
    assert title.text == f"B mlb · {INDICES['io'].words}"
    assert title.get("data-tip").startswith(INDICES["io"].tip)
    assert next(read(alone["map0"]).iter("h2")).text == INDICES["io"].words
    assert [name for name, *_ in sizes_of(both["heat1"])] == ["B mlb · I/O of the nodes over time"]
    assert [name for name, *_ in sizes_of(alone["heat0"])] == ["I/O of the nodes over time"]
    assert [name for name, *_ in sizes_of(alone["map0"])] == [f"network, nodes coloured by {INDICES['io'].words}"]


def test_two_runs_share_the_scale_per_core_if_any_run_needs_it():
    load = frame(loads={name: np.full(4, 2.0) for name in INDICES})
    runs = [run_of(load, scale=LoadScale(full)) for full in (2.0, 8.0)]
    for fill_of in (
        {one.get("fill") for node in of_class(read(made(*runs)[name]), "node") for one in node.iter("circle")}
        for name in ("map0", "map1")
    ):
        # 2 of 8, the larger scale: sqrt(2 / 8) = 0.5 of the full colour, in both maps.
        (fill,) = fill_of
        assert colours.rgb(fill) == pytest.approx(colour_at("cpu", 0.5), abs=0.51)
    assert "per core" not in made(*runs)["map0"]
    runs[1].per_core = True
    assert all("tasks running or ready per core" in made(*runs)[name] for name in ("map0", "map1"))


def test_a_heat_map_has_the_times_of_its_run():
    run = run_of(EARLY, LATE, times_s=[0.0, 50.0])
    assert "50 s" in [one.text for one in read(made(run)["heat0"]).iter("text")]
