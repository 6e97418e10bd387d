"""The player's modules as one script, and their types."""

import re
import shutil
import subprocess

import pytest
from recorded import calm, eventful

from cluster_abm.recording.html import html_of
from cluster_abm.recording.script import page_script, player_folder, widget_script

MODULES = sorted(player_folder().glob("*.js"))
LONGEST = 360


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_is_short_and_says_what_it_is_for(module):
    text = module.read_text(encoding="utf-8")
    assert text.startswith("/**")
    assert len(text.splitlines()) <= LONGEST
    # Prettier leaves texts whole; paths of icons and rules of style are texts.
    assert max(map(len, text.splitlines())) <= 190 or module.stem in ("style", "dom")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write", "http"):
        assert word not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("script", [page_script, widget_script])
def test_a_script_has_all_modules_that_it_needs_and_no_import(script):
    text = script()
    assert not re.search(r"^import ", text, re.MULTILINE)
    assert text.count("const m_player = ") == 1
    assert "</script" not in text


def test_only_what_the_widget_exports_is_exported():
    assert re.findall(r"^export .*", widget_script(), re.MULTILINE) == ["export default { render: m_widget.render };"]
    assert not re.search(r"^export ", page_script(), re.MULTILINE)


def test_an_html_file_is_small_and_allows_its_own_script_only():
    one, two = html_of([eventful()]), html_of([calm(), eventful()])
    assert len(one) < 400_000
    assert two.count('class="recording"') == 2
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', one)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy


@pytest.mark.slow
def test_types():
    npx = shutil.which("npx")
    if not npx:
        pytest.skip("there is no npx: the types of viz/player are not checked")
    tsc = [npx, "--yes", "--package", "typescript", "tsc"]
    if subprocess.run([*tsc, "--version"], capture_output=True, timeout=240, check=False).returncode:
        pytest.skip("typescript cannot be had: the types of viz/player are not checked")
    found = subprocess.run(
        [*tsc, "--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2022",
         "--lib", "es2022,dom,dom.iterable", *map(str, MODULES),
         *map(str, sorted((MODULES[0].parents[1] / "page").glob("*.js")))],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert found.stdout == ""
