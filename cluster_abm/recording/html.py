"""One HTML file with the player and its recordings inside: it opens from disk, without a network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cluster_abm.recording.payload import payload_of
from cluster_abm.recording.recorded_run import RecordedRun
from cluster_abm.recording.script import page_script
from cluster_abm.whole_files import in_one_move

_STYLE = (
    "html,body{margin:0;height:100%}cluster-player{display:block;min-height:100%}"
    "noscript{font:16px sans-serif;padding:2em;display:block}"
)
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<noscript>{title}. This file plays a recorded run; it needs JavaScript.</noscript>
<cluster-player id="player" role="main"{address}></cluster-player>
{recordings}{scene}
<script>{script}</script>
</body>
</html>
"""


def html_of(
    recordings: Sequence[RecordedRun], speed: float | None = None, scene: Mapping[str, Any] | None = None
) -> str:
    """The HTML file of one recording, or of two beside each other on one clock.

    Nothing but the file's own script and style can run or load in it (its content policy has their hashes).

    Args:
        recordings: one or two.
        speed: at which it plays at first [simulated seconds in a second]; None: the player's own.
        scene: what guides through them (scenes.MadeScene.shown); None: nothing does.
    """
    script = page_script()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(_STYLE)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return _PAGE.format(
        policy=policy,
        address="" if speed is None else f' data-address="#speed={speed:.10g}"',
        title=html.escape(scene["title"] if scene else " | ".join(recording.title for recording in recordings)),
        style=_STYLE,
        recordings="\n".join(
            f'<script type="text/plain" class="recording">{base64.b64encode(payload_of(recording)).decode()}</script>'
            for recording in recordings
        ),
        scene="" if scene is None else f'\n<script type="application/json" class="scene">{_in_a_page(scene)}</script>',
        script=script,
    )


def write_html(path: str | Path, recordings: Sequence[RecordedRun], speed: float | None = None) -> None:
    """Write the file of `html_of` in one move. Raises InputError: it cannot be written."""
    text = html_of(recordings, speed)
    with in_one_move(Path(path)) as partial:
        partial.write_text(text, encoding="utf-8")


def _in_a_page(data: Mapping[str, Any]) -> str:
    """JSON that ends no element and begins none, whatever its texts say."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
