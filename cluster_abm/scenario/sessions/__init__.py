"""Work that comes in sessions of users: its section of a scenario."""

from cluster_abm.scenario.sessions.section import SessionGroup, Sessions, check_beside

__all__ = ["SessionGroup", "Sessions", "check_beside"]
