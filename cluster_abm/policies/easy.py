"""EASY: backfilling with a reservation for the job at the head of the queue."""

from __future__ import annotations

from cluster_abm.policies.backfilling import Backfilling, Outlook
from cluster_abm.policy.reservations import first_backfill
from cluster_abm.policy.view import View


class Easy(Backfilling):
    """A batch system (`batch-system`) whose head of the queue has a reservation; others may start before it if that is
    not moved later by them.

    The job at the head starts as soon as enough cores are free. While they are not, it gets the first time at which
    they will be by the requests of the running jobs: the shadow time; what is then free beyond it are the extra cores.
    Then the first job in order of submission starts that fits into the free cores, and either ends by the shadow time,
    or takes no more than the extra cores; and so on until there is none. A job that is not at the head has no
    reservation, and may be delayed by those behind it.

    `view.notes["head"]`: the job at the head, and the border of a slice for which it has its reservation [slices].
    """

    name = "easy"
    source = "Lifka 1995; Mu'alem, Feitelson 2001, section 2"
    summary = "EASY backfilling: a job may start before the head of the queue if it does not delay it"

    def choose(self, outlook: Outlook, view: View) -> int:
        """The head if it fits, else the first job that backfills."""
        if outlook.widths[0] <= outlook.profile.free[0]:
            return 0
        place, shadow = first_backfill(outlook.profile, outlook.widths, outlook.lengths)
        view.notes["head"] = int(outlook.jobs[0]), shadow
        return place
