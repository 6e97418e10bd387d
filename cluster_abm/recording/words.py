"""What the player says and in which colours, that stands in Python once: states, outcomes, load indices."""

from __future__ import annotations

from typing import Any

from cluster_abm.engine.fields import LOAD_INDICES
from cluster_abm.recording.fates import KINDS
from cluster_abm.recording.recorded_run import RecordedRun
from cluster_abm.recording.segments import WHAT
from cluster_abm.results.colours import BREAKDOWN_COLOURS, MOVE_COLOURS, RAMP
from cluster_abm.results.looks import HOURGLASS, STAR, Marker, colour_of, marker_of

OUTCOMES = ("finished", "killed", "lost")
# How a sentence calls what it compares: "node 18 has 9.8 s of disk work waiting". Others have their meaning.
SHORT = {
    "tasks": "tasks",
    "cpu_queue": "tasks at the CPU",
    "memory_mb": "memory demand",
    "cpu_ms": "CPU work waiting",
    "page_ms": "paging work waiting",
    "io_ms": "disk work waiting",
    "io_load": "disk requests per ms of CPU",
    "queue": "tasks expected at the CPU",
    "at_disk": "tasks expected at the disk",
    "weighted": "weighted load",
}


def words_of(recording: RecordedRun) -> dict[str, Any]:
    """Words and colours for the header of a payload."""
    policy = recording.meta["policy"]["name"]
    meanings = {one.name: [one.meaning, one.unit] for one in LOAD_INDICES}
    named = {name: [SHORT.get(name, meaning), unit, meaning] for name, (meaning, unit) in meanings.items()}
    used = {str(name): [SHORT.get(str(name), str(name)), "", ""] for name in _indices(recording)}
    return {
        "what": list(WHAT),
        "kinds": list(KINDS),
        "outcomes": list(OUTCOMES),
        "index_words": used | named,
        "colours": {
            "states": BREAKDOWN_COLOURS,
            "moves": list(MOVE_COLOURS),
            "ramp": list(RAMP),
            "policy": colour_of(policy),
            "marker": marker_words(marker_of(policy)),
        },
    }


def marker_words(marker: Marker) -> str:
    """A marker's name in the player (`shapes.js`)."""
    return {STAR: "star", HOURGLASS: "hourglass"}.get(marker, str(marker))


def _indices(recording: RecordedRun) -> list[Any]:
    return [name for name in recording.tables["decisions"]["index"].unique().to_pylist() if name]
