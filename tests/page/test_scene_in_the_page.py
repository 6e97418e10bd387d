"""A guided scene in the page: its steps beside the settings, and what a changed setting does to it."""

from dataclasses import replace

import pytest
from browser import Tab
from command import served
from small_scene import small, write_scene

from cluster_abm import load_scenario
from cluster_abm.scenes.playing import setting_of
from viz.server.computing import Link, scene_of
from viz.server.said import Task
from viz.settings import first_settings
from viz.tasks import policies_of, without_policies


def test_a_file_says_whether_its_runs_are_the_scenes_own(tmp_path):
    setting = setting_of(write_scene(tmp_path))
    scenario = load_scenario(setting.scenario, setting.overrides)
    link = Link(None, scenario, setting.policies, small().shown)
    first = first_settings(scenario, setting.policies)
    for settings, changed in ((first, False), (replace(first, seed=2), True), (replace(first, other=""), True)):
        task = Task(without_policies(settings), policies_of(settings), "html")
        assert scene_of(task, link) == {**small().shown, "changed": changed}
    assert scene_of(task, link._replace(scene={})) is None


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
        file = downloaded(tab, tmp_path)
        tab.page.wait_for_function("location.hash.includes('step=2')")
        tab.page.reload()
        tab.shown("view.selection?.kind === 'decision'")
        assert "Step 2 of 3" in guide.inner_text()
        seed = tab.page.get_by_label("Seed")
        seed.fill("2")
        seed.press("Enter")
        tab.shown("view.recordings[0].header.seed === 2")
        assert tab.until(lambda: "not those of the scene" in guide.inner_text())
        assert "Step 2 of 3" in guide.inner_text()
        assert tab.view("view.time") == pytest.approx(1000 * small().shown["steps"][1]["at_s"])
        tab.press("Next")
        tab.page.wait_for_function("location.hash.includes('step=3')")
        # The entry before: the scene's own runs, and the step that was seen then.
        tab.page.go_back()
        tab.shown("view.recordings[0].header.seed === 1")
        assert tab.until(lambda: "Step 2 of 3" in guide.inner_text())
        tab.page.go_forward()
        tab.shown("view.recordings[0].header.seed === 2")
        tab.press("As the scenario says")
        tab.shown("view.recordings[0].header.seed === 1")
        assert tab.until(lambda: "not those of the scene" not in guide.inner_text())
        assert tab.errors == []
        assert tab.elsewhere == []
        tab.page.goto(f"file://{file}")
        assert small().shown["steps"][0]["text"] in guide.inner_text()
        assert "not those of the scene" not in guide.inner_text()
        context.close()


def downloaded(tab, folder):
    """The HTML file that the page offers."""
    tab.press("Download")
    with tab.page.expect_download() as download:
        tab.page.locator("[data-kind=html]").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path
