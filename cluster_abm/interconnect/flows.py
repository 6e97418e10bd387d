"""Transfers in progress that share links max-min fairly, event by event."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Integers
from cluster_abm.interconnect.fairness import Floats, rates_of_crossings

NS_PER_S = 1e9
NEVER_NS = 2**62

# A transfer in progress: how much was to go when its rate last changed, that rate, that instant, and its end.
TRANSFER = np.dtype(
    [("key", np.int64), ("left_mb", np.float64), ("mb_per_s", np.float64), ("since_ns", np.int64), ("end_ns", np.int64)]
)


class Flows:
    """What is being transferred, and when each transfer will be over.

    Starts, finishes and cancellations are the only events. Between them nothing is computed, and an event
    leaves a transfer as it is unless it changes its rate: results do not depend on how `advance` cuts the time, to the
    last bit.
    A transfer alone with b MB/s takes m/b, rounded to the nearest nanosecond, as it does without contention.
    Events at one instant are one event: those that finish leave, those that start come, then all rates follow.

    Args:
        link_mb_per_s: capacity of each link [MB/s], shape (links,).
    """

    def __init__(self, link_mb_per_s: npt.ArrayLike) -> None:
        self._capacities: Floats = np.asarray(link_mb_per_s, float)
        # In the order of their keys, so that neither rates nor anything else depends on the order of the starts.
        self._table = np.empty(0, TRANSFER)
        self._paths: dict[int, Integers] = {}
        self._waiting: list[tuple[int, int, float]] = []
        self._finished: list[tuple[int, int]] = []
        self._advanced_ns = -NEVER_NS

    @property
    def in_transit(self) -> tuple[int, ...]:
        """Keys of the transfers that have not finished, those still to begin included, in ascending order."""
        return tuple(sorted(self._paths))

    @property
    def next_ns(self) -> int:
        """The earliest start to come or finish expected as things stand [ns]; NEVER_NS if there is none."""
        start_ns = self._waiting[0][0] if self._waiting else NEVER_NS
        end_ns = int(self._table["end_ns"].min()) if len(self._table) else NEVER_NS
        return min(start_ns, end_ns, self._finished[0][0] if self._finished else NEVER_NS)

    def rate_mb_per_s(self, key: int) -> float:
        """The rate of a transfer since the last event [MB/s]; 0 before it has begun."""
        row = self._row(key)
        return 0.0 if row is None else float(self._table["mb_per_s"][row])

    def crossing(self, links: Iterable[int]) -> list[int]:
        """Return the keys of the transfers in progress that use one of these links, in ascending order."""
        wanted = np.fromiter(links, np.int64)
        return [key for key in self.in_transit if np.isin(self._paths[key], wanted).any()]

    def start(self, key: int, links: tuple[int, ...], mb: float, at_ns: int) -> None:
        """Begin a transfer at an instant; with nothing to transfer, or no link on the route, it finishes at once.

        Raises ValueError: the key is in use, the past, or an amount that is none.

        Args:
            key: what it is called by from now on; free again once it has finished.
            links: numbers of the links that it crosses, each at most once.
            mb: how much [MB].
            at_ns: when [ns], not before the time advanced to.
        """
        if key in self._paths:
            raise ValueError(f"transfer {key}: in transit already")
        if not 0.0 <= mb < math.inf:
            raise ValueError(f"transfer {key}: {mb} MB is no amount")
        self._not_in_the_past(at_ns)
        self._paths[key] = np.array(links, np.int64)
        heapq.heappush(self._waiting, (at_ns, key, mb))

    def cancel(self, key: int, at_ns: int) -> float:
        """Take a transfer out; from this instant on the others share what it had.

        Args:
            key: the transfer, in progress at that instant; one that is due at this very instant still is.
            at_ns: when [ns], not before the time advanced to. What finishes earlier is reported by the next `advance`.

        Returns:
            What was still to go [MB].

        Raises:
            ValueError: the past.
            KeyError: no such transfer in progress at that instant.
        """
        self._not_in_the_past(at_ns)
        self._pass(at_ns)
        row = self._row(key)
        del self._paths[key]
        if row is None:
            (mb,) = (mb for _, waiting, mb in self._waiting if waiting == key)
            self._waiting = [entry for entry in self._waiting if entry[1] != key]
            heapq.heapify(self._waiting)
            return mb
        left_mb = float(self._left_mb(self._table[row : row + 1], at_ns)[0])
        self._table = np.delete(self._table, row)
        self._share(at_ns)
        return left_mb

    def change_capacities(self, links: Sequence[int], mb_per_s: Floats, at_ns: int) -> None:
        """Give links another capacity from this instant on; what is under way shares it.

        Raises ValueError: the past.

        Args:
            mb_per_s: their capacities, shape (len(links),) [MB/s].
            at_ns: when [ns], not before the time advanced to.
        """
        self._not_in_the_past(at_ns)
        self._pass(at_ns)
        self._capacities = self._capacities.copy()
        self._capacities[list(links)] = mb_per_s
        self._share(at_ns)

    def advance(self, until_ns: int) -> list[tuple[int, int]]:
        """Let time pass.

        Returns:
            (instant [ns], key) of all transfers that finish before `until_ns`, in this order.
        """
        self._pass(until_ns)
        # A transfer that gains by another's end may finish in the same nanosecond, after it.
        finished, self._finished = sorted(self._finished), []
        return finished

    def _pass(self, until_ns: int) -> None:
        while (now_ns := self._next_event_ns()) < until_ns:
            self._happen(now_ns)
        self._advanced_ns = max(self._advanced_ns, until_ns)

    def _next_event_ns(self) -> int:
        start_ns = self._waiting[0][0] if self._waiting else NEVER_NS
        return min(start_ns, int(self._table["end_ns"].min()) if len(self._table) else NEVER_NS)

    def _happen(self, now_ns: int) -> None:
        """All that happens at this instant."""
        over = self._table["end_ns"] <= now_ns
        keys = [int(key) for key in self._table["key"][over]]
        starting = []
        while self._waiting and self._waiting[0][0] == now_ns:
            _, key, mb = heapq.heappop(self._waiting)
            if mb == 0 or not len(self._paths[key]):
                keys.append(key)
            else:
                starting.append((key, mb, 0.0, now_ns, NEVER_NS))
        for key in keys:
            del self._paths[key]
        self._finished.extend((now_ns, key) for key in keys)
        if over.any() or starting:
            table = np.concatenate([self._table[~over], np.array(starting, TRANSFER)])
            self._table = table[np.argsort(table["key"])]
            self._share(now_ns)

    def _share(self, now_ns: int) -> None:
        """Renew the rates; a transfer with a changed rate is accounted for until now, and ends at another instant."""
        table = self._table
        if not len(table):
            return
        paths = [self._paths[key] for key in table["key"].tolist()]
        lengths = np.fromiter(map(len, paths), np.int64, len(paths))
        rates = rates_of_crossings(self._capacities, lengths, np.concatenate(paths))
        changed = rates != table["mb_per_s"]
        left_mb = self._left_mb(table[changed], now_ns)
        lasts_ns = np.floor(left_mb / rates[changed] * NS_PER_S + 0.5)
        table["left_mb"][changed] = left_mb
        table["mb_per_s"][changed] = rates[changed]
        table["since_ns"][changed] = now_ns
        table["end_ns"][changed] = now_ns + np.minimum(lasts_ns, float(NEVER_NS - abs(now_ns) - 1)).astype(np.int64)

    @staticmethod
    def _left_mb(rows: npt.NDArray[np.void], now_ns: int) -> Floats:
        """Return what is still to go now, shape (rows,) [MB]: exactly 0 for a transfer that is due."""
        gone_mb = rows["mb_per_s"] * ((now_ns - rows["since_ns"]) / NS_PER_S)
        left_mb: Floats = np.where(rows["end_ns"] <= now_ns, 0.0, np.maximum(0.0, rows["left_mb"] - gone_mb))
        return left_mb

    def _row(self, key: int) -> int | None:
        """Return the row of a transfer in the table; None if it has not begun."""
        if key not in self._paths:
            raise KeyError(f"transfer {key}: not in transit")
        row = int(np.searchsorted(self._table["key"], key))
        return row if row < len(self._table) and self._table["key"][row] == key else None

    def _not_in_the_past(self, at_ns: int) -> None:
        if at_ns < self._advanced_ns:
            raise ValueError(f"{at_ns} ns: time has advanced to {self._advanced_ns} ns")
