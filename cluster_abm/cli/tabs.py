"""How many tabs a page's server has at once."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable

# A page that was sent to a browser comes back so soon for its connection; until then there is a place for it.
PROMISED_S = 10.0
# Of a tab that reconnects the old connection may live a moment longer.
MOST_OF_A_TAB = 4


class Tabs:
    """The tabs that there are; used by the server's event loop only, which makes each answer one of its own.

    Args:
        most: so many at once.
        kernels: ids of the tabs that Solara keeps, connected or not; a tab that lost its connection is kept a while.
        clock: [s].
    """

    def __init__(
        self, most: int, kernels: Callable[[], Iterable[str]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most, self._kernels, self._clock = most, kernels, clock
        self._connections: Counter[str] = Counter()
        self._promised: deque[float] = deque()

    def promise(self) -> str | None:
        """Reserve a place for a page that is being sent; return the refusal if all places are taken, else None."""
        while self._promised and self._promised[0] < self._clock() - PROMISED_S:
            self._promised.popleft()
        if len(self._held()) + len(self._promised) >= self._most:
            return self._full()
        self._promised.append(self._clock())
        return None

    def enter(self, tab: str) -> str | None:
        """Count a connection of a tab; return the refusal, or None: that connection has to `leave` at its end."""
        held = self._held()
        if tab not in held:
            if self._promised:
                self._promised.popleft()
            if len(held) >= self._most:
                return self._full()
        elif self._connections[tab] >= MOST_OF_A_TAB:
            return "refused: this tab has too many connections already"
        self._connections[tab] += 1
        return None

    def leave(self, tab: str) -> None:
        """Count down a connection that has ended."""
        self._connections[tab] -= 1
        if not self._connections[tab]:
            del self._connections[tab]

    def _held(self) -> set[str]:
        return {*self._kernels(), *self._connections}

    def _full(self) -> str:
        return (
            f"too many tabs are open: this page has places for {self._most} (view --max-tabs changes that). "
            "This one opens by itself once another is closed."
        )
