"""Work that comes in sessions of users: its section of a scenario."""

from cluster_abm.scenario.sessions.section import SessionGroup, UserSessions, check_beside

__all__ = ["SessionGroup", "UserSessions", "check_beside"]
