"""The five scenes: short enough for a lesson, no number of their own, and their pages up to date."""

import re
import sys
from pathlib import Path

import pytest

import cluster_abm
from cluster_abm.scenario.shipped import shipped_path
from cluster_abm.scenes import html_of_scene, load_scene, make_scene, scene_names

DOCS = Path(cluster_abm.__file__).parents[1] / "docs"
# The longest that a scene may take [min], and the largest file [bytes].
LONGEST_MIN, LARGEST = 10, 1_600_000
NUMBER_WORDS = re.compile(
    r"\b(three|four|five|six|seven|eight|nine|eleven|twelve|hundred|thousand)\w*\b", re.IGNORECASE
)


@pytest.mark.parametrize("name", scene_names())
def test_a_scene_takes_at_most_ten_minutes_and_asks(name):
    scene = load_scene(name)
    assert scene.minutes <= LONGEST_MIN
    assert 5 <= len(scene.step) <= 8
    assert any(step.question for step in scene.step)


@pytest.mark.parametrize("name", scene_names())
def test_every_number_in_a_text_is_a_placeholder_or_names_what_a_step_selects(name):
    scene = load_scene(name)
    selected = " ".join(step.select or "" for step in scene.step)
    own = set(re.findall(r"(?:node|task|job) \d+", selected)) | {f"node {act.node}" for act in scene.script}
    for step in scene.step:
        for text in filter(None, (step.text, step.question, step.answer)):
            left = re.sub(r"\{[^{}]*\}", "", text)
            for named in own:
                left = re.sub(rf"\b{named}\b", "", left, flags=re.IGNORECASE)
            assert not re.search(r"\d", left), left
            assert not NUMBER_WORDS.search(left), left


def test_migrations_are_shown_with_iolb_pm_or_wal_pm():
    shown = {name: set(load_scene(name).policies) & {"iolb-pm", "wal-pm"} for name in scene_names()}
    assert [name for name, policies in shown.items() if not policies] == ["herding"]


def test_the_how_to_page_has_the_minutes():
    page = (DOCS / "how-to" / "scenes.md").read_text(encoding="utf-8")
    for name in scene_names():
        assert re.search(rf"^\| \[`{name}`\].* \| {load_scene(name).minutes:.0f} \|$", page, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("name", scene_names())
def test_a_scene_resolves_is_small_and_its_page_is_up_to_date(name):
    sys.path.insert(0, str(DOCS))
    try:
        import scene_pages
    finally:
        sys.path.remove(str(DOCS))
    made = make_scene(shipped_path("scenes", f"{name}.toml"))
    assert len(html_of_scene(made)) < LARGEST
    texts = [step[kind] or "" for step in made.shown["steps"] for kind in ("text", "question", "answer")]
    assert not any("{" in text or "unknown" in text for text in texts)
    page = (DOCS / "scenes" / f"{name}.md").read_text(encoding="utf-8")
    assert page == scene_pages.page_of(name, made), "python docs/scene_pages.py writes it anew"
