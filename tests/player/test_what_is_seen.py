"""What one sees and does in the player."""

import re

import numpy as np
import pytest
from recorded import calm, eventful

import cluster_abm as ca
from cluster_abm.formulas.imbalance import load_imbalance_factors
from cluster_abm.recording import Recording
from cluster_abm.recording.html import html_of
from cluster_abm.recording.recording import table_of

SIZES = [(390, 844), (768, 1024), (1280, 720), (1600, 900), (2560, 1440)]
NODES = 400


def test_the_first_different_decision_of_two_policies(show, files):
    tab = show(files / "two.html")
    decisions = eventful().tables["decisions"].to_pandas()
    first_s = decisions[decisions["kind"] > 0]["time_ns"].iloc[0] / 1e9
    tab.button(f"First different decision at {first_s:,.2f} s").click()
    tab.frame()
    assert tab.time_s == pytest.approx(first_s, abs=1e-3)
    assert tab.run("p.view.selection.run") == 1
    assert tab.run("p.screen.stages.map(stage => stage.state.time)") == [first_s * 1000] * 2


def test_two_runs_of_the_same_say_so(show, tmp_path):
    (tmp_path / "same.html").write_text(html_of([eventful(), eventful()]), encoding="utf-8")
    assert "The same decisions in both runs" in show(tmp_path / "same.html").page.locator(".head").inner_text()


def test_keys(show, files):
    tab = show(files / "one.html")
    press = tab.page.keyboard.press
    press("Space")
    tab.until("p.view.time > 50")
    press("Space")
    assert not tab.run("p.view.playing")
    tab.run("p.seek(30000)")
    segments = eventful().tables["segments"].to_pandas()
    times = np.unique(np.concatenate([segments["from_ns"], segments["to_ns"]])) / 1e9
    press("ArrowRight")
    assert tab.time_s == pytest.approx(times[times > 30][0], abs=1e-5)
    press("ArrowLeft")
    press("ArrowLeft")
    assert tab.time_s <= 30
    tab.run("p.seek(30000)")
    press(".")
    assert tab.time_s == pytest.approx(30.01)
    press(",")
    assert tab.time_s == pytest.approx(30)
    press("+")
    assert tab.run("p.view.to - p.view.from") == pytest.approx(tab.run("p.view.end") / 1.6)
    press("Shift+ArrowRight")
    press("0")
    assert tab.run("p.view.to - p.view.from") == tab.run("p.view.end")
    press("End")
    assert tab.run("p.view.time === p.view.end")
    press("Home")
    assert tab.time_s == 0
    # Nothing in an HTML file computes detail.
    tab.run("p.view.window(1000, 2000)")
    press("c")
    tab.frame()
    assert tab.page.locator(".asking").inner_text() == ""
    dark = tab.run("p.screen.palette.dark")
    press("d")
    assert tab.run("p.screen.palette.dark") is not dark
    press("?")
    assert tab.page.get_by_role("dialog").is_visible()
    assert "in detail" not in tab.page.get_by_role("dialog").inner_text()
    press("Escape")
    press("n")
    assert tab.run("p.view.selection.kind") == "decision"
    press("Escape")
    assert tab.run("p.view.selection") is None


def test_the_address_holds_what_is_seen(show, files):
    tab = show(files / "two.html", "#t=20.5&sel=b:task7&zoom=10-30&speed=2")
    assert tab.time_s == 20.5
    assert tab.run("[p.view.from, p.view.to, p.view.speed]") == [10000, 30000, 2]
    assert "Task 7 of job" in tab.why
    tab.run("p.seek(21250)")
    tab.until("location.hash.includes('t=21.25')")
    address = tab.page.evaluate("location.hash")
    assert re.search("sel=b:task7&zoom=10-30&speed=2&run=none.1\\+wal-pm.1", address)
    tab.page.reload()
    tab.loaded()
    assert tab.time_s == 21.25
    assert "Task 7 of job" in tab.why
    tab.page.evaluate("location.hash = '#t=3&sel=node5'")
    tab.until("p.view.time === 3000")
    assert "node 5" in tab.why


def test_an_address_of_nothing_that_is_there_does_nothing(show, files):
    tab = show(files / "one.html", "#t=x&sel=b:move999999&zoom=9-1&speed=-4&%zz")
    assert tab.time_s == 0
    assert tab.run("p.view.selection") is None


def test_a_frame_of_the_nodes_holds_nothing_of_the_one_before(show, files):
    decisions = eventful().tables["decisions"].to_pandas()
    moved = decisions.index[(decisions["kind"] > 0) & (decisions["time_ns"] < 20e9)][0]
    tab = show(files / "one.html", f"#t=40&speed=1&sel=move{moved}")
    stage = "p.screen.stages[0].base.toDataURL()"
    drawn = []
    for time_ms in (40000, 25000, 40000):
        tab.run(f"p.seek({time_ms})")
        tab.frame()
        drawn.append(tab.run(stage))
    assert drawn[0] == drawn[2] != drawn[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_dark_and_light_as_the_system_says(show, files, scheme):
    tab = show(files / "one.html", color_scheme=scheme)
    assert tab.run("p.screen.palette.dark") is (scheme == "dark")


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_it_fits(show, files, width, height):
    tab = show(files / "two.html", viewport={"width": width, "height": height})
    tab.page.keyboard.press("n")
    tab.frame()
    root = "document.getElementById('player').shadowRoot"
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    for part in (".head", ".stage", ".timeline", ".why", ".events", ".bar", ".lines"):
        box = tab.page.evaluate(f"{root}.querySelector('{part}').getBoundingClientRect().toJSON()")
        box = (box["left"], box["right"], box["height"])
        assert box[0] >= 0
        assert box[1] <= width + 0.5
        assert box[2] >= 24
    if width > 1000:
        assert tab.page.evaluate("document.documentElement.scrollHeight") <= height


@pytest.mark.parametrize("speed", [0.01, 1, 100])
def test_a_move_is_seen_for_at_least_four_tenths_of_a_second(show, files, speed):
    tab = show(files / "one.html")
    table = eventful().tables["decisions"].to_pandas()
    for accepted in (True, False):
        moves = table[(table["kind"] == 2) & (table["accepted"] == accepted)]
        at_ms = (moves["leaves_ns"] if accepted else moves["time_ns"]).iloc[3] / 1e6
        row = int(moves.index[3])
        for after_ms, is_seen in ((390 * speed, True), (0.5, True)):
            tab.run(f"(p.set({{speed: {speed}}}), p.seek({at_ms + after_ms}))")
            tab.frame()
            dots = "p.screen.stages[0].dots"
            seen = tab.run(
                f"Array.from({dots}.found.slice(0, {dots}.count), row => p.view.recordings[0].moves.decision[row])"
            )
            assert (row in seen) is is_seen


def test_above_two_hundred_moves_arrows_carry_counts(show, files):
    tab = show(files / "one.html")
    tab.run("(p.set({speed: 1000}), p.seek(60000))")
    tab.frame()
    dots = "p.screen.stages[0].dots"
    count = tab.run(f"{dots}.count")
    table = eventful().tables["decisions"].to_pandas()
    assert count == ((table["kind"] > 0) & (table["time_ns"] <= 60e9)).sum()
    assert count > 200
    assert tab.run(f"{dots}.placed") == 0
    assert tab.run(f"Array.from({dots}.pairs.values()).reduce((sum, one) => sum + one, 0)") == count


def test_each_busy_node_among_many_is_seen_on_the_timeline(show, tmp_path):
    recording = ca.record("quickstart", "none", seed=1, workload__duration_s=20, cluster__nodes=NODES)
    (tmp_path / "many.html").write_text(html_of([recording]), encoding="utf-8")
    tab = show(tmp_path / "many.html")
    segments = recording.segments_frame()
    there = segments[segments["what"] == "runs"]
    time_s = 15.0
    busy = there[(there["from_ms"] < time_s * 1000 - 50) & (there["to_ms"] > time_s * 1000 + 50)]["node"].unique()
    assert 0 < len(busy) < 20
    lines = tab.run(f"""(() => {{
        const line = p.screen.timelines[0];
        const x = Math.round(({time_s * 1000} - line.painted.from) * line.painted.scale);
        const strip = line.strip.getContext("2d").getImageData(x, 0, 1, line.strip.height).data;
        const ground = [...strip.slice(-4)].join();
        const height = line.strip.height;
        return Array.from({{length: height}}, (_, y) => [...strip.slice(4 * y, 4 * y + 4)].join() !== ground);
    }})()""")
    seen = np.flatnonzero(lines)
    rows = np.unique(np.floor(busy * len(lines) / NODES).astype(int))
    assert set(rows) <= set(seen)
    assert all(np.abs(seen[:, None] - rows).min(axis=1) <= 1)


def test_in_a_detailed_window_the_stage_is_exact(show, tmp_path):
    segments = eventful().segments_frame()
    visits = segments[(segments["what"] == "runs") & (segments["to_ms"] > segments["from_ms"])]
    begin = (visits["from_ms"] * 1e6).round().astype(np.int64)
    end = (visits["to_ms"] * 1e6).round().astype(np.int64)
    doing = visits["task"] % 2 * 2 + 1  # even ones have a CPU, odd ones a disk
    detail = table_of(
        "detail", {"task": visits["task"].to_numpy(), "node": visits["node"].to_numpy(), "from_ns": begin.to_numpy(),
                   "to_ns": end.to_numpy(), "doing": doing.to_numpy()},
    )  # fmt: skip
    meta = eventful().meta | {"detail": {"from_ns": 20 * 10**9, "to_ns": 40 * 10**9}}
    (tmp_path / "detail.html").write_text(
        html_of([Recording(meta, eventful().tables | {"detail": detail})]), encoding="utf-8"
    )
    tab = show(tmp_path / "detail.html")
    tab.run("p.seek(30000)")
    tab.frame()
    there = visits[(visits["from_ms"] <= 30000) & (visits["to_ms"] > 30000)]
    for place, odd in ((0, 0), (2, 1)):
        expected = there[there["task"] % 2 == odd].groupby("node").size().reindex(range(12), fill_value=0)
        assert (
            tab.run(f"Array.from({{length: 12}}, (_, node) => p.screen.stages[0].state.share({place}, node))")
            == expected.tolist()
        )
    tab.run("p.seek(41000)")
    tab.frame()
    assert not tab.run("p.screen.stages[0].state.isExact")
    assert "exact from 20.00 s to 40.00 s" in tab.page.locator(".legend").inner_text()


def test_lines_of_two_policies_at_the_pointer(show, files):
    tab = show(files / "two.html")
    tab.page.get_by_label("Quantity of the lines").select_option("Tasks in the system")
    tab.run("p.seek(40000)")
    tab.frame()
    numbers = []
    for recording in (calm(), eventful()):
        tasks = recording.tables["tasks"].to_pandas()
        numbers.append(int(((tasks["arrival_ns"] <= 40e9) & ((tasks["finish_ns"] > 40e9) | tasks["is_open"])).sum()))
    assert tab.page.locator(".values").inner_text().split() == [
        "none",
        str(numbers[0]),
        "wal-pm",
        str(numbers[1]),
        "at",
        "40.00",
        "s",
    ]


def test_a_screen_reader_is_told_what_is_selected(show, files):
    tab = show(files / "one.html")
    tab.page.keyboard.press("n")
    tab.frame()
    said = tab.page.locator("[aria-live=polite]").inner_text()
    assert said.startswith(f"{tab.time_s:.2f} s: ")
    assert "starts on node" in said
    for role, name in (
        ("slider", "Speed"),
        ("slider", "Time in the whole run"),
        ("listbox", "Events"),
        ("button", "Play"),
    ):
        assert tab.page.get_by_role(role, name=name, exact=True).count() == 1


def test_totals_up_to_the_clock_in_a_table(show, files):
    tab = show(files / "two.html", "#t=30")
    rows = [line.split("\t") for line in tab.page.locator(".tally table").inner_text().splitlines()]
    found = {row[0]: row[1:] for row in rows}
    for run, recording in enumerate((calm(), eventful())):
        tasks = recording.tables["tasks"].to_pandas()
        ended = tasks[~tasks["is_open"] & (tasks["finish_ns"] <= 30e9)]
        down = recording.tables["failures"].to_pandas()
        down = down[down["at_ns"] <= 30e9]["what"].value_counts()
        expected = {
            "In the system": int((tasks["arrival_ns"] <= 30e9).sum()) - len(ended),
            "Finished (more is better)": int((ended["outcome"] == 0).sum()),
            "Killed or lost (less is better)": int((ended["outcome"] > 0).sum()),
            "Nodes down": int(down.get("node fails", 0) - down.get("node recovers", 0)),
        }
        assert {name: found[name][run] for name in expected} == {name: f"{n:,}" for name, n in expected.items()}
    tab.page.keyboard.press("Home")
    tab.frame()
    assert "In the system\t0\t0" in tab.page.locator(".tally").inner_text()


def test_messages_are_rows_where_they_are_asked_for(show, tmp_path):
    recording = ca.record("quickstart", "contract-net", seed=1, workload__duration_s=12, cluster__nodes=12)
    table = recording.tables["messages"]
    late = table["heard_ns"].to_numpy().copy()
    late[5] = -1
    table = table.set_column(table.column_names.index("heard_ns"), "heard_ns", [late])
    (tmp_path / "talk.html").write_text(
        html_of([Recording(recording.meta, recording.tables | {"messages": table})]), encoding="utf-8"
    )
    tab = show(tmp_path / "talk.html")
    messages, decisions = table.to_pandas(), recording.tables["decisions"].num_rows
    assert len(messages) > 500
    count = tab.page.locator(".count")
    assert count.inner_text() == f"{decisions:,} of {decisions:,} events"
    tab.button("Messages").click()
    assert count.inner_text() == f"{len(messages):,} of {decisions + len(messages):,} events"
    first = messages.iloc[0]
    row = tab.page.locator(".event").first.inner_text().split()
    assert row == [
        f"{first['sent_ns'] / 1e9:.2f}", "s", str(first["sender"]), "→", str(first["receiver"]), *first["topic"].split()
    ]  # fmt: skip
    search = tab.page.get_by_label("Search events (/)")
    search.fill("messages lost")
    assert tab.page.locator(".event").count() == 1
    assert tab.page.locator(".event").inner_text().endswith(f"{messages['topic'][5]}: lost")
    search.fill("messages award node 3")
    of_node = messages[(messages["topic"] == "award") & ((messages["sender"] == 3) | (messages["receiver"] == 3))]
    assert count.inner_text().startswith(f"{len(of_node):,} of ")
    # A whole list is searched in the time of a key press, and few rows are in the page.
    assert tab.run("(() => { const begun = performance.now(); p.screen.events.filter('messages'); "
                   "return performance.now() - begun; })()") < 200  # fmt: skip
    assert tab.page.locator(".event").count() < 60


@pytest.mark.parametrize("width", [390, 700, 1280])
def test_it_fits_a_column_of_a_wide_window(show, files, width):
    tab = show(files / "two.html", "#t=30")
    tab.page.evaluate(f"document.getElementById('player').style.width = '{width}px'")
    tab.frame()
    boxes = tab.page.evaluate("""[...document.getElementById('player').shadowRoot.querySelectorAll(
        '.head, .stage, .timeline, .why, .events, .bar, .lines, .over, .values, .tally')].map(
        one => [one.className, one.getBoundingClientRect().left, one.getBoundingClientRect().right])""")
    assert len(boxes) == 12
    assert [box for box in boxes if box[1] < 0 or box[2] > width + 0.5] == []


def test_lines_by_hand(show, files):
    tab = show(files / "one.html")
    choose = tab.page.get_by_label("Quantity of the lines").select_option
    loads = eventful().nodes_frame()
    series = "p.screen.lines.known.get({}).map(one => [Array.from(one.time), Array.from(one.value)])[0]"
    choose("Load imbalance (less is better)")
    tab.frame()
    times, values = tab.run(series.format(4))
    assert times == pytest.approx(loads["time_ms"].unique().tolist())
    columns = ["load_cpu_ms", "load_page_ms", "load_io_ms"]
    for value, (_, now) in zip(values, loads.groupby("time_ms"), strict=True):
        assert value == pytest.approx(
            sum(load_imbalance_factors(*(now[name].to_numpy() for name in columns))) / 1e3, rel=1e-3
        )
    choose("Disk work waiting [s]")
    tab.frame()
    _, values = tab.run(series.format(6))
    assert values == pytest.approx((loads.groupby("time_ms")["load_io_ms"].sum() / 1e3).tolist(), rel=1e-3)
    choose("Nodes down")
    tab.frame()
    times, values = tab.run(series.format(7))
    failures = eventful().tables["failures"].to_pandas()
    assert times == pytest.approx((failures["at_ns"] / 1e6).tolist())
    assert values == np.cumsum(np.where(failures["what"] == "node fails", 1, -1)).tolist()
    choose("Disks busy")
    tab.frame()
    _, values = tab.run(series.format(3))
    busy = loads.groupby("time_ms")["disk_busy_ms"].sum()
    expected = 100 * np.diff(busy, prepend=0) / np.diff(busy.index, prepend=0) / 12
    np.testing.assert_allclose(values, expected, atol=0.02)


def test_a_part_of_a_run_says_so_and_is_what_one_sees_first(show, tmp_path):
    part = ca.record("quickstart", "wal-pm", seed=1, workload__duration_s=60, cluster__nodes=12, from_s=20, to_s=40)
    (tmp_path / "part.html").write_text(html_of([part]), encoding="utf-8")
    tab = show(tmp_path / "part.html")
    assert tab.page.locator(".kept").inner_text() == f"Kept: {part.meta['kept']['why']}"
    assert tab.run("[p.view.from, p.view.to, p.view.time]") == [20000, 40000, 20000]
