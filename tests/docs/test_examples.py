"""The documentation says nothing that does not work: its commands parse, its Python and its short commands run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from pages import ROOT, all_pages
from warm import Warm

from cluster_abm.cli import cluster_abm

PAGES = {page.name: page for page in all_pages()}
SHOWN = [(name, words) for name, page in PAGES.items() for words in page.commands()]
# Their Python runs in tests of their own, which look at what comes out.
ELSEWHERE = {"docs/compared.md", "docs/how-to/agents.md", "docs/how-to/learning.md", "docs/concepts/talking.md"}
# A measurement of this machine.
LONG = {"docs/validation/index.md"}
WITH_PYTHON = [name for name, page in PAGES.items() if page.blocks("python") and name not in ELSEWHERE | LONG]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "words"), SHOWN, ids=[f"{name}: {' '.join(words)}" for name, words in SHOWN])
def test_every_command_shown_takes_its_options(name, words):
    command, rest = cluster_abm, list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        context = click.Context(command)
        found = command.get_command(context, rest[0])
        assert found is not None, f"{name}: no command {rest[0]}"
        command, rest = found, rest[1:]
    if "--help" not in rest and not isinstance(command, click.Group):
        command.make_context(command.name, rest, resilient_parsing=False)


def test_commands_were_found():
    assert len(SHOWN) >= 80
    assert len(WITH_PYTHON) >= 5


def test_no_line_of_prose_is_beyond_100_columns():
    for name, page in PAGES.items():
        if name.endswith(".md"):
            fenced = False
            for number, line in enumerate(page.text.splitlines(), 1):
                fenced ^= line.lstrip().startswith("```")
                prose = not fenced and not line.startswith(("|", "    ")) and " " in line.strip()
                assert not prose or len(line) <= 100, f"{name}:{number}"


def reader(folder: Path, page_name: str, warm: Warm) -> dict[str, str]:
    """Lay out what a reader of a page has in the current folder; return the environment."""
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    for name, text in (PAGES["README.md"].files() | PAGES[page_name].files()).items():
        (folder / name).write_text(text, encoding="utf-8")
    # Pages call the reader's policy so where it does not matter what it does.
    with (folder / "mine.py").open("a", encoding="utf-8") as file:
        file.write(
            '\n\nclass Mine(LightestDisk):\n    name = "mine"\n\n\nclass IfItPays(LightestDisk):\n    name = "pays"\n'
        )
    shim = folder / "bin"
    shim.mkdir()
    warm.python(shim / "cluster-abm", Path(__file__).parent / "shorter.py")
    warm.python(shim / "warm-python")
    path = os.pathsep.join([str(shim), str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"}


# What a reader has, or does, otherwise: the extras are installed, and other machines are not at hand.
NOT_HERE = ("python3 -m venv", "pip install", ".venv/bin/", "dask ", "ssh ", "sphinx-build", "python scenarios/", "rm ")
SHOWN_WHOLE = [name for name in PAGES if name.endswith(".md") and name not in LONG]


def carried_out(words, folder, environment):
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{words[-1]}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in SHOWN_WHOLE if name in WITH_PYTHON or PAGES[name].commands()])
def test_what_a_page_shows_runs(name, tmp_path, warm):
    """Its commands, in order, then its Python, each block a script; with fewer seeds, and without what needs a log,
    other machines, a browser or an hour: see shorter.py."""
    environment = reader(tmp_path, name, warm)
    for block in PAGES[name].shell():
        lines = [line for line in block.splitlines() if not line.startswith(NOT_HERE) and "~/" not in line]
        if any(line.startswith(("cluster-abm ", "printf ", "cat >")) for line in lines):
            carried_out(["bash", "-euc", "\n".join(lines)], tmp_path, environment)
    for number, block in enumerate(PAGES[name].blocks("python") if name in WITH_PYTHON else ()):
        script = tmp_path / f"example_{number}.py"
        script.write_text(block, encoding="utf-8")
        carried_out([tmp_path / "bin" / "warm-python", script.name], tmp_path, environment)
