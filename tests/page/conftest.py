"""A page served by the command itself, and tabs that show it."""

import pytest
from browser import Tab
from command import fill, served


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder to serve from."""
    folder = tmp_path_factory.mktemp("page")
    fill(folder)
    return folder


@pytest.fixture(scope="session")
def address(folder):
    """Where `cluster-abm view` serves."""
    with served(folder, "--max-tabs", "64") as (_, port):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def open_tab(chromium, address):
    """Open the page in a window of its own of 1280 x 800; at the end nothing may have gone wrong, or elsewhere."""
    tabs, contexts = [], []

    def opened(context=None, query=""):
        if context is None:
            context = chromium.new_context(viewport={"width": 1280, "height": 800})
            contexts.append(context)
        tabs.append(Tab(context, address + (f"/{query}" if query else "")))
        return tabs[-1]

    yield opened
    for tab in tabs:
        assert tab.errors == []
        assert tab.elsewhere == []
    for context in contexts:
        context.close()


@pytest.fixture
def tab(open_tab):
    return open_tab()
