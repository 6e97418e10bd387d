"""Conservative backfilling: a reservation for every waiting job."""

from __future__ import annotations

import numpy as np

from cluster_abm.policies.backfilling import Backfilling, Outlook
from cluster_abm.policy.reservations import planned
from cluster_abm.policy.view import View


class Conservative(Backfilling):
    """A batch system (`batch-system`) in which every job gets a reservation when it is submitted: the earliest at which
    enough cores will be free for as long as it requests, between those of the jobs before it. None is moved later by a
    job that is submitted afterwards.

    Where jobs end earlier than they requested, the reservations are compressed: in order of submission each job gives
    its one back and takes the earliest there is. A job starts when its reservation has come. Where a job runs on beyond
    its request, or nodes go down, and a reservation does not hold any more, all are made anew in order of submission,
    and some may then be later than they were.

    `view.notes["reserved"]`: the border of a slice for which each waiting job has its reservation [slices];
    `view.notes["made_anew"]`: how often all were made anew.
    """

    name = "conservative"
    source = "Mu'alem, Feitelson 2001, section 2; Feitelson, Weil 1998"
    summary = "conservative backfilling: a job may start before others if it delays none of them"

    def choose(self, outlook: Outlook, view: View) -> int:
        """The first job whose reservation is now; reservations are planned once a slice."""
        now, jobs = int(outlook.profile.times[0]), outlook.jobs.tolist()
        reserved: dict[int, int] = view.notes.get("reserved", {})
        if view.notes.get("planned_at") != now or any(job not in reserved for job in jobs):
            before = np.array([reserved.get(job, -1) for job in jobs], np.int64)
            starts, made_anew = planned(outlook.profile, outlook.widths, outlook.lengths, before)
            reserved = dict(zip(jobs, starts.tolist(), strict=True))
            view.notes["made_anew"] = view.notes.get("made_anew", 0) + made_anew
        view.notes["planned_at"], view.notes["reserved"] = now, reserved
        free = outlook.profile.free[0]
        fits = (reserved[job] <= now and width <= free for job, width in zip(jobs, outlook.widths, strict=True))
        return next((place for place, may_start in enumerate(fits) if may_start), -1)
