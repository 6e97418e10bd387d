"""Recordings: a run as data, to be looked at."""

from cluster_abm.recording.recording import Recording

__all__ = ["Recording"]
