"""No load sharing, by the name that MCLS gives it."""

from __future__ import annotations

from cluster_abm.policies.none import NoBalancing


class NoLoadSharing(NoBalancing):
    """`no-ls`: every job starts at home at once; arriving tasks that exceed RAM and swap are killed."""

    name = "no-ls"
    source = "MCLS, section 6.1 (no-LS)"
    summary = "every job starts at home at once, and arriving tasks that exceed RAM and swap are killed"
