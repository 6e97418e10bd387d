"""`scene`: a guided scene as one HTML file, or the list of the shipped ones."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.listing.lines import echo_entries
from cluster_abm.cli.log_options import FilePath
from cluster_abm.cli.options import interruptible, json_option
from cluster_abm.cli.output import echo, tell
from cluster_abm.cli.shell.names import scenes
from cluster_abm.errors import InputError

if TYPE_CHECKING:
    from cluster_abm.scenes import MadeScene


@click.command("scene", short_help="List guided scenes, or write one as an HTML file.")
@click.argument("scene", required=False, shell_complete=scenes)
@click.option("--out", type=FilePath(), help="Write the scene to this HTML file, which opens from disk, offline.")
@json_option
def scene_command(scene: str | None, out: Path | None, as_json: bool) -> None:
    """List the guided scenes; with SCENE (a shipped name, or a TOML file) and --out write one as an HTML file.

    A scene leads through a run, or through two side by side: steps with a text, a question and its answer. With SCENE
    alone it is carried out and its texts are printed.

    Examples:

    cluster-abm scene hot-spot --out hot-spot.html

    cluster-abm view --scene hot-spot
    """
    if scene is None:
        if out is not None:
            raise InputError(f"--out {str(out)!r}: of which scene? `cluster-abm scene` lists them")
        _list(as_json)
        return
    if out is not None:
        from cluster_abm.whole_files import check_can_be_written

        if out.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"--out {str(out)!r}: a scene is an HTML file: its name has to end in .html")
        check_can_be_written(out, f"--out {str(out)!r}", None)
    with interruptible("the scene was not carried out"):
        made = made_scene(scene)
        if out is not None:
            from cluster_abm.scenes import html_of_scene
            from cluster_abm.whole_files import in_one_move

            with in_one_move(out) as partial:
                partial.write_text(html_of_scene(made), encoding="utf-8")
            tell(f"scene in {out} ({out.stat().st_size / 1e6:.2f} MB)")
    if as_json:
        from cluster_abm.json_text import to_json

        echo(to_json({"name": Path(scene).stem, **made.shown}), nl=False)
    elif out is None:
        _show(made, scene)


def made_scene(source: str) -> MadeScene:
    """A scene with its runs; progress goes to stderr. Raises InputError: the scene is not right."""
    from cluster_abm.progress import Progress
    from cluster_abm.scenes import make_scene

    # Stdout is for results: what a policy prints goes to stderr.
    with Progress(100, f"scene {Path(source).stem}", "%") as bar, redirect_stdout(sys.stderr):
        return make_scene(source, lambda share: bar.reach(int(100 * share)))


def _list(as_json: bool) -> None:
    from cluster_abm.scenes import load_scene, scene_names

    found = [(name, load_scene(name)) for name in scene_names()]
    if as_json:
        from cluster_abm.json_text import to_json

        entries = [
            {"name": name, "title": one.title, "summary": one.summary, "scenario": one.scenario,
             "policies": list(one.policies), "steps": len(one.step), "minutes": round(one.minutes, 1)}
            for name, one in found
        ]  # fmt: skip
        echo(to_json(entries), nl=False)
        return
    echo_entries([(name, f"{one.title}. {one.summary} ({one.minutes:.0f} min)") for name, one in found], 0)
    echo("\ncluster-abm view --scene NAME plays one; cluster-abm scene NAME --out FILE.html writes it as a file.")


def _show(made: MadeScene, given: str) -> None:
    from cluster_abm.cli.listing.lines import echo_text

    echo(f"{made.scene.title} ({made.scene.minutes:.0f} min)")
    for place, step in enumerate(made.shown["steps"]):
        echo(f"\nStep {place + 1}, at {step['at_s']:.2f} s")
        for name in ("text", "question", "answer"):
            if step[name]:
                echo_text(step[name], 2)
    echo(f"\ncluster-abm scene {given} --out FILE.html writes it as a file.")
