"""The disk of the oracles' node: channels in which requests seek side by side, and one bus for their transfers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic

from oracle_live import AnyLive


@dataclass(eq=False)
class Request(Generic[AnyLive]):
    """A request: `seek_ns` in a channel, then `transfer_ns` on the bus.

    Attributes:
        seek_end: when its seek ends, once it is in the device.
        promised: when it ends, as was said to its task on leaving; None: its task waits for it.
    """

    live: AnyLive
    seek_ns: int
    transfer_ns: int
    is_fault: bool
    seek_end: int = 0
    promised: int | None = None


class Disk(Generic[AnyLive]):
    """The queue before the device, and the device: as many requests at once as there are channels."""

    def __init__(self, channels: int) -> None:
        self.channels = channels
        self.waiting: deque[Request[AnyLive]] = deque()
        self.device: list[Request[AnyLive]] = []  # in the order in which they have the bus
        self.bus_free_at = 0
        self.busy_since = 0
        self.busy_ns = 0
        self.order: list[int] = []  # tasks as their requests came into the device

    def ask(self, request: Request[AnyLive], now: int) -> None:
        """The request comes, into a channel or to the end of the queue."""
        request.live.turn("paging" if request.is_fault else "io_queue", now)
        self.waiting.append(request)
        self._fill(now)

    def next_end(self) -> int | None:
        """When the next request ends, unless another comes and has the bus before it."""
        return next(self._ends(), None)

    def complete(self, now: int) -> Request[AnyLive]:
        """The first request ends: bus and channel are free."""
        done = self.device.pop(0)
        assert done.promised in (None, now)
        self.bus_free_at = now
        if not self.device:
            self.busy_ns += now - self.busy_since
        self._fill(now)
        return done

    def leave(self, live: AnyLive, now: int) -> int:
        """The task leaves: at once if its request waits, else when its request, left behind, will end."""
        for request in self.waiting:
            if request.live is live:
                self.waiting.remove(request)
                return now
        request, end = next(pair for pair in zip(self.device, self._ends(), strict=True) if pair[0].live is live)
        request.promised = end
        return end

    def _ends(self) -> Iterator[int]:
        """When the requests in the device end."""
        free_at = self.bus_free_at
        for request in self.device:
            free_at = max(free_at, request.seek_end) + request.transfer_ns
            yield free_at

    def _fill(self, now: int) -> None:
        while self.waiting and len(self.device) < self.channels:
            self._let_in(self.waiting.popleft(), now)

    def _let_in(self, request: Request[AnyLive], now: int) -> None:
        if not self.device:
            self.busy_since = now
        self.order.append(request.live.id)
        request.seek_end = now + request.seek_ns
        # The bus is had as seeks end, of equal ends by entering; and never before a request with a promised end.
        place = len(self.device)
        while place and self.device[place - 1].promised is None and self.device[place - 1].seek_end > request.seek_end:
            place -= 1
        self.device.insert(place, request)
        if not request.is_fault:
            # Of the time from asking to the end, all of which is booked as waiting, its own service is none.
            own = request.seek_ns + request.transfer_ns
            request.live.spent["io_queue"] -= own
            request.live.spent["io"] += own
