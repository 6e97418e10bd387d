"""A tab that shows a recording from a file: nothing is computed, so there are no settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from cluster_abm.recording import Recording, load_recordings
from cluster_abm.recording.payload import payload_of
from viz.server.files import KINDS, file_of

OFFERED = ("html", "jobs", "decisions")
"""The files of a recording that is a file itself."""


class Shelf:
    """A tab.

    Args:
        path: of the recording.
        send: called with a message for the page, and with bytes.
    """

    def __init__(self, path: str, send: Callable[[Mapping[str, Any], bytes], None]) -> None:
        self._path, self._send = path, send
        self._wanted: SimpleQueue[str | None] = SimpleQueue()
        Thread(target=self._live, name="cluster-abm shelf", daemon=True).start()

    def hear(self, sent: object) -> None:
        """Something that the browser has sent: {"event": "file", "data": its kind}."""
        if isinstance(sent, Mapping) and sent.get("event") == "file":
            kind = sent.get("data")
            if isinstance(kind, str) and kind in OFFERED:
                self._wanted.put(kind)

    def close(self) -> None:
        """The tab is gone."""
        self._wanted.put(None)

    def _live(self) -> None:
        while (kind := self._wanted.get()) is not None:
            name = f"{stem_of(self._path)}.{KINDS[kind].ending}"
            self._send({"file": kind, "name": name, "mime": KINDS[kind].mime, "error": ""}, _made(self._path, kind))


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
