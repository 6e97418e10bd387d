"""Files that the page offers: the data, the scenario, the recording, the HTML file."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from cluster_abm import Scenario
from cluster_abm.recording import Recording
from cluster_abm.recording.html import html_of
from cluster_abm.scenario import scenario_to_toml


class Kind(NamedTuple):
    """A file that is offered."""

    words: str  # what the list calls it
    ending: str  # of its name
    mime: str  # its media type


KINDS: Mapping[str, Kind] = {
    "html": Kind("The view as an HTML file that plays offline", "html", "text/html"),
    "recording": Kind("The recording", "rec", "application/octet-stream"),
    "jobs": Kind("Data: jobs (Parquet)", "jobs.parquet", "application/octet-stream"),
    "decisions": Kind("Data: decisions (Parquet)", "decisions.parquet", "application/octet-stream"),
    "toml": Kind("The scenario (TOML)", "toml", "text/plain"),
}
# Those that hold the detail of a window, if the player shows it.
WITH_DETAIL = ("html", "recording")


def file_of(
    kind: str, scenarios: Sequence[Scenario], recordings: Sequence[Recording], scene: Mapping[str, Any] | None = None
) -> bytes:
    """The bytes of a file.

    Args:
        kind: one of KINDS.
        scenarios, recordings: of each run; a TOML file needs no recording.
        scene: what guides through the runs in an HTML file; None: nothing does.
    """
    if kind == "html":
        return html_of(recordings, scene=scene).encode()
    if kind == "toml":
        return scenario_to_toml(scenarios[0]).encode()
    return _MADE[kind](recordings)


def _parquet(frames: Sequence[pd.DataFrame], recordings: Sequence[Recording]) -> bytes:
    """A table; of two runs one after the other, and `run` (A, B) and `policy` come first."""
    if len(frames) > 1:
        for name, recording, frame in zip("AB", recordings, frames, strict=True):
            frame.insert(0, "run", name)
            frame.insert(1, "policy", recording.meta["policy"]["name"])
    file = io.BytesIO()
    pd.concat(frames).to_parquet(file, engine="pyarrow", index=False, compression="zstd")
    return file.getvalue()


def _recording(recordings: Sequence[Recording]) -> bytes:
    from cluster_abm.recording.files import save_recordings

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.rec")
        save_recordings(path, recordings)
        return path.read_bytes()


_MADE: Mapping[str, Callable[[Sequence[Recording]], bytes]] = {
    "recording": _recording,
    "jobs": lambda recordings: _parquet([one.jobs_frame() for one in recordings], recordings),
    "decisions": lambda recordings: _parquet([one.decisions_frame() for one in recordings], recordings),
}
