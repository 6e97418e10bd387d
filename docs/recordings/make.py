"""Make the recordings that the site plays, and the pictures that stand in their place.

    python docs/recordings/make.py             # all
    python docs/recordings/make.py hot-spot    # one

It needs the extra `browser`, and chromium. A recording is the same bytes each time; a test says whether a committed one
is that of today's engine.
"""

from __future__ import annotations

import ast
import io
import json
import linecache
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import cluster_abm as ca
from cluster_abm.recording import Recording, load_recordings, save_recordings
from cluster_abm.recording.html import html_of
from cluster_abm.scenes import make_scene, scene_names

HERE = Path(__file__).parent
TUTORIALS = HERE.parent / "tutorials"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


class Made(NamedTuple):
    """What recordings are of, and the address of their picture."""

    recordings: Callable[[], list[Recording]]
    at: str


def hot_spot() -> list[Recording]:
    """The first page's: without load balancing, and under wal-pm."""
    overrides = {"workload.duration_s": 200.0}
    return [ca.record("quickstart", policy, seed=1, overrides=overrides) for policy in ("none", "wal-pm")]


def players_of_tutorials() -> dict[str, Made]:
    """The cells of the tutorials that say `player`."""
    found = {}
    for path in sorted(TUTORIALS.glob("*.ipynb")):
        cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
        sources = ["".join(cell["source"]) for cell in cells]
        for cell, source in zip(cells, sources, strict=True):
            said = cell["metadata"].get("player")
            if said:
                made = partial(of_shell, source) if source.startswith("%%bash\n") else partial(of_cell, sources, source)
                found[said["name"]] = Made(made, said["at"])
    return found


def of_cell(sources: list[str], source: str) -> list[Recording]:
    """The recordings that a notebook's cell shows: carried out after the imports and classes of all its cells."""
    python = [ast.parse(one).body for one in sources if not one.startswith("%%")]
    named = [part for body in python for part in body if isinstance(part, ast.Import | ast.ImportFrom | ast.ClassDef)]
    *before, last = ast.parse(source).body
    names: dict[str, Any] = {"__name__": "tutorial"}
    # Policies are compiled from their text.
    text = "\n\n\n".join(ast.unparse(part) for part in [*named, *before])
    linecache.cache["tutorial.py"] = len(text), None, text.splitlines(keepends=True), "tutorial.py"
    exec(compile(text, "tutorial.py", "exec"), names)
    assert isinstance(last, ast.Expr)
    shown = eval(compile(ast.Expression(last.value), "tutorial.py", "eval"), names)
    return list(getattr(shown, "recordings", [shown]))


def of_shell(source: str) -> list[Recording]:
    """The recordings that a notebook's shell cell keeps."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "scenarios").symlink_to(HERE.parents[1] / "scenarios")
        Path(folder, "out").mkdir()
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = os.environ | {"PATH": path, "PYTHONPATH": str(HERE.parents[1])}
        subprocess.run(["bash", "-ec", source.removeprefix("%%bash\n")], cwd=folder, env=environment, check=True)
        (kept,) = Path(folder, "out").glob("*.rec")
        return list(load_recordings(kept))


RECORDINGS = {"hot-spot": Made(hot_spot, "t=150&speed=5"), **players_of_tutorials()}
SCENES = {f"scene-{name}": name for name in scene_names()}


def recorded(name: str) -> tuple[list[Recording], dict[str, Any] | None]:
    """The recordings of a name, and what guides through them, if it is a scene's."""
    if name in SCENES:
        made = make_scene(SCENES[name])
        return list(made.recordings), dict(made.shown)
    return RECORDINGS[name].recordings(), None


def main(names: list[str]) -> None:
    """Make those of these names, or all."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in names or [*RECORDINGS, *SCENES]:
            recordings, scene = recorded(name)
            save_recordings(HERE / f"{name}.rec", recordings)
            if scene is not None:
                (HERE / f"{name}.json").write_text(json.dumps(scene, indent=1) + "\n", encoding="utf-8")
            Path(folder, "run.html").write_text(html_of(recordings, scene=scene), encoding="utf-8")
            at = "" if name in SCENES else f"#{RECORDINGS[name].at}"
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(f"file://{folder}/run.html{at}")
            page.wait_for_timeout(1500)
            shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            small = shown.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
            small.save(HERE / f"{name}.png", optimize=True)
            page.close()
            sizes = [f"{HERE.joinpath(f'{name}.{ending}').stat().st_size / 1000:.0f} kB" for ending in ("rec", "png")]
            print(name, *sizes)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
