"""Which user, or which group of users, each job of a run belongs to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Integers


class Members(NamedTuple):
    """The users of the jobs, or their groups."""

    numbers: Integers  # of each job its member, a place in `names`, shape (jobs,); -1: not known
    names: tuple[str, ...]  # of the members

    def behind(self, ahead: int) -> Members:
        """The same with that many jobs before them of which no member is known."""
        return Members(np.concatenate([np.full(ahead, -1, np.int64), self.numbers]), self.names)
