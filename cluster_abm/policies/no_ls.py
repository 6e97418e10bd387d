"""No load sharing, by the name that MCLS gives it."""

from __future__ import annotations

from cluster_abm.policies.none import NoBalancing


class NoLoadSharing(NoBalancing):
    """`no-ls`: every job starts at home at once.

    A machine on which the demand exceeds RAM and swap (`cluster.swap_mb`) kills the newest task: that belongs to the
    machine, and happens under every policy; this one does nothing to prevent it.
    """

    name = "no-ls"
    source = "MCLS, section 6.1 (no-LS)"
    summary = "every job starts at home at once, and arriving tasks that exceed RAM and swap are killed"
