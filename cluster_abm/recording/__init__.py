"""Recordings: a run as data, to be looked at."""

from cluster_abm.recording.files import load_recording, load_recordings, save_recordings
from cluster_abm.recording.recording import Recording

__all__ = ["Recording", "load_recording", "load_recordings", "save_recordings"]
