"""The notebooks of the tutorials run, and what they print is what the site shows."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "tutorials").glob("*.ipynb"))


@pytest.fixture(scope="module")
def render():
    spec = importlib.util.spec_from_file_location("render", DOCS / "render.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_site_knows_the_language_of_a_notebook(path):
    # Without it the site is built with a warning for each cell, and code has no colours.
    assert nbformat.read(path, as_version=4).metadata["language_info"]["pygments_lexer"] == "ipython3"


@pytest.fixture
def one_processor():
    """What a notebook starts has one processor: its runs are short, and processes of their own import for longer."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    # Notebooks that are carried out side by side have one each.
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    os.sched_setaffinity(0, {sorted(before)[int(worker) % len(before)]})
    yield
    os.sched_setaffinity(0, before)


@pytest.mark.slow
@pytest.mark.long
# The kernel's own libraries, and what they import.
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_the_site_shows(path, render, warm, one_processor, tmp_path, monkeypatch):
    # What carrying it out sets is as before afterwards.
    for name in ("PATH", "COLUMNS", "NO_COLOR", "PYTHONPATH"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    shown = render.texts(nbformat.read(path, as_version=4))
    assert any(shown), "rendered without its outputs: python docs/render.py"
    commands = tmp_path / "bin"
    commands.mkdir()
    warm.python(commands / "cluster-abm", DOCS.parent / "cluster_abm" / "__main__.py")
    assert render.texts(render.carried_out(path, tmp_path, commands=commands)) == shown
