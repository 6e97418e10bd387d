"""A guided scene in an HTML file: steps by buttons and keys, what they show, answers, and texts that are texts."""

import json
import re

import pytest
from small_scene import small

from cluster_abm import load_scenario
from cluster_abm.scenes import html_of_scene, make_scene, scene_names
from cluster_abm.scenes.numbers import amount, duration, moment
from viz.server.files import file_of


@pytest.fixture
def tab(show, scene_file):
    opened = show(scene_file, viewport={"width": 1280, "height": 720})
    opened.frame()
    return opened


def guide(tab):
    tab.frame()
    return tab.page.get_by_role("region", name="Guided scene").inner_text()


def test_texts_are_texts(tab):
    assert "A small scene <b>" in guide(tab)
    assert "</script>" in guide(tab)
    assert small().shown["steps"][0]["text"] in guide(tab)


def test_next_goes_to_the_moment_and_the_selection(tab):
    step = small().shown["steps"][1]
    tab.button("Next").click()
    assert step["text"] in guide(tab)
    assert "Step 2 of 3" in guide(tab)
    assert tab.time_s == pytest.approx(step["at_s"], abs=1e-6)
    assert tab.run("[p.view.from, p.view.to]") == pytest.approx([10_000, 40_000])
    row = int(re.search(r"sel=b:move(\d+)", step["address"])[1])
    assert tab.run("p.view.selection") == {"run": 1, "kind": "decision", "id": row}
    # The panel beside it says the same numbers, found by itself.
    saves = re.search(r"saves (.+?);", step["text"])[1]
    assert f"saves {saves}" in tab.why
    assert f"costs {step['text'].split(', ')[2]}" in tab.why


def test_what_was_changed_meanwhile_is_brought_back(tab):
    tab.button("Next").click()
    tab.run("p.view.select({run: 0, kind: 'node', id: 1}, 50000)")
    tab.button("Show the step again").click()
    assert tab.time_s == pytest.approx(small().shown["steps"][1]["at_s"], abs=1e-6)
    assert tab.run("p.view.selection.kind") == "decision"


def test_two_keys_lead_through_it_and_show_the_answer(tab):
    tab.page.keyboard.press("PageDown")
    assert "Because of" not in guide(tab)
    tab.page.keyboard.press("PageDown")
    assert small().shown["steps"][1]["answer"] in guide(tab)
    assert "Step 2 of 3" in guide(tab)
    tab.page.keyboard.press("PageDown")
    assert "Step 3 of 3" in guide(tab)
    assert tab.run("p.view.selection") == {"run": 0, "kind": "node", "id": 3}
    tab.page.keyboard.press("PageDown")
    assert "Step 3 of 3" in guide(tab)
    tab.page.keyboard.press("PageUp")
    assert "Step 2 of 3" in guide(tab)
    assert "Because of" not in guide(tab)


def test_it_plays_to_a_time_and_stops_there(tab):
    tab.page.keyboard.press("PageDown")
    tab.page.keyboard.press("PageDown")
    tab.page.keyboard.press("PageDown")
    tab.button("Play to 32 s").click()
    tab.until("!p.view.playing && p.view.time >= 32000")
    assert tab.time_s == 32.0


def test_the_address_keeps_the_step(tab):
    """With what was changed meanwhile; a step alone brings what it shows."""
    tab.button("Next").click()
    tab.run("p.view.select({run: 0, kind: 'node', id: 1}, 50000)")
    tab.until("location.hash.includes('step=2') && location.hash.includes('t=50&')")
    tab.page.reload()
    tab.loaded()
    assert "Step 2 of 3" in guide(tab)
    assert small().shown["steps"][1]["text"] in guide(tab)
    assert tab.time_s == 50.0
    assert tab.run("p.view.selection") == {"run": 0, "kind": "node", "id": 1}
    tab.page.evaluate("location.hash = '#step=3'")
    tab.until("p.view.selection?.id === 3")
    assert "Step 3 of 3" in guide(tab)
    assert tab.time_s == 30.0
    tab.page.evaluate("location.hash = '#t=31&step=99'")
    tab.until("p.view.time === 31000")
    assert "Step 3 of 3" in guide(tab)


def test_a_file_of_other_runs_says_so(show, tmp_path):
    """As the page's download has them after a setting was changed."""
    note = "not those of the scene any more"
    scenarios = [load_scenario("quickstart")]
    for changed in (False, True):
        path = tmp_path / f"{changed}.html"
        path.write_bytes(file_of("html", scenarios, small().recordings, {**small().shown, "changed": changed}))
        said = guide(show(path))
        assert small().shown["steps"][0]["text"] in said
        assert (note in said) == changed


def test_hidden_it_gives_the_events_their_place(tab):
    assert not tab.page.locator(".events").is_visible()
    tab.button("Hide").click()
    assert tab.page.locator(".events").is_visible()
    tab.button("Show").click()
    assert not tab.page.locator(".events").is_visible()


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_it_fits(show, scene_file, width):
    tab = show(scene_file, viewport={"width": width, "height": 720})
    tab.frame()
    box = tab.page.get_by_role("region", name="Guided scene").bounding_box()
    assert box["y"] < 300
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.button("Next").is_visible()


@pytest.mark.slow
@pytest.mark.parametrize("name", scene_names())
def test_a_shipped_scene_is_whole_on_a_projector(show, tmp_path, name):
    """1280 x 720: each step with its answer is seen without scrolling, and so is what is selected."""
    made = make_scene(name)
    path = tmp_path / "scene.html"
    path.write_text(html_of_scene(made), encoding="utf-8")
    tab = show(path, viewport={"width": 1280, "height": 720})
    for place, step in enumerate(made.shown["steps"]):
        if place:
            tab.button("Next").click()
        if step["answer"]:
            tab.button("Show the answer").click()
        assert step["text"].strip() in guide(tab)
        guided = tab.page.get_by_role("region", name="Guided scene")
        assert guided.evaluate("element => element.scrollHeight <= element.clientHeight + 1"), place
        assert tab.page.locator(".why").bounding_box()["height"] > 150
        assert tab.run("p.view.selection !== null") == ("sel=" in step["address"])
        assert tab.time_s == pytest.approx(step["at_s"], abs=1e-6)


def test_numbers_are_written_as_pythons(tab):
    numbers = [
        0, 0.0004, 0.0049, 0.255, 0.12345, 0.95, 1, 1.005, 2.675, 9.96, 10.25, 33.68, 85.5, 99.49, 99.5, 150.5, 994.9,
        995, 1234.5, 9812, 9949.9, 9950, 12345.678, 599_949, 600_000, 659_700, 723_400, 3_661_000, -1.5, -2500,
    ]  # fmt: skip
    # The file's script has its modules as constants.
    written = tab.page.evaluate(
        "numbers => numbers.map(n => [m_words.duration(n), m_words.moment(n), m_words.plain(n)])", numbers
    )
    assert written == json.loads(json.dumps([[duration(n), moment(n), amount(n)] for n in numbers]))
