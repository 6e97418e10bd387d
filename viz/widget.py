"""The page as one widget: settings and player in JavaScript; what it shows comes as data, what is done as messages."""

from __future__ import annotations

import anywidget
import traitlets

from cluster_abm.recording.script import desk_script, part_script
from viz.acts import WITHOUT


class PageWidget(anywidget.AnyWidget):
    """What the page shows.

    Attributes:
        lists: what each list offers (controls.lists).
        fields: the controls, with what is wrong with them (controls.fields).
        query: the settings, for the address.
        script: the acts, what is wrong with those that were wanted, and how many scripts the browser has sent:
            {"acts": tables, "error": words, "heard": number}.
        without: the choice of the run beside that has no acts.
        status: runs under way, what went wrong, the offered load.
        recordings: what the player shows, one or two payloads.
        files: what can be downloaded: kind and words.
        stem: what names of files begin with.
        scene: what guides through the runs (scenes.MadeScene.shown); {}: nothing does.
    """

    _esm = desk_script()
    named = traitlets.Unicode("").tag(sync=True)
    lists = traitlets.Dict().tag(sync=True)
    fields: traitlets.List = traitlets.List().tag(sync=True)
    query = traitlets.Unicode("").tag(sync=True)
    script = traitlets.Dict().tag(sync=True)
    without = traitlets.Unicode(WITHOUT).tag(sync=True)
    status = traitlets.Dict().tag(sync=True)
    recordings = traitlets.List(traitlets.Bytes()).tag(sync=True)
    files: traitlets.List = traitlets.List().tag(sync=True)
    stem = traitlets.Unicode("").tag(sync=True)
    scene = traitlets.Dict().tag(sync=True)


class PartWidget(anywidget.AnyWidget):
    """The player, or a part of it, that follows a model.

    Attributes:
        recordings: one payload, or none.
        part: "player", "stage", "timeline" or "decisions".
        words: what is said instead.
    """

    _esm = part_script()
    recordings = traitlets.List(traitlets.Bytes()).tag(sync=True)
    part = traitlets.Unicode("player").tag(sync=True)
    words = traitlets.Unicode("").tag(sync=True)
