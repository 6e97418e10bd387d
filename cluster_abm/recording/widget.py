"""The player as a widget of notebooks; needs the extra `viz`."""

from __future__ import annotations

import anywidget
import traitlets

from cluster_abm.recording.script import widget_script


class PlayerWidget(anywidget.AnyWidget):
    """The player.

    Attributes:
        recordings: payloads, one or two.
        height: of the player, as CSS says it.
        address: what is seen: time, selection, window.
        has_detail: whether messages {"event": "detail", "from_s", "to_s"} are answered: by other recordings of the same
            runs, or by the message {"detail": why there are none}.
    """

    _esm = widget_script()
    recordings = traitlets.List(traitlets.Bytes()).tag(sync=True)
    height = traitlets.Unicode("640px").tag(sync=True)
    has_detail = traitlets.Bool(False).tag(sync=True)
    address = traitlets.Unicode("").tag(sync=True)
