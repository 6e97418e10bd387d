"""Recordings as films: of the player, by a browser without a screen, or of the nodes alone, by matplotlib."""

from __future__ import annotations

from cluster_abm.recording.films.animation import ENDINGS, Animation

__all__ = ["ENDINGS", "Animation"]
