"""The directive `player`: a recording in the player, a still picture first, live by a click.

    ```{player} hot-spot
    :at: t=317&sel=node16
    :alt: Tasks on 32 nodes under two policies
    ```

A notebook's cell whose metadata say `player` (name, at, alt) has the same in place of its output, which only a running
notebook can show.

Recordings, their pictures and, of a guided scene, its steps are committed (docs/recordings, made by its make.py). The
build joins each recording with the player: one HTML file, which fetches nothing. Without JavaScript the picture leads
to that file.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from cluster_abm.recording import load_recordings
from cluster_abm.recording.html import html_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

FOLDER, BUILT = "recordings", "_players"
_PLAY = '<p class="play"><a href="{file}#{at}">Play this run</a> {words}</p>'


def player(env: BuildEnvironment, name: str, at: str = "", alt: str = "") -> nodes.container:
    """The picture of a recording, and the link that plays it. Raises LookupError: there is no such recording."""
    source = Path(env.srcdir, FOLDER, f"{name}.rec")
    if not source.exists():
        raise LookupError(f"player: there is no {FOLDER}/{name}.rec")
    env.note_dependency(str(source))
    env.metadata[env.docname].setdefault("players", []).append(name)
    up = "../" * env.docname.count("/")
    picture = nodes.image(uri=f"/{FOLDER}/{name}.png", alt=alt or name)
    link = _PLAY.format(
        file=f"{up}{BUILT}/{name}.html",
        at=html.escape(at),
        words=html.escape("in this page; the run is a recording, and nothing is fetched from other sites."),
    )
    return nodes.container("", picture, nodes.raw("", link, format="html"), classes=["live-player"])


class PlayerDirective(SphinxDirective):
    """A recording of docs/recordings by its name."""

    required_arguments = 1
    option_spec: ClassVar = {"at": directives.unchanged, "alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The picture, and the link that plays."""
        try:
            return [player(self.env, self.arguments[0], **self.options)]
        except LookupError as problem:
            raise self.error(str(problem)) from None


class PlayersOfNotebooks(SphinxTransform):
    """Below each cell that says `player`, its recording."""

    default_priority = 200  # before pictures are collected

    def apply(self, **_: object) -> None:
        """Add them."""
        for cell in list(self.document.findall(nodes.container)):
            said = (cell.get("cell_metadata") or {}).get("player")
            if said:
                cell.parent.insert(cell.parent.index(cell) + 1, player(self.env, **said))


def _build(app: Sphinx, problem: Exception | None) -> None:
    if problem is not None or app.builder.format != "html":
        return
    for name in sorted({name for of in app.env.metadata.values() for name in of.get("players", ())}):
        folder = Path(app.outdir, BUILT)
        folder.mkdir(exist_ok=True)
        source = Path(app.srcdir, FOLDER, f"{name}.rec")
        guide = source.with_suffix(".json")
        scene = json.loads(guide.read_text(encoding="utf-8")) if guide.exists() else None
        (folder / f"{name}.html").write_text(html_of(load_recordings(source), scene=scene), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """The directive, the players of notebooks, and the files that they play."""
    app.add_directive("player", PlayerDirective)
    app.add_transform(PlayersOfNotebooks)
    app.connect("build-finished", _build)
    app.add_js_file("players.js")
    return {"parallel_read_safe": True}
