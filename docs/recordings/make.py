"""Make the recordings that the site plays, and the pictures that stand in their place.

    python docs/recordings/make.py             # all
    python docs/recordings/make.py hot-spot    # one

It needs the extra `browser`, and chromium. A recording is the same bytes each time; a test says whether a committed one
is that of today's engine.
"""

from __future__ import annotations

import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import cluster_abm as ca
from cluster_abm.recording import save_recordings
from cluster_abm.recording.html import html_of
from cluster_abm.scenes import make_scene, scene_names

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


class Made(NamedTuple):
    """What recordings are of."""

    scenario: str
    policies: tuple[str, ...]
    at: str  # the address of its picture
    overrides: dict[str, Any]

    def recordings(self) -> list[ca.Recording]:
        """One of each policy, from seed 1."""
        return [ca.record(self.scenario, policy, seed=1, overrides=self.overrides) for policy in self.policies]


RECORDINGS = {"hot-spot": Made("quickstart", ("none", "wal-pm"), "t=150&speed=5", {"workload.duration_s": 200.0})}
SCENES = {f"scene-{name}": name for name in scene_names()}


def recorded(name: str) -> tuple[list[ca.Recording], dict[str, Any] | None]:
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
