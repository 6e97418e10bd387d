"""Jobs that come in sessions of users."""

from cluster_abm.workload.sessions.drawing import SessionJobs, are_sessions, drawn_sessions
from cluster_abm.workload.sessions.means import session_means

__all__ = ["SessionJobs", "are_sessions", "drawn_sessions", "session_means"]
