"""How many tabs a page's server has at once, in all and of one visitor."""

from __future__ import annotations

import ipaddress
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from http.cookies import CookieError, SimpleCookie

# A page that was sent to a browser comes back so soon for its connection; until then there is a place for it.
PROMISED_S = 10.0
# Of a tab that reconnects the old connection may live a moment longer.
MOST_OF_A_TAB = 4
# Solara's name of the cookie that a browser has.
COOKIE = "solara-session-id"


def visitor(address: str, cookies: Sequence[str]) -> str:
    """Name the visitor of a request: another machine by its address, a browser of this machine by its cookie.

    Args:
        address: of the other end of the connection.
        cookies: the Cookie headers of the request.
    """
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped is None and not found.is_loopback:
            # A machine has as many addresses as it likes in its network of 64 bits.
            return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
        found = found.ipv4_mapped or found
    return f"{found} {_cookie(cookies)}" if found.is_loopback else str(found)


def _cookie(cookies: Sequence[str]) -> str:
    try:
        found = SimpleCookie("; ".join(cookies)).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def share_of(most: int) -> int:
    """Return how many of all places one visitor may have by default: half of them."""
    return max(1, (most + 1) // 2)


class Tabs:
    """The tabs that there are; used by the server's event loop only, which makes each answer one of its own.

    Args:
        most: tabs at once, in all.
        most_each: tabs at once of one visitor.
        kernels: ids of the tabs that Solara keeps, connected or not; a tab that lost its connection is kept a while.
        clock: [s].
    """

    def __init__(
        self,
        most: int,
        most_each: int,
        kernels: Callable[[], Iterable[str]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._most_each, self._kernels, self._clock = most, most_each, kernels, clock
        self._connections: Counter[str] = Counter()
        self._visitors: dict[str, str] = {}
        self._begun: set[str] = set()
        self._promised: deque[tuple[float, str]] = deque()

    def promise(self, visitor: str) -> str | None:
        """Reserve a place for a page that is being sent; return the refusal if all places are taken, else None."""
        while self._promised and self._promised[0][0] < self._clock() - PROMISED_S:
            self._promised.popleft()
        held = self._held()
        promised = [whose for _, whose in self._promised]
        if len(held) + len(promised) >= self._most:
            return self._full()
        if self._count(held, visitor) + promised.count(visitor) >= self._most_each:
            return self._full_of()
        self._promised.append((self._clock(), visitor))
        return None

    def enter(self, tab: str, visitor: str) -> str | None:
        """Count a connection of a tab; return the refusal, or None: that connection has to `leave` at its end."""
        held = self._held()
        if tab not in held:
            self._take_promise(visitor)
            if len(held) >= self._most:
                return self._full()
            if self._count(held, visitor) >= self._most_each:
                return self._full_of()
            self._visitors[tab] = visitor
        elif self._connections[tab] >= MOST_OF_A_TAB:
            return "refused: this tab has too many connections already"
        self._connections[tab] += 1
        return None

    def begin(self, tab: str) -> bool:
        """Whether a tab's page may be built: once."""
        if tab in self._begun:
            return False
        self._begun.add(tab)
        return True

    def leave(self, tab: str) -> None:
        """Count down a connection that has ended."""
        self._connections[tab] -= 1
        if not self._connections[tab]:
            del self._connections[tab]

    def _held(self) -> set[str]:
        held = {*self._kernels(), *self._connections}
        self._visitors = {tab: whose for tab, whose in self._visitors.items() if tab in held}
        self._begun &= held
        return held

    def _count(self, held: set[str], visitor: str) -> int:
        return sum(self._visitors.get(tab) == visitor for tab in held)

    def _take_promise(self, visitor: str) -> None:
        """The page that was promised a place has come. A browser gets its cookie with its first page."""
        for at, (_, whose) in enumerate(self._promised):
            if whose in (visitor, f"{visitor.split(' ')[0]} "):
                del self._promised[at]
                return

    def _full(self) -> str:
        return (
            f"too many tabs are open: this page has places for {self._most} (view --max-tabs changes that). "
            "This one opens by itself once another is closed."
        )

    def _full_of(self) -> str:
        return (
            f"too many tabs of yours are open: one visitor has places for {self._most_each} (view --max-tabs-each "
            "changes that). This one opens by itself once another is closed."
        )
