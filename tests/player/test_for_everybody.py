"""The player for all eyes and hands: a text beside the canvases, axe, less motion, second signs, sizes, touch."""

import importlib.util
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from recorded import calm, eventful

import cluster_abm as ca
from cluster_abm.recording.html import html_of

ROOT = "document.getElementById('player').shadowRoot"
AXE = importlib.util.find_spec("axe_playwright_python")
# 1600 x 900 at 200 % is a window of 800 x 450.
SIZES = [(320, 640, 1), (390, 844, 2), (700, 900, 1), (800, 450, 2), (1280, 720, 1), (1600, 900, 1), (2560, 1440, 1)]


def mirrored(tab):
    """The texts beside stages, timelines and lines, once they have followed."""
    tab.frame()
    tab.page.wait_for_timeout(500)
    return tab.page.locator("p.mirror").all_inner_texts()


def amount(words):
    return int(words.replace(",", ""))


def there_at(recording, at_ms):
    """Tasks on each node at a moment."""
    segments = recording.segments_frame()
    there = segments[(segments["what"] == "runs") & (segments["from_ms"] <= at_ms) & (segments["to_ms"] > at_ms)]
    return there.groupby("node").size()


def test_the_text_of_a_stage_says_what_is_there(show, files):
    tab = show(files / "two.html", "#t=30")
    texts = mirrored(tab)
    for words, recording, policy in zip(texts, (calm(), eventful()), ("none", "wal-pm"), strict=False):
        tasks = recording.tables["tasks"].to_pandas()
        inside = ((tasks["arrival_ns"] <= 30e9) & ((tasks["finish_ns"] > 30e9) | tasks["is_open"])).sum()
        assert words.startswith(f"At 30.00 s under {policy}: {inside} tasks in the system.")
        counts = there_at(recording, 30e3)
        told = re.findall(r"node (\d+) with (\d+) \(on average ([^)]*)\)", words)
        assert {int(node): int(number) for node, number, _ in told} == counts.nlargest(5).to_dict()
        for _, number, parts in told:
            assert sum(float(one) for one in re.findall(r"([\d.]+) ", parts)) == pytest.approx(int(number), abs=0.4)
        assert f"{len(counts) - 5} more nodes have tasks" in words
        assert f"{12 - len(counts)} nodes have none" in words
    down = re.search(r"Down: ([^.]*)\.", texts[1])[1].split(", ")
    failures = eventful().tables["failures"].to_pandas()
    states = failures[failures["at_ns"] <= 30e9].groupby("node")["what"].last()
    assert down == [f"node {node}" for node in states[states == "node fails"].index]
    moves = re.search(r"Moves under way: (.*?)\. The latest: (.*?)\.( |$)", texts[1])
    shown = tab.run("Array.from(p.screen.stages[1].dots.found.slice(0, p.screen.stages[1].dots.count), "
                    "row => p.view.recordings[1].moves.decision[row])")  # fmt: skip
    chosen = eventful().tables["decisions"].to_pandas().loc[shown]
    assert amount(re.search(r"([\d,]+) migration", moves[1])[1]) == (chosen["accepted"] & (chosen["kind"] == 2)).sum()
    first = chosen.iloc[0]
    assert moves[2].startswith(f"migration of task {first['task']}, node {first['source']} to node {first['target']}")


def test_the_text_of_a_timeline_says_what_its_window_shows(show, files):
    tab = show(files / "one.html", "#t=30&zoom=20-40")
    words = mirrored(tab)[1]
    assert words.startswith("Timeline of wal-pm from 20.00 s to 40.00 s: a row for each of 12 nodes.")
    told = re.findall(r"node (\d+) with (\d+) at ([\d.]+) s", words)
    assert len(told) == 5
    for node, number, at_s in told:
        assert abs(there_at(eventful(), float(at_s) * 1e3 + 5).get(int(node), 0) - int(number)) <= 2
    segments = eventful().segments_frame()
    busiest, most = int(told[0][0]), int(told[0][1])
    visits = segments[(segments["what"] == "runs") & (segments["node"] == busiest)]
    begins = [20e3, *visits["from_ms"][visits["from_ms"].between(20e3, 40e3)]]
    assert most == max(((visits["from_ms"] <= at) & (visits["to_ms"] > at)).sum() for at in begins)
    decisions = eventful().tables["decisions"].to_pandas()
    refused = (decisions["time_ns"].between(20e9, 40e9) & ~decisions["accepted"]).sum()
    assert f"{refused} refusal" in words
    assert "Down: " in words
    assert words.endswith("The clock is at 30.00 s.")


def test_the_text_of_the_lines_says_their_values(show, files):
    tab = show(files / "one.html", "#t=30&zoom=20-40")
    tasks = eventful().tables["tasks"].to_pandas()
    words = mirrored(tab)[2]
    number = ((tasks["arrival_ns"] <= 30e9) & (tasks["finish_ns"] > 30e9)).sum()
    assert words.startswith(f"Tasks in the system, from 20.00 s to 40.00 s. wal-pm: {number} at 30.00 s, least ")
    times, values = tab.run("p.screen.lines.known.get(0).map(one => [Array.from(one.time), Array.from(one.value)])[0]")
    inside = np.array(values)[(np.array(times) >= 20e3) & (np.array(times) <= 40e3)]
    assert [int(one) for one in re.findall(r"(?:least|most) (\d+) at", words)] == [inside.min(), inside.max()]


def test_texts_wait_while_the_clock_runs(show, files):
    """They cost nothing in a frame, and nothing is spoken; they follow when it stops, or when they are asked for."""
    tab = show(files / "two.html", "#t=30")
    before = mirrored(tab)
    tab.page.evaluate(f"""(() => {{
        globalThis.written = 0;
        const seen = new MutationObserver(all => {{ globalThis.written += all.length; }});
        for (const one of {ROOT}.querySelectorAll('.mirror, [aria-live]'))
            seen.observe(one, {{childList: true, characterData: true, subtree: true}});
    }})()""")
    tab.run("p.view.play(true)")
    tab.until("p.view.time > 32000")
    assert tab.page.evaluate("written") == 0
    tab.run("p.view.play(false)")
    after = mirrored(tab)
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert f"At {tab.time_s:,.2f} s" in after[0]


def test_the_texts_are_there_for_all_who_want_them(show, files):
    tab = show(files / "two.html", "#t=30")
    tab.button("In words").click()
    dialog = tab.page.get_by_role("dialog", name="In words")
    said = dialog.inner_text()
    for text in mirrored(tab):
        assert text in said
    cells = [line.split("\t") for line in dialog.locator("table").inner_text().splitlines()]
    counts = there_at(eventful(), 30e3)
    down = {row[0] for row in cells if "down" in row}
    assert {row[0]: row[3] for row in cells[2:] if row[0] not in down} == {
        f"node {node}": str(counts.get(node, 0)) for node in range(12) if f"node {node}" not in down
    }
    assert "Numbers are rounded: times to" in said


def test_the_texts_of_many_nodes_are_bounded(show, tmp_path):
    recording = ca.record("quickstart", "random", seed=1, workload__duration_s=12, cluster__nodes=300)
    (tmp_path / "many.html").write_text(html_of([recording]), encoding="utf-8")
    tab = show(tmp_path / "many.html", "#t=10")
    texts = mirrored(tab)
    assert max(map(len, texts)) < 1500
    tab.page.keyboard.press("w")
    assert tab.page.get_by_role("dialog").locator("tbody tr").count() == 128


@pytest.mark.skipif(AXE is None, reason="needs axe-playwright-python: without it axe's report is not made")
@pytest.mark.parametrize("width", [390, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_of_axe_is_empty(show, files, scheme, width):
    script = Path(AXE.submodule_search_locations[0], "axe.min.js").read_text(encoding="utf-8")
    decisions = eventful().tables["decisions"].to_pandas()
    migrates = decisions.index[(decisions["kind"] == 2) & decisions["accepted"]][5]
    for name, which in (("one", ""), ("two", "b:")):
        how = {"color_scheme": scheme, "bypass_csp": True, "viewport": {"width": width, "height": 900}}
        tab = show(files / f"{name}.html", "#t=30", **how)
        tab.page.evaluate(f"{script}; 0")
        for selection in ("", f"{which}move{migrates}", f"{which}task200", "node10", f"{which}job3", "dialogs"):
            if selection == "dialogs":
                tab.page.keyboard.press("w")
            else:
                tab.page.evaluate(f"location.hash = '#t=30&sel={selection}'")
                tab.until("p.view.selection" if selection else "!p.view.selection")
            tab.frame()
            found = tab.page.evaluate("axe.run(document)")["violations"]
            assert [(one["id"], one["impact"], one["nodes"][0]["target"]) for one in found] == []


@pytest.mark.skipif(AXE is None, reason="needs axe-playwright-python: without it axe's report is not made")
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_of_axe_on_a_scene_is_empty(show, scene_file, scheme, width):
    """A step with a question, its answer closed and open, and the panel folded."""
    script = Path(AXE.submodule_search_locations[0], "axe.min.js").read_text(encoding="utf-8")
    how = {"color_scheme": scheme, "bypass_csp": True, "viewport": {"width": width, "height": 720}}
    tab = show(scene_file, "#step=2", **how)
    tab.page.evaluate(f"{script}; 0")
    for name in ("", "Show the answer", "Hide"):
        if name:
            tab.button(name).click()
        tab.frame()
        found = tab.page.evaluate("axe.run(document)")["violations"]
        assert [(one["id"], one["impact"], one["nodes"][0]["target"]) for one in found] == [], name


def test_with_less_motion_nothing_travels(show, files):
    tab = show(files / "one.html", "#t=29&zoom=20-31&speed=1", reduced_motion="reduce")
    places = "(() => { const d = p.screen.stages[0].dots; return Array.from(d.places.slice(0, 3 * d.placed)); })()"
    tab.run("p.view.play(true)")
    tab.until("p.screen.stages[0].dots.placed > 0")
    seen, windows = {}, set()
    for _ in range(12):
        tab.page.wait_for_timeout(40)
        for row, x, y in np.array(tab.run(places)).reshape(-1, 3):
            assert seen.setdefault(row, (x, y)) == (x, y)
        windows.add(tab.run("p.view.from"))
    assert seen
    tab.until("p.view.time > 31100")
    tab.run("p.view.play(false)")
    # The timeline has turned over once, however fast the machine is, and shows what comes.
    turned = tab.run("p.view.from")
    assert turned > 30000
    assert windows <= {20000, turned}
    assert tab.run("p.view.to - p.view.time") > 8000


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_state_and_each_move_has_a_second_sign(show, files, scheme):
    """Told apart without colours: hatchings of states, marks and dashes of moves."""
    tab = show(files / "one.html", "#t=30", color_scheme=scheme)
    squares = tab.page.evaluate(f"[...{ROOT}.querySelectorAll('.legend .square')].map("
                                "one => getComputedStyle(one).backgroundImage)")  # fmt: skip
    assert len(squares) >= 4
    assert len(set(squares)) == len(squares)
    # A mark as what is drawn in the move's colour, whichever that is.
    marks = tab.page.evaluate(f"""[...{ROOT}.querySelectorAll('.legend .mark')].map(canvas => {{
        const {{data}} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const alike = at => {{
            const [low, high] = [Math.min(...data.slice(at, at + 3)), Math.max(...data.slice(at, at + 3))];
            return data[at + 3] > 128 && high - low > 40;
        }};
        return Array.from({{length: data.length / 4}}, (_, at) => Number(alike(4 * at)));
    }})""")
    assert len(marks) >= 3
    for at, one in enumerate(marks):
        for other in marks[:at]:
            assert np.sum(np.not_equal(one, other)) > 20


def test_bars_are_hatched(show, files):
    segments = eventful().segments_frame().reset_index(drop=True)
    visits = segments[segments["what"] == "runs"]
    waits = visits[
        (visits["io_queue_ms"] > 0.8 * (visits["to_ms"] - visits["from_ms"])) & (visits["io_queue_ms"] > 500)
    ]
    one = waits.iloc[5]
    tab = show(files / "one.html", f"#t={one['from_ms'] / 1e3}&zoom={one['from_ms'] / 1e3}-{one['to_ms'] / 1e3}"
               f"&sel=task{one['task']}", viewport={"width": 1600, "height": 1400})  # fmt: skip
    tab.frame()
    colours = tab.run(f"""(() => {{
        const line = p.screen.timelines[0], lane = line.strips.laneHeights[{one["node"]}];
        const at = line.recording.visits.rows.findIndex(row => line.recording.segments.task[row] ===
            line.recording.taskRow({one["task"]}) && line.recording.segments.node[row] === {one["node"]});
        const y = line.rows.top[{one["node"]}] - line.scroll + (line.lanes.lane[at] + 0.5) * lane + 2;
        const x = ({one["from_ms"]} - line.strips.painted.from) * line.strips.painted.scale + 100;
        const data = line.strips.strip.getContext('2d').getImageData(x, y, 300, 1).data;
        return new Set(Array.from({{length: 300}}, (_, x) => data.slice(4 * x, 4 * x + 3).join())).size;
    }})()""")
    assert colours > 1


@pytest.mark.parametrize(("width", "height", "ratio"), SIZES)
def test_sizes_and_targets(show, files, width, height, ratio):
    """No scrolling sideways, no cut word on a button, and nothing to press that is smaller than 24 pixels."""
    viewport = {"width": width, "height": height}
    tab = show(files / "two.html", "#t=30&sel=b:task200", viewport=viewport, device_scale_factor=ratio)
    tab.frame()
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    wrong = tab.page.evaluate(f"""(() => {{
        const found = [];
        for (const one of {ROOT}.querySelectorAll('button, input, select, [role=option], [role=slider], .legend li')) {{
            const box = one.getBoundingClientRect();
            if (!box.width || one.tagName === 'OPTION') continue;
            const said = `${{one.className || one.tagName}} ${{(one.textContent ?? '').slice(0, 30)}}`;
            if (box.left < -0.5 || box.right > innerWidth + 0.5) found.push(`outside: ${{said}}`);
            if (one.tagName === 'LI') continue;
            if (box.width < 23.9 || box.height < 23.9) found.push(`small: ${{said}} ${{box.width}} x ${{box.height}}`);
            if (one.tagName === 'BUTTON' && one.scrollWidth > one.clientWidth + 1) found.push(`cut: ${{said}}`);
        }}
        const buttons = [...{ROOT}.querySelectorAll('.head button, .bar button, .chip')].map(
            one => one.getBoundingClientRect()).filter(box => box.width);
        buttons.forEach((a, i) => buttons.slice(0, i).forEach(b => {{
            if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
                && innerWidth > 1000) found.push(`overlap at ${{a.left}}, ${{a.top}}`);
        }}));
        return found;
    }})()""")
    assert wrong == []


def tapped_until_selected(tab, node):
    """Tap on a node. On a busy machine the browser may still lay out the page, or take the tap for a long press."""
    for _ in range(5):
        tab.frame()
        boxes = tab.run("p.screen.stages[0].places.boxes.map(b => [b.x, b.y, b.width, b.height])")
        x, y, width, height = boxes[node]
        stage = tab.page.locator(".stage").bounding_box()
        tab.page.touchscreen.tap(stage["x"] + x + width / 2, stage["y"] + y + height - 8)
        with suppress(AssertionError):
            tab.until("p.view.selection", timeout_s=4.0)
            return


def test_by_touch(show, files):
    """A tap selects, one finger pans, two zoom."""
    tab = show(files / "one.html", "#t=30&zoom=20-60", viewport={"width": 1280, "height": 720}, has_touch=True)
    tapped_until_selected(tab, 5)
    assert tab.run("[p.view.selection.kind, p.view.selection.id]") == ["node", 5]
    devtools = tab.page.context.new_cdp_session(tab.page)
    box = tab.page.locator(".timeline").bounding_box()
    middle = box["y"] + box["height"] / 2

    def touch(kind, *places):
        points = [{"x": box["x"] + at, "y": middle, "id": number} for number, at in enumerate(places)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 500)
    for at in (450, 400, 300):
        touch("touchMove", at)
    touch("touchEnd")
    tab.frame()
    span = tab.run("p.view.to - p.view.from")
    plot = tab.run("p.screen.timelines[0].plot")
    assert span == pytest.approx(40000)
    assert tab.run("p.view.from") == pytest.approx(20000 + 200 / plot * span, rel=0.02)
    touch("touchStart", 400, 500)
    touch("touchMove", 350, 550)
    touch("touchMove", 300, 600)
    touch("touchEnd")
    tab.frame()
    assert tab.run("p.view.to - p.view.from") == pytest.approx(span / 3, rel=0.05)
