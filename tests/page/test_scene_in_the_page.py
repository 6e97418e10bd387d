"""A guided scene in the page: its steps beside the settings, and what a changed setting does to it."""

import pytest
from browser import Tab
from command import served
from small_scene import small, write_scene


@pytest.mark.slow
def test_the_panel_stays_when_a_setting_changes_and_says_so(chromium, tmp_path):
    write_scene(tmp_path)
    with served(tmp_path, scenario="--scene=small.toml") as (_, port):
        context = chromium.new_context(viewport={"width": 1280, "height": 720})
        tab = Tab(context, f"http://127.0.0.1:{port}")
        guide = tab.page.get_by_role("region", name="Guided scene")
        assert small().shown["steps"][0]["text"] in guide.inner_text()
        assert tab.policies == ["none", "wal-pm"]
        tab.page.keyboard.press("PageDown")
        assert small().shown["steps"][1]["text"] in guide.inner_text()
        assert tab.view("view.selection.kind") == "decision"
        assert "not those of the scene" not in guide.inner_text()
        seed = tab.page.get_by_label("Seed")
        seed.fill("2")
        seed.press("Enter")
        tab.shown("view.recordings[0].header.seed === 2")
        assert tab.until(lambda: "not those of the scene" in guide.inner_text())
        assert "Step 2 of 3" in guide.inner_text()
        assert tab.view("view.time") == pytest.approx(1000 * small().shown["steps"][1]["at_s"])
        tab.press("As the scenario says")
        tab.shown("view.recordings[0].header.seed === 1")
        assert tab.until(lambda: "not those of the scene" not in guide.inner_text())
        assert tab.errors == []
        assert tab.elsewhere == []
        context.close()
