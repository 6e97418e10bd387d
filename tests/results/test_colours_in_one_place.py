"""Colours stand in looks.py and colours.py alone: no other module names one, nor a map of Matplotlib's."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from matplotlib import colormaps
from matplotlib.colors import CSS4_COLORS, is_color_like

from cluster_abm.recording.script import player_folder
from cluster_abm.results.colours import BREAKDOWN_COLOURS, FAINT, INK, LINE, PAPER, RAMP
from cluster_abm.results.looks import FAMILIES, LOOKS, SPARE_COLOURS

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("looks.py", "colours.py")
# What draws names one of these.
DRAWS = re.compile(r"matplotlib|cluster_abm\.results|colou?r")
# Words of Matplotlib's for a colour, in a call or in a dictionary of keywords.
KEYWORD = re.compile(r"(c|mfc|mec|[a-z]*colou?rs?)")
NO_COLOUR = ("none", "inherit", "auto")


def own_colours(text: str) -> list[str]:
    """Colours and maps that a module's text names.

    A single letter or a grey level ("0.5") counts only where a keyword of a colour has it: elsewhere it is a marker, or
    a number.
    """
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = node.value
            hexadecimal = re.fullmatch(r"#([0-9a-fA-F]{3,4}){1,2}", word)
            if hexadecimal or word in CSS4_COLORS or re.fullmatch(r"C\d+|(tab|xkcd):.+", word):
                found.append(word)
        elif isinstance(node, ast.Call):
            found += [word for keyword in node.keywords for word in _given(keyword.arg, keyword.value)]
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                found += _given(key.value if isinstance(key, ast.Constant) else None, value)
    return found


def _given(keyword: object, value: ast.expr) -> list[str]:
    """What a keyword of a colour or of a map is given as a text."""
    if not isinstance(keyword, str):
        return []
    words = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if keyword == "cmap":
        return [word for word in words if word in colormaps]
    if not KEYWORD.fullmatch(keyword):
        return []
    # Others have been found as what they are.
    return [word for word in words if is_color_like(word) and len(word) < 6 and word not in (*CSS4_COLORS, *NO_COLOUR)]


@pytest.mark.parametrize(("text", "found"), [
    ("a = '#0072B2'", ["#0072B2"]), ("a = 'tab:blue', 'C3'", ["tab:blue", "C3"]), ("f(color='0.5')", ["0.5"]),
    ("f(mfc='k' if x else PAPER)", ["k"]), ("f({'ecolor': 'black'})", ["black"]), ("f(cmap='RdBu_r')", ["RdBu_r"]),
    # A marker, texts of ticks, and no colour at all.
    ("f(marker='k', labels=['0.5'], facecolor='none', color=INK, cmap=shades)", []), ("'''white paper'''", []),
])  # fmt: skip
def test_what_a_module_names(text, found):
    assert own_colours(text) == found


@pytest.mark.slow
def test_no_module_has_colours_of_its_own():
    theirs = {}
    for folder in ("cluster_abm", "scenarios", "viz", "docs"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if path.name not in TABLES and DRAWS.search(text):
                theirs[path.relative_to(ROOT).as_posix()] = own_colours(text)
    assert len(theirs) > 50
    assert {name: found for name, found in theirs.items() if found} == {}


def test_the_player_has_no_colour_of_a_policy_a_state_or_a_load():
    # They come with the recording.
    tables = [colour for colour, _ in (*LOOKS.values(), *FAMILIES.values())]
    ours = {colour.lower() for colour in (*tables, *SPARE_COLOURS, *BREAKDOWN_COLOURS.values(), *RAMP)}
    for path in [*sorted(player_folder().rglob("*.js")), *sorted((ROOT / "viz" / "page").rglob("*.js"))]:
        named = {one.lower() for one in re.findall(r"#[0-9a-fA-F]{6}\b", path.read_text(encoding="utf-8"))}
        assert not named & ours, path.name


def test_the_players_light_ground_is_that_of_figures():
    text = (player_folder() / "colours.js").read_text(encoding="utf-8")
    light = dict(re.findall(r'(\w+): "(#[0-9a-f]{6})"', text.partition("light: {")[2].partition("}")[0]))
    assert {name: light[name] for name in ("ink", "faint", "line", "paper")} == {
        "ink": INK, "faint": FAINT, "line": LINE, "paper": PAPER,
    }  # fmt: skip
