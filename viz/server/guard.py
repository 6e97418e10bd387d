"""What the page's server answers: requests of its own page, under the names it is known by. Plain ASGI."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from cluster_abm.errors import InputError
from viz.server.messages import PATH, heard
from viz.server.tabs import Tabs, visitor

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
MOST_TARGET, MOST_BODY = 2048, 65_536
AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
ORIGIN = re.compile(r"(https?)://([^/?#@\s]+)")
DEFAULT_PORTS = {"http": 80, "https": 443}
PAGE = "/"
ROUTES = ("/static/", "/jupyter/", "/_solara/", "/readyz", "/resourcez")
KERNEL = re.compile(r"/jupyter/api/kernels/([\w-]{1,64})/channels", re.ASCII)
ASSETS, CALLS = "/_solara/cdn/", "/_solara/api/"
# No other page may show this one in a frame, where a click would be meant for something else.
ALWAYS: Headers = [
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Refusal(NamedTuple):
    """An answer that the guard gives itself: status, one line, further headers."""

    status: int
    words: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Guard:
    """Lets those requests through to a Solara server that come from its own page.

    A browser asks on behalf of any page that it shows: without this, every web page that the user visits could drive
    the simulation, by its own scripts or through a name of its own that leads to 127.0.0.1.

    Args:
        app: Solara's server.
        names: host names and addresses that requests may be for (allowed_names).
        tabs: counts the tabs that there are.
        assets: folder of what is served below /_solara/cdn/; Solara would fetch, or delete, what is not a file there.
    """

    def __init__(self, app: App, names: Iterable[str], tabs: Tabs, assets: Path) -> None:
        self._app, self._names, self._tabs, self._assets = app, frozenset(names), tabs, assets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection."""
        if scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._foreign(scope) or self._senseless(scope) or self._crowded(scope)
        if refusal is not None:
            await _answer(send, refusal)
            return
        # Solara raises one thing or another where such a call names a tab that there is not: a 404, no fault.
        failing = scope["path"].startswith(CALLS)
        begun = failed = False

        async def guarded(message: Message) -> None:
            nonlocal begun, failed
            if message["type"] == "http.response.start":
                failed = failing and message["status"] == 500
                begun = True
                message["headers"] = [*message.get("headers", []), *ALWAYS]
            if not failed:
                await send(message)

        try:
            await self._app(scope, receive, guarded)
        except Exception:
            if not failing or (begun and not failed):
                raise
            failed = True
        if failed:
            await _answer(send, Refusal(404, "there is no such tab"))

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        tab = _tab_of(scope)
        if tab is None or self._foreign(scope) is not None or self._tabs.enter(tab, _visitor(scope)) is not None:
            await receive()
            # Before it is accepted that is a 403; uvicorn takes a refusal in words for a fault.
            await send({"type": "websocket.close", "code": 1008})
            return

        async def received() -> Message:
            """The next message that the page may have sent; what it cannot have sent goes no further."""
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return message
                said = heard(message.get("text"))
                # A tab has one page: each further one would be a further run.
                if said is not None and (not said.begins or self._tabs.begin(tab)):
                    return message

        try:
            await self._app(scope, received, send)
        finally:
            self._tabs.leave(tab)

    def _foreign(self, scope: Scope) -> Refusal | None:
        """Why a request does not come from the page itself, if so."""
        hosts, origins = _all(scope, b"host"), _all(scope, b"origin")
        host = authority(hosts[0]) if len(hosts) == 1 else None
        if host is None:
            return Refusal(403, "refused: exactly one Host header with a name, and perhaps a port, is needed")
        if host[0] not in self._names:
            return Refusal(
                403, f"refused: Host {host[0]} is none of this server's names; view --allow-host {host[0]} allows it"
            )
        if len(origins) > 1 or (origins and not _is_same(origins[0], host)):
            return Refusal(
                403, "refused: Origin is not this page's own (it must equal Host); no option allows other pages"
            )
        site, mode, dest = (_all(scope, b"sec-fetch-" + word) for word in (b"site", b"mode", b"dest"))
        elsewhere = bool(site) and site[0] in ("cross-site", "same-site")
        if elsewhere and not (mode == ["navigate"] and dest == ["document"] and scope.get("method") == "GET"):
            return Refusal(403, "refused: another page asked for this (Sec-Fetch-Site); no option allows other pages")
        return None

    def _senseless(self, scope: Scope) -> Refusal | None:
        """Why a request cannot be answered, if so."""
        path, query = scope["path"], scope["query_string"].decode("latin-1")
        length = _all(scope, b"content-length")
        if length and not (length[0].isdecimal() and len(length[0]) < 10 and int(length[0]) <= MOST_BODY):
            return Refusal(413, f"refused: a body may have {MOST_BODY} bytes")
        if len(scope.get("raw_path") or path) > MOST_TARGET or len(query) > MOST_TARGET:
            return Refusal(414, f"refused: a path and a query may have {MOST_TARGET} characters")
        parts = path.split("/")
        # \ufffd stands where an escape was no UTF-8.
        if not path.isprintable() or "\\" in path or "//" in path or "\ufffd" in path or ".." in parts or "." in parts:
            return Refusal(400, "refused: the path is none")
        if path != PAGE and not path.startswith(ROUTES):
            return Refusal(404, "there is nothing here; the page is at /")
        if path.startswith(ASSETS) and not _is_file(self._assets, path.removeprefix(ASSETS)):
            return Refusal(404, "there is no such file")
        if path.startswith(CALLS) and not parse_qs(query).get("session_id"):
            return Refusal(400, "refused: session_id is missing")
        return None

    def _crowded(self, scope: Scope) -> Refusal | None:
        """Why another tab cannot be opened, if this is one."""
        if scope["path"] != PAGE or scope["method"] != "GET":
            return None
        refused = self._tabs.promise(_visitor(scope))
        # A tab that is loaded again gives its place back only once this answer is shown, and then gets it.
        if refused is None:
            return None
        # With an address of its own: one that ends in "#..." a browser would not load again.
        address = f"/?{scope['query_string'].decode('latin-1')}"
        again = f"2; url={address if PATH.fullmatch(address) else '/'}"
        return Refusal(503, refused, ((b"refresh", again.encode()), (b"retry-after", b"2")))


def allowed_names(host: str, address: str, more: Iterable[str]) -> list[str]:
    """The names that requests may be for.

    Args:
        host: name or address at which the server is to listen.
        address: the address that this is.
        more: those of --allow-host.

    Raises:
        InputError: one of those is no name or address, or none is left by which a browser could ask.
    """
    problems = [
        f"view: --allow-host {name!r}: a host name or an address is needed, without a port"
        for name in more
        if _bare(name) is None
    ]
    if problems:
        raise InputError(problems)
    own = LOOPBACK_NAMES if is_loopback(address) or is_every_address(address) else ()
    found = [*own, *(_bare(name) for name in more)]
    if not is_every_address(address):
        found += [_bare(address), _bare(host)]
    names = list(dict.fromkeys(name for name in found if name is not None))
    if not names:
        raise InputError(f"view: --host {host}: no browser can ask for that; --allow-host NAME says what they ask for")
    return names


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach an address."""
    return ipaddress.ip_address(address).is_loopback


def is_every_address(address: str) -> bool:
    """Whether it stands for all addresses of the machine."""
    return ipaddress.ip_address(address).is_unspecified


def authority(text: str) -> tuple[str, int | None] | None:
    """Name, in small letters, and port of a Host header; None if it is none.

    >>> authority("LocalHost:8765"), authority("[0::1]"), authority("a b")
    (('localhost', 8765), ('[::1]', None), None)
    """
    found = AUTHORITY.fullmatch(text)
    if found is None:
        return None
    name, port = found[1].lower(), None if found[2] is None else int(found[2])
    if name.startswith("["):
        try:
            name = f"[{ipaddress.IPv6Address(name[1:-1])}]"
        except ValueError:
            return None
    return None if port is not None and not 0 < port < 65_536 else (name, port)


def _bare(name: str) -> str | None:
    """A name as Host has it, without port; None if it is none."""
    found = authority(f"[{name}]" if ":" in name and not name.startswith("[") else name)
    return None if found is None or found[1] is not None else found[0]


def _is_same(origin: str, host: tuple[str, int | None]) -> bool:
    """Return whether an Origin is at this Host."""
    found = ORIGIN.fullmatch(origin)
    other = authority(found[2]) if found is not None else None
    if found is None or other is None:
        return False
    default = DEFAULT_PORTS[found[1]]
    return (other[0], other[1] or default) == (host[0], host[1] or default)


def _is_file(folder: Path, name: str) -> bool:
    try:
        return (folder / name.lstrip("/")).is_file()
    except OSError:
        return False


def _tab_of(scope: Scope) -> str | None:
    """The tab that a connection is for; None if it is for none."""
    found = KERNEL.fullmatch(scope["path"])
    query = scope["query_string"].decode("latin-1")
    whole = found is not None and len(query) <= MOST_TARGET and parse_qs(query).get("session_id")
    return found[1] if found is not None and whole else None


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def _visitor(scope: Scope) -> str:
    """Name the visitor of a request (tabs.visitor)."""
    client = scope.get("client")
    return visitor(client[0] if client else "", _all(scope, b"cookie"))


async def _answer(send: Send, refusal: Refusal) -> None:
    body = f"{refusal.words}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"), (b"connection", b"close"), *refusal.headers, *ALWAYS,
    ]  # fmt: skip
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
