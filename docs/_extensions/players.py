"""The directive `player`: a recording in the player, a still picture first, live by a click.

    ```{player} hot-spot
    :at: t=317&sel=node16
    :alt: Tasks on 32 nodes under two policies
    ```

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
from sphinx.util.docutils import SphinxDirective

from cluster_abm.recording import load_recordings
from cluster_abm.recording.html import html_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER, BUILT = "recordings", "_players"
_PLAY = '<p class="play"><a href="{file}#{at}">Play this run</a> {words}</p>'


class PlayerDirective(SphinxDirective):
    """A recording of docs/recordings by its name."""

    required_arguments = 1
    option_spec: ClassVar = {"at": directives.unchanged, "alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """The picture, and the link that plays."""
        name = self.arguments[0]
        source = Path(self.env.srcdir, FOLDER, f"{name}.rec")
        if not source.exists():
            raise self.error(f"player: there is no {FOLDER}/{name}.rec")
        self.env.note_dependency(str(source))
        self.env.metadata[self.env.docname].setdefault("players", []).append(name)
        up = "../" * self.env.docname.count("/")
        picture = nodes.image(uri=f"/{FOLDER}/{name}.png", alt=self.options.get("alt", name))
        link = _PLAY.format(
            file=f"{up}{BUILT}/{name}.html",
            at=html.escape(self.options.get("at", "")),
            words=html.escape("in this page; the run is a recording, and nothing is fetched."),
        )
        return [nodes.container("", picture, nodes.raw("", link, format="html"), classes=["live-player"])]


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
    """The directive, and the files that it plays."""
    app.add_directive("player", PlayerDirective)
    app.connect("build-finished", _build)
    app.add_js_file("players.js")
    return {"parallel_read_safe": True}
