"""Where the files lie that jobs need, and what fetching them to a node takes: known to every load manager."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.formulas import data_access_ms, transfer_ms


@dataclass(frozen=True, eq=False)
class DataMap:
    """The catalogue of copies and the routes between nodes.

    Attributes:
        size_mb: size of each file, shape (files,) [MB].
        holders: nodes that hold it, the first copy first, shape (files, copies).
        cluster_of: cluster of each node, shape (nodes,).
        ways_from: bandwidth [MB/s] and latency [ms] of the route from a node to every node, shape (nodes,) each;
            0 and infinite where no route leads.
    """

    size_mb: Floats
    holders: Integers
    cluster_of: Integers
    routes_from: Callable[[int], tuple[Floats, Floats]]
    # T of each file alone, and the holder it comes from: sizes, copies and routes do not change while a run lasts.
    _fetching: dict[int, tuple[Floats, Integers]] = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.cluster_of)

    def transfer_ms(self, file: int) -> Floats:
        """Time to transfer a file from each of its holders to each node, shape (copies, nodes) [ms]."""
        times_ms = np.empty((self.holders.shape[1], self.nodes))
        for copy, holder in enumerate(self.holders[file].tolist()):
            mb_per_s, latency_ms = self.routes_from(holder)
            with np.errstate(divide="ignore", invalid="ignore"):
                from_it_ms = transfer_ms(float(self.size_mb[file]), mb_per_s, latency_ms)
            times_ms[copy] = np.where(mb_per_s > 0, from_it_ms, np.inf)
            times_ms[copy, holder] = 0.0
        return times_ms

    def within(self, file: int) -> Flags:
        """Whether each of a file's holders lies in each node's cluster, shape (copies, nodes)."""
        return self.cluster_of[self.holders[file]][:, None] == self.cluster_of

    def access_ms(self, files: Iterable[int]) -> Floats:
        """T = T_WC + T_BC of a job that needs these files, on each node, shape (nodes,) [ms]."""
        total = np.zeros(self.nodes)
        for file in files:
            total += self.fetch(file)[0]
        return total

    def access_ms_on(self, files: Iterable[int], node: int) -> float:
        """T on one node: an entry of `access_ms` [ms]."""
        # Added one by one, as `access_ms` does: `sum` of later Pythons rounds otherwise.
        total = 0.0
        for file in files:
            total += float(self.fetch(file)[0][node])
        return total

    def source(self, file: int, node: int) -> int:
        """The holder from which a file is fetched to a node: itself, else the nearest in its cluster, else the nearest.

        Nearest by the time of an undisturbed transfer; the earlier copy on a tie.
        """
        return int(self.fetch(file)[1][node])

    def fetch(self, file: int) -> tuple[Floats, Integers]:
        """Time to fetch a file to each node [ms], and the holder it comes from, shape (nodes,) each."""
        if file not in self._fetching:
            times_ms, within = self.transfer_ms(file), self.within(file)
            allowed_ms = np.where(within | ~within.any(axis=0), times_ms, np.inf)
            source = self.holders[file, allowed_ms.argmin(axis=0)]
            self._fetching[file] = data_access_ms(times_ms[None], within[None]), source
        return self._fetching[file]

    def held_mb(self, files: Iterable[int]) -> tuple[Floats, Floats]:
        """How much of these files each node holds, and its whole cluster, each file once, shape (nodes,) each [MB]."""
        on_node, in_cluster = np.zeros(self.nodes), np.zeros(self.nodes)
        for file in files:
            on_node[self.holders[file]] += self.size_mb[file]
            in_cluster += self.size_mb[file] * self.within(file).any(axis=0)
        return on_node, in_cluster
