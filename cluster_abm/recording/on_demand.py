"""Detail that a notebook's player asks for: it is computed by a run, and who runs models stands in a layer above."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.recording.recorded_run import RecordedRun

computers: list[Callable[[Any, float, float], RecordedRun]] = []
"""How detail is computed (model.detailing.detail_of), from when to when [s]."""


def detailed(recording: RecordedRun, from_s: float, to_s: float) -> RecordedRun:
    """The same recording, with what each task does at each moment of a window.

    Raises InputError: there is no such detail.
    """
    if not computers:
        raise InputError("detail: cluster_abm is not whole here; import cluster_abm")
    return computers[0](recording, from_s, to_s)
