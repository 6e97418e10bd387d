"""No load balancing: every task runs where it was submitted (IOCM's NLB)."""

from __future__ import annotations

from cluster_abm.policy.base import Policy


class NoBalancing(Policy):
    """Every task runs where it was submitted: the load managers do nothing.

    IOCM calls it NLB. It is what "no load balancing" means in comparisons, and the 0 of the gap that policies close.
    """

    name = "none"
    source = "IOCM, section 3.4 (NLB)"
    summary = "every task runs on its home node"
    acts_on_arrival = False
    uses_reports = False
