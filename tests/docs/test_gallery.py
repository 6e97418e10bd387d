"""The gallery's pictures are there and not too heavy, and its scripts' commands parse (test_examples has others)."""

from __future__ import annotations

import re
import runpy
import shlex

import pytest
from pages import ROOT

FOLDER = ROOT / "docs"
TEXT = (FOLDER / "gallery.md").read_text(encoding="utf-8")
PICTURES = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
LINKS = re.findall(r"(?<!!)\[[^\]]+\]\(([^)]+)\)", TEXT)
SCRIPTS = re.findall(r"^python (scenarios/\S+) (.*)$", TEXT, re.MULTILINE)
MOST_KB = 200


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_is_there(name):
    path = FOLDER / name
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size <= 1024 * MOST_KB


def test_every_picture_of_the_gallerys_folder_is_shown():
    assert {f"gallery/{path.name}" for path in (FOLDER / "gallery").iterdir()} <= set(PICTURES)
    assert len(PICTURES) >= 25


def test_every_picture_has_a_command_above_it():
    parts = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
    assert all(part.index("```sh") < part.index("![") for part in parts)


@pytest.mark.parametrize("name", LINKS)
def test_every_link_leads_to_a_page(name):
    assert (FOLDER / name).is_file()


@pytest.mark.parametrize(("script", "rest"), SCRIPTS)
def test_every_scripts_command_takes_its_options(script, rest):
    command = runpy.run_path(str(ROOT / script))["main"]
    assert command.make_context(script, shlex.split(rest)).params["out"].as_posix() == "docs/papers"
