"""Each walk of the player by the keyboard alone; the focus is seen, is not lost, and is caught nowhere."""

import re
from pathlib import Path

import numpy as np
import pytest
from recorded import calm, eventful
from test_walk import look

from cluster_abm.engine.tables import LOST
from cluster_abm.recording.script import player_folder

ROOT = "document.getElementById('player').shadowRoot"


def focused(tab):
    """What has the focus: its class and name, its outline [px], and whether it is in the window."""
    return tab.page.evaluate(f"""(() => {{
        const one = {ROOT}.activeElement;
        if (!one) return null;
        const box = one.getBoundingClientRect(), style = getComputedStyle(one);
        return {{
            name: `${{one.className || one.tagName}} ${{one.getAttribute('aria-label') ?? one.textContent}}`.trim(),
            // What has a canvas has its ring above it.
            ring: parseFloat(one.querySelector(':scope > canvas') ? getComputedStyle(one, '::after').borderTopWidth
                : style.outlineStyle === 'none' ? 0 : style.outlineWidth),
            isSeen: box.bottom > 0 && box.top < innerHeight,
        }};
    }})()""")


def tab_to(tab, name):
    """Press Tab until what has the focus begins with that name."""
    for _ in range(80):
        tab.page.keyboard.press("Tab")
        found = focused(tab)
        if found and found["name"].startswith(name):
            return found
    raise AssertionError(f"Tab does not lead to {name}")


def press(tab, *keys):
    for key in keys:
        tab.page.keyboard.press(key)
    tab.frame()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("remote start", "remote start"),
        ("migration", "migration"),
        ("refused", "refused"),
        ("did not pay", "did not pay"),
    ],
)
@pytest.mark.parametrize("way", ["list", "next"])
def test_a_move_and_all_about_it(show, files, word, said, way):
    tab = show(files / "one.html")
    press(tab, "/")
    tab.page.keyboard.type(word)
    if way == "list":
        press(tab, *["ArrowDown"] * 6, "Enter")
    else:
        tab_to(tab, "chip All")
        press(tab, "n")
    look(tab, said)


def test_a_lost_task_and_the_decision_that_moved_it(show, files):
    tab = show(files / "one.html")
    press(tab, "/")
    tab.page.keyboard.type("lost")
    rows = tab.page.locator(".event")
    tab.frame()
    first = next(at for at in range(rows.count()) if "task" in rows.nth(at).inner_text())
    press(tab, *["ArrowDown"] * (first + 1), "Enter")
    number = tab.run("p.view.recordings[0].taskOf(p.view.selection.id).task")
    tasks = eventful().tables["tasks"].to_pandas().set_index("task")
    assert tasks.loc[number, "outcome"] == LOST
    assert "was lost with" in tab.why
    if tab.page.locator(".why .decision .link").count():
        tab_to(tab, "link ")
        while "ask" not in focused(tab)["name"]:
            press(tab, "Tab")
        press(tab, "Enter")
        look(tab, "lost")


def test_tab_goes_through_all_and_out_again(show, files):
    """Each thing that has the focus is in the window, with a ring around it."""
    tab = show(files / "two.html", "#t=30")
    names = []
    for _ in range(80):
        press(tab, "Tab")
        found = focused(tab)
        if found is None:
            break
        assert found["ring"] >= 2 or found["name"].startswith(("clock", "search", "quantity")), found
        assert found["isSeen"], found
        names.append(found["name"])
    else:
        raise AssertionError(f"Tab does not leave the player: {names}")
    for part in (
        "plain parts First different", "tool In words", "stage Stage of none", "stage Stage of wal-pm",
        "timeline Timeline of none", "timeline Timeline of wal-pm", "quantity", "overview", "body What is selected",
        "search", "chip wal-pm", "chip Migrations", "list Events", "tool play Play", "clock", "speed", "tool Whole run",
    ):  # fmt: skip
        assert any(name.startswith(part) for name in names), part


def test_from_node_to_node_on_the_stage(show, files):
    tab = show(files / "two.html", "#t=30")
    tab_to(tab, "stage Stage of wal-pm")
    boxes = tab.run("p.screen.stages[1].places.boxes.map(one => [one.x, one.y])")
    columns = len({x for x, _ in boxes})
    press(tab, "ArrowRight")
    assert tab.run("[p.view.selection.kind, p.view.selection.id, p.view.time]") == ["node", 0, 30000]
    at = 0
    for key, by in (
        ("ArrowRight", 1),
        ("ArrowDown", columns),
        ("ArrowLeft", -1),
        ("ArrowUp", -columns),
        ("ArrowUp", 0),
    ):
        press(tab, key)
        at += by
        assert tab.run("p.view.selection.id") == at
    press(tab, "PageDown")
    # It is told how many tasks the node has under each policy.
    counts = []
    for recording in (calm(), eventful()):
        segments = recording.segments_frame()
        there = (segments["what"] == "runs") & (segments["from_ms"] <= 30000) & (segments["to_ms"] > 30000)
        counts.append(int((there & (segments["node"] == 1)).sum()))
    said = tab.page.locator("[aria-live=polite]").inner_text()
    assert said.startswith("node 1 at 30.00 s: none: ")
    for name, count in zip(("none", "wal-pm"), counts, strict=True):
        assert f"{name}: {count} task" in said
    press(tab, *["PageDown"] * 20)
    assert tab.run("p.view.selection.id") == 11


def test_from_row_to_row_and_visit_to_visit_on_the_timeline(show, files):
    tab = show(files / "one.html", "#t=20")
    tab_to(tab, "timeline")
    press(tab, "ArrowDown", "ArrowDown", "ArrowDown")
    assert tab.run("[p.view.selection.kind, p.view.selection.id]") == ["node", 2]
    segments = eventful().segments_frame()
    visits = segments[(segments["what"] == "runs") & (segments["node"] == 2)].sort_values("from_ms", kind="stable")
    begins = np.sort(visits["from_ms"].unique())
    press(tab, "ArrowRight")
    assert tab.run("p.view.selection.kind") == "task"
    assert tab.time_s * 1000 == pytest.approx(begins[begins > 20000][0], abs=1e-2)
    one = visits[np.abs(visits["from_ms"] - tab.time_s * 1000) < 0.01]
    assert tab.run("p.view.recordings[0].taskOf(p.view.selection.id).task") in set(one["task"])
    press(tab, "ArrowLeft")
    assert tab.time_s * 1000 == pytest.approx(begins[begins <= 20000][-1], abs=1e-2)
    press(tab, "z")
    ends = visits[np.abs(visits["from_ms"] - tab.time_s * 1000) < 0.01]["to_ms"]
    begin, end = tab.run("[p.view.from, p.view.to]")
    assert begin < tab.time_s * 1000 < end
    assert any(end - begin == pytest.approx(max(1.4 * (to - tab.time_s * 1000), 20), rel=0.01) for to in ends)
    press(tab, "Enter")
    assert tab.run("p.screen.timelines[0].rows.unfolded.has(2)")
    press(tab, "Shift+ArrowRight")
    assert tab.run("p.view.from") > begin


def test_a_click_leaves_the_arrow_keys_to_the_clock(show, files):
    tab = show(files / "one.html", "#t=20")
    tab.page.locator(".stage").click(position={"x": 20, "y": 20})
    press(tab, "ArrowRight")
    assert tab.run("[p.view.selection.kind, p.view.selection.id]") == ["node", 0]
    assert tab.time_s > 20


def test_the_moves_on_the_stage_one_after_the_other(show, files):
    tab = show(files / "two.html", "#t=30")
    tab.frame()
    shown = tab.run(
        "p.screen.stages.flatMap((one, run) => Array.from(one.dots.found.slice(0, one.dots.count), "
        "row => `${run} ${p.view.recordings[run].moves.decision[row]}`))"
    )
    assert len(shown) > 2
    seen = []
    for _ in shown:
        press(tab, "m")
        assert tab.time_s == 30
        seen.append(tab.run("`${p.view.selection.run} ${p.view.selection.id}`"))
    assert sorted(seen) == sorted(shown)
    press(tab, "Home", "Escape")
    press(tab, "m")
    assert tab.page.locator("[aria-live=polite]").inner_text() == "No move is on the stage now."


def test_what_is_pressed_keeps_the_focus(show, files):
    tab = show(files / "one.html", "#t=30")
    tab_to(tab, "chip Migrations")
    press(tab, "Enter")
    assert focused(tab)["name"] == "chip Migrations"
    assert tab.page.locator(".chip[aria-pressed=true]").inner_text() == "Migrations"
    press(tab, "n")
    tab_to(tab, "body What is selected")
    tab_to(tab, "link Job")
    press(tab, "Enter")
    assert tab.run("p.view.selection.kind") == "job"
    assert focused(tab)["name"] == "body What is selected"


def test_sliders_keep_their_own_keys(show, files):
    tab = show(files / "one.html", "#t=30")
    tab_to(tab, "speed")
    press(tab, "End")
    assert tab.run("[p.view.speed, p.view.time]") == [1000, 30000]
    press(tab, "Home")
    assert tab.run("[p.view.speed, p.view.time]") == [0.01, 30000]


def test_the_help_names_each_key(show, scene_file):
    """All keys that the code hears, those of the page's settings, too; the documentation has the same table."""
    tab = show(scene_file)
    told = tab.page.evaluate("m_keys.HELP")
    words = {word.rstrip(",").lower() or "," for keys, *_ in told for word in keys.split()}
    heard = {*tab.run("Object.keys(p.screen.actions)")}
    for file in player_folder().parent.glob("*/*.js"):
        text = file.read_text(encoding="utf-8")
        heard |= {*re.findall(r"\b(?:Arrow|Page)[A-Z]\w+|\bF\d+\b", text), *re.findall(r'\bkey === "(.+?)"', text)}
    assert {"PageUp", "ArrowDown", "F1", "Delete", "Escape", "z", "y", "?"} <= heard
    names = {" ": "Space", "=": "+", "Escape": "Esc"}
    for key in heard:
        name = names.get(key, re.sub("Arrow|shift[+]", "", key)).replace("Page", "Page ")
        assert {*name.lower().split()} <= words, key
    page = Path(__file__).parents[2] / "docs" / "how-to" / "keyboard.md"
    table = page.read_text(encoding="utf-8").split("## All keys")[1]
    assert re.findall(r"^\| (.*?) \| (.*?) \|$", table, re.MULTILINE)[1:] == [(keys, what) for keys, what, *_ in told]
    # A file has neither settings nor detail that can be computed; this one has a scene.
    press(tab, "?")
    shown = tab.page.locator(".help[open] td").all_inner_texts()
    assert shown == [what for _, what, *part in told if part in ([], ["scene"])]


@pytest.mark.parametrize("key", ["?", "w"])
def test_a_dialog_closes_by_its_key_and_by_escape(show, files, key):
    tab = show(files / "one.html", "#t=30&sel=node3")
    for way in (key, "Escape"):
        press(tab, key)
        assert tab.page.get_by_role("dialog").is_visible()
        press(tab, "n")
        press(tab, way)
        assert not tab.page.get_by_role("dialog").is_visible()
    assert tab.run("[p.view.selection.kind, p.view.selection.id]") == ["node", 3]


def test_an_event_is_read_with_its_kind_and_its_place(show, files):
    tab = show(files / "one.html")
    tab.button("Migrations").first.click()
    tab.frame()
    option = tab.page.locator(".event").first
    table = eventful().tables["decisions"].to_pandas()
    moves = table[(table["kind"] == 2) & table["accepted"]]
    first = moves.iloc[0]
    assert tab.page.get_by_role("option", name=f"migration task {first['task']}").count() >= 1
    assert option.get_attribute("aria-posinset") == "1"
    assert option.get_attribute("aria-setsize") == str(len(moves))
    press(tab, "/", "ArrowDown")
    active = tab.page.locator(".search").get_attribute("aria-activedescendant")
    assert tab.page.locator(f"#{active}").get_attribute("aria-selected") == "true"
