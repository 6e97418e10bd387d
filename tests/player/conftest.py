"""HTML files with the player, and tabs of a browser that show them."""

import pytest
from player_tab import PlayerTab
from recorded import calm, eventful
from small_scene import small

from cluster_abm.recording.html import html_of
from cluster_abm.scenes import html_of_scene


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """HTML files of one run, and of two."""
    folder = tmp_path_factory.mktemp("player")
    for name, recordings in (("one", [eventful()]), ("two", [calm(), eventful()])):
        (folder / f"{name}.html").write_text(html_of(recordings), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def scene_file(tmp_path_factory):
    """An HTML file of a guided scene of two runs."""
    path = tmp_path_factory.mktemp("scene") / "scene.html"
    path.write_text(html_of_scene(small()), encoding="utf-8")
    return path


@pytest.fixture
def show(chromium):
    """Open a file in a window of its own; at the end the browser may have said nothing, and asked nobody."""
    tabs = []

    def shown(path, address="", **how):
        context = chromium.new_context(**{"viewport": {"width": 1600, "height": 900}} | how)
        tabs.append(PlayerTab(context, path, address))
        return tabs[-1]

    yield shown
    for tab in tabs:
        said, asked = tab.said, tab.asked
        tab.page.context.close()
        assert said == []
        assert asked == []
