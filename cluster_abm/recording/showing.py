"""What a notebook shows of recordings: the player, a picture where none can run, or a frame that plays offline."""

from __future__ import annotations

import html
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.recording.html import html_of
from cluster_abm.recording.on_demand import detailed
from cluster_abm.recording.payload import payload_of
from cluster_abm.recording.recorded_run import RecordedRun
from cluster_abm.recording.still import still_of
from cluster_abm.results.figures.picture import png_of

HEIGHT = 640
Bundle = dict[str, Any]


class Shown:
    """Recordings as a notebook shows them: as the last value of a cell, or with `display`.

    Args:
        recordings: one, or two on one clock.
        height: of the player [pixels].
    """

    def __init__(self, recordings: Sequence[RecordedRun], height: int = HEIGHT) -> None:
        self.recordings, self.height = tuple(recordings), height

    def __repr__(self) -> str:
        return f"<{' beside '.join(one.title for one in self.recordings)}: a notebook shows the player>"

    @cached_property
    def widget(self) -> Any:
        """The player as an anywidget. Raises ImportError: the extra `viz` is not installed."""
        from cluster_abm.recording.widget import PlayerWidget

        payloads = [payload_of(one) for one in self.recordings]
        widget = PlayerWidget(recordings=payloads, height=f"{self.height}px", has_detail=True)
        widget.on_msg(self._answer)
        return widget

    @cached_property
    def picture(self) -> bytes:
        """The picture that stands in its place, as PNG."""
        return png_of(still_of(self.recordings))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> Bundle:
        bundle: Bundle = {"text/plain": repr(self), "image/png": self.picture}
        if _runs_widgets():
            shown = self.widget._repr_mimebundle_()
            bundle |= {kind: data for kind, data in _data_of(shown).items() if kind != "text/plain"}
        return bundle

    def _answer(self, widget: Any, message: object, buffers: object = None) -> None:
        """What the player asks for: {"event": "detail", "from_s": number, "to_s": number}."""
        if not isinstance(message, Mapping) or message.get("event") != "detail":
            return
        span = message.get("from_s"), message.get("to_s")
        if not all(isinstance(time_s, int | float) for time_s in span):
            return
        try:
            widget.recordings = [payload_of(detailed(one, *span)) for one in self.recordings]  # type: ignore[arg-type]
        except InputError as problem:
            widget.send({"detail": "; ".join(problem.problems)})
        except Exception as problem:
            # Nobody sees what is raised here: a policy of one's own may raise anything.
            widget.send({"detail": f"{type(problem).__name__}: {problem}"})


class Embedded(Shown):
    """The player in a frame of its own, in which it plays in exported HTML, too: with nothing else, and offline."""

    def __repr__(self) -> str:
        return f"<{' beside '.join(one.title for one in self.recordings)}: a notebook shows the player in a frame>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> Bundle:
        # In letters of ASCII: its script's hash holds in a page of any encoding.
        text = html.escape(html_of(self.recordings)).encode("ascii", "xmlcharrefreplace").decode()
        # The frame may run its script, and reach nothing of the page around it.
        frame = (
            f'<iframe title="{html.escape(repr(self))}" sandbox="allow-scripts" loading="lazy" allowfullscreen '
            f'style="width:100%;height:{self.height}px;border:0" srcdoc="{text}"></iframe>'
        )
        return {"text/plain": repr(self), "image/png": self.picture, "text/html": frame}


def show(recordings: Sequence[RecordedRun], embed: bool = False, height: int = HEIGHT) -> Shown:
    """One recording, or two on one clock, as a notebook shows it (Recording.show)."""
    return (Embedded if embed else Shown)(recordings, height)


def _runs_widgets() -> bool:
    """Whether this is a notebook's kernel, and the extra `viz` is there."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None and find_spec("anywidget") is not None


def _data_of(shown: Any) -> Mapping[str, Any]:
    data: Mapping[str, Any] = shown[0] if isinstance(shown, tuple) else shown
    return data or {}
