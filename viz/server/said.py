"""What a worker's process and the page's process say to each other: JSON in one line, never an object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Phase = Literal["waiting", "preparing", "compiling", "running", "packing"]


@dataclass(frozen=True)
class Task:
    """What is to be computed: the same task always gives the same bytes.

    Attributes:
        settings: those of the page (settings.Settings), as data.
        policies: of the runs, one after the other.
        wanted: "run": what the player shows; else the file's kind (files.KINDS).
        span_s: the window in which what tasks do is kept at each moment [s]; None: in none.
    """

    settings: Mapping[str, Any]
    policies: tuple[str, ...]
    wanted: str = "run"
    span_s: tuple[float, float] | None = None

    @property
    def key(self) -> str:
        """The task as text."""
        return json.dumps([dict(self.settings), list(self.policies), self.wanted, self.span_s], sort_keys=True)


@dataclass(frozen=True)
class Stage:
    """How far a task has come.

    Attributes:
        phase: what is done now.
        what: that in words, "" if the phase says it.
        since: when the phase began [s of time.monotonic].
        share: of the run that is done, 0..1.
        now_ms: simulated time that the run has reached [ms].
        heard: when its process has said something last [s of time.monotonic].
    """

    phase: Phase
    what: str = ""
    since: float = 0.0
    share: float = 0.0
    now_ms: float = 0.0
    heard: float = 0.0


@dataclass(frozen=True)
class Made:
    """What a task has come to.

    Attributes:
        data: the bytes that were wanted; b"" if there are none.
        facts: of a run: offered load and warnings about it.
        error: what went wrong, in words; "" if nothing did. A run that went wrong may have bytes: of what came before.
        refused: whether the settings are what is wrong.
    """

    data: bytes = b""
    facts: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    refused: bool = False
