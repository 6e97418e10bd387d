"""A tab that shows a recording from a file: there are no settings; its run is computed again for detail only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from cluster_abm import InputError, detail_of
from cluster_abm.recording import Recording, load_recordings
from cluster_abm.recording.payload import payload_of
from viz import heard
from viz.server.faults import words_of
from viz.server.files import KINDS, file_of

OFFERED = ("html", "jobs", "decisions")
"""The files of a recording that is a file itself."""


_one_run = Lock()


class Gone(Exception):
    """The tab that wanted it is gone."""


class Shelf:
    """A tab.

    Args:
        path: of the recording.
        show: called with what the page shows anew, by name (widget.PageWidget).
        send: called with a message for the page, and with bytes.
    """

    def __init__(
        self, path: str, show: Callable[[Mapping[str, Any]], None], send: Callable[[Mapping[str, Any], bytes], None]
    ) -> None:
        self._path, self._show, self._send = path, show, send
        self._wanted: SimpleQueue[str | tuple[float, float] | None] = SimpleQueue()
        self._over = False
        Thread(target=self._live, name="cluster-abm shelf", daemon=True).start()

    def hear(self, sent: object) -> None:
        """Something that the browser has sent: {"event": "file", "data": its kind}, or "detail" and a window."""
        event, data = (sent.get("event"), sent.get("data")) if isinstance(sent, Mapping) else (None, None)
        if event == "file" and isinstance(data, str) and data in OFFERED:
            self._wanted.put(data)
        elif event == "detail" and (span_s := heard.window(data)) is not None:
            self._wanted.put(span_s)

    def close(self) -> None:
        """The tab is gone."""
        self._over = True
        self._wanted.put(None)

    def _live(self) -> None:
        while (wanted := self._wanted.get()) is not None:
            if isinstance(wanted, str):
                kind = KINDS[wanted]
                name = f"{stem_of(self._path)}.{kind.ending}"
                self._send({"file": wanted, "name": name, "mime": kind.mime, "error": ""}, _made(self._path, wanted))
            else:
                self._detail(*wanted)

    def _detail(self, from_s: float, to_s: float) -> None:
        def look(_: float) -> None:
            if self._over:
                raise Gone

        try:
            # One after the other, of all tabs: each is a run.
            with _one_run:
                found = [detail_of(one, from_s, to_s, progress=look) for one in recordings_of(self._path)]
            self._show({"recordings": [payload_of(one) for one in found]})
        except InputError as problem:
            self._send({"detail": "; ".join(problem.problems)}, b"")
        except Gone:
            pass
        except Exception as problem:
            self._send({"detail": words_of(problem)}, b"")


@cache
def recordings_of(path: str) -> list[Recording]:
    """The recordings in the file. Raises InputError: it is none."""
    return load_recordings(path)


@cache
def payloads_of(path: str) -> list[bytes]:
    """What the player shows of it."""
    return [payload_of(one) for one in recordings_of(path)]


def stem_of(path: str) -> str:
    """How its files are named."""
    return Path(path).stem


def titles_of(path: str) -> str:
    """What it is of."""
    return " | ".join(one.title for one in recordings_of(path))


@cache
def _made(path: str, kind: str) -> bytes:
    return file_of(kind, [], recordings_of(path))
