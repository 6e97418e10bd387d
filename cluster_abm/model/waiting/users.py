"""Closed users: each submits the next job once the previous one has ended."""

from __future__ import annotations

from cluster_abm.engine.tables import NEVER
from cluster_abm.model.part import part
from cluster_abm.model.waiting.following import Following


@part
class Users(Following):
    """Each user submits the next job a think time after the end of the previous one has become known.

    Jobs of a user stand together in the table. The think time counts from the end itself.
    """

    def _plan_after(self, job: int, ended_ns: int) -> None:
        following = job + 1
        if following < len(self.arrivals_ns) and self.arrivals_ns[following] == NEVER:
            self._plan(following, ended_ns + int(self.engine.jobs["think_ns"][following]))
