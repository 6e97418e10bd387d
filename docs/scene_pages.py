"""Carry out the guided scenes and write a page of each: docs/scenes/NAME.md.

    python docs/scene_pages.py                 # all
    python docs/scene_pages.py hot-spot        # one

The site shows them as they were written; `tests/scenes/test_shipped_scenes.py` makes them again and compares.
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

from cluster_abm.scenes import MadeScene, make_scene, scene_names

FOLDER = Path(__file__).resolve().parent / "scenes"
WIDTH = 98


def page_of(name: str, made: MadeScene) -> str:
    """The page of a scene, as Markdown."""
    scene, shown = made.scene, made.shown
    runs = " and ".join(f"`{policy}`" for policy in scene.policies)
    parts = [
        f"# {scene.title}",
        _wrapped(scene.summary),
        _wrapped(
            f"About {scene.minutes:.0f} minutes; scenario `{scene.scenario}` under {runs}. Play it in the page, or "
            "write it as one HTML file:"
        ),
        f"```sh\ncluster-abm view --scene {name}\ncluster-abm scene {name} --out {name}.html\n```",
        f"```{{player}} scene-{name}\n:alt: {scene.title}: the runs of the scene, and its first step\n```",
    ]
    for place, step in enumerate(shown["steps"], 1):
        parts += [f"## {place}. At {step['at_s']:.2f} s", _wrapped(step["text"])]
        if step["question"]:
            parts += [f"**{_wrapped(step['question'])}**", f":::{{dropdown}} Answer\n{_wrapped(step['answer'])}\n:::"]
    return "\n\n".join(parts) + "\n"


def _wrapped(text: str) -> str:
    """Its lines as paragraphs; what Markdown would read as marks is left as it is: `fail` and the like are none."""
    paragraphs = [" ".join(line.split()) for line in text.strip().splitlines()]
    return "\n\n".join(
        textwrap.fill(one, WIDTH, break_long_words=False, break_on_hyphens=False) for one in paragraphs if one
    )


def main() -> None:
    """Write the pages of the scenes that are named, or of all."""
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or scene_names():
        (FOLDER / f"{name}.md").write_text(page_of(name, make_scene(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
