"""What the page's server answers, and to what: real requests and WebSockets, no browser."""

import http.client
import importlib.util
import json
import os
import signal
import socket
import struct
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from command import served

ABSENT = [name for name in ("solara", "solara_assets", "websockets") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"needs {', '.join(ABSENT)}: pip install '.[viz]'")
ASSET = "/_solara/cdn/requirejs@2.3.6/require.js"


@pytest.fixture(scope="module")
def port(folder):
    """Where a server is that has a place for every test: a tab whose connection is lost is kept for a minute."""
    with served(folder, "--max-tabs", "500", "--max-tabs-each", "500") as (_, port):
        yield port


@pytest.fixture(scope="module")
def named(folder):
    """Where a server is that has another name too."""
    with served(folder, "--host", "0.0.0.0", "--allow-host", "lab.example") as (_, port):
        yield port


def raw(port, *lines, host="127.0.0.1", body=b""):
    """Status and text of the answer to these lines of a request, byte for byte."""
    with socket.create_connection((host, port), timeout=30) as connection:
        connection.sendall(b"\r\n".join(line.encode("latin-1") for line in lines) + b"\r\n\r\n" + body)
        answer = http.client.HTTPResponse(connection, method=lines[0].split()[0])
        answer.begin()
        return answer.status, answer.read().decode("utf-8", "replace")


def get(port, path="/", **headers):
    """Status and text; `host` may be several or None."""
    hosts = headers.pop("host", f"127.0.0.1:{port}")
    hosts = [] if hosts is None else [hosts] if isinstance(hosts, str) else hosts
    more = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return raw(port, f"GET {path} HTTP/1.1", *(f"Host: {host}" for host in hosts), *more, "Connection: close")


def kernel(port, tab=None, host=None, origin=None, path=None, **options):
    """A connection of a tab, as Solara's page opens one."""
    from websockets.sync.client import connect

    tab = tab or uuid.uuid4()
    path = path or f"/jupyter/api/kernels/{tab}/channels?session_id={uuid.uuid4()}"
    with socket.socket() as probe:
        probe.connect(("127.0.0.1", port))
        # The address says what Host says; where it leads to is the socket's.
        return connect(
            f"ws://{host or f'127.0.0.1:{port}'}{path}", sock=probe.dup(), origin=origin, open_timeout=30, **options
        )


def refused(port, **given):
    """Status of a handshake that is refused."""
    from websockets.exceptions import InvalidStatus

    with pytest.raises(InvalidStatus) as found, kernel(port, **given):
        pass
    return found.value.response.status_code


def answers(connection):
    """Whether there is a kernel behind it."""
    header = {"msg_id": "1", "msg_type": "kernel_info_request", "session": "s", "username": "", "version": "5.3"}
    connection.send(json.dumps(
        {"header": header, "parent_header": {}, "metadata": {}, "content": {}, "buffers": [], "channel": "shell"}
    ))  # fmt: skip
    return any("kernel_info_reply" in str(connection.recv(30)) for _ in range(3))


def drain(connection, timeout_s):
    while True:
        connection.recv(timeout_s)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]", "[0:0::1]:9000", "127.0.0.1:65535"])
def test_loopback_names_are_answered_at_any_port(port, host):
    assert get(port, host=host)[0] == 200
    with kernel(port, host=host, origin=f"http://{host}") as connection:
        assert answers(connection)


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost.evil.example", "127.0.0.2", "0.0.0.0",
    "localhost@evil.example", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:0", "[::1", "::1", "[::g]", "", "a b",
    "127.0.0.1/x", "127.0.0.1, evil.example", "localhost:80:80", "0177.0.0.1", "127.1", "[::1]evil.example",
    "local\xe9host",
])  # fmt: skip
def test_other_names_and_what_is_none_are_refused(port, host):
    for path in ("/", "/readyz", "/resourcez", ASSET, "/static/main-vuetify.js", "/nothing"):
        status, words = get(port, path, host=host)
        assert status in (400, 403), (path, words)
        assert words.count("\n") <= 1
        assert "Traceback" not in words
    lines = [f"GET /jupyter/api/kernels/{uuid.uuid4()}/channels?session_id=1 HTTP/1.1", f"Host: {host}"]
    upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]  # fmt: skip
    assert raw(port, *lines, *upgrade)[0] in (400, 403)


def test_it_says_which_option_allows_a_name(port):
    assert get(port, host="lab.example:8765") == (
        403, "refused: Host lab.example is none of this server's names; view --allow-host lab.example allows it\n"
    )  # fmt: skip


@pytest.mark.parametrize("hosts", [None, ["127.0.0.1", "127.0.0.1"], ["127.0.0.1", "evil.example"]])
def test_exactly_one_host_is_needed(port, hosts):
    assert get(port, host=hosts)[0] in (400, 403)
    lines = [f"Host: {host}" for host in hosts or []]
    assert raw(port, "GET / HTTP/1.0", *lines)[0] in (400, 403)


def test_a_name_that_is_allowed_is_answered_and_others_are_not(named):
    for host in ("lab.example", "Lab.Example:8765", "localhost"):
        assert get(named, host=host)[0] == 200
        with kernel(named, host=host, origin=f"http://{host}") as connection:
            assert answers(connection)
    # Behind a server that speaks TLS.
    with kernel(named, host="lab.example", origin="https://lab.example") as connection:
        assert answers(connection)
    for host in ("evil.example", "lab.example.evil.example", "0.0.0.0"):
        assert get(named, host=host)[0] == 403
        assert refused(named, host=host) == 403


ORIGINS = ["http://evil.example", "null", "", "http://127.0.0.1", "http://localhost:{port}", "http://127.0.0.1:1",
           "file://", "https://127.0.0.1:1", "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}/x",
           "ftp://127.0.0.1:{port}", "http://evil@127.0.0.1:{port}", "127.0.0.1:{port}",
           "chrome-extension://abc"]  # fmt: skip


@pytest.mark.parametrize("origin", ORIGINS)
def test_another_origin_is_refused_everywhere(port, origin):
    origin = origin.format(port=port)
    assert refused(port, origin=origin) == 403
    words = "refused: Origin is not this page's own (it must equal Host); no option allows other pages\n"
    for path in ("/", "/readyz", ASSET):
        assert get(port, path, Origin=origin) == (403, words)
    lines = ["POST /_solara/api/close/x?session_id=1 HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Length: 0"]
    assert raw(port, *lines, f"Origin: {origin}")[0] == 403


def test_two_origins_are_refused(port):
    own = f"Origin: http://127.0.0.1:{port}"
    assert raw(port, "GET / HTTP/1.1", f"Host: 127.0.0.1:{port}", own, own, "Connection: close")[0] == 403


def test_an_origin_is_none_that_only_the_standard_port_makes_equal(port):
    assert get(port, host="127.0.0.1:80", Origin="http://127.0.0.1")[0] == 200
    assert get(port, host="127.0.0.1:443", Origin="http://127.0.0.1")[0] == 403


def test_other_pages_cannot_fetch_or_frame_it_but_link_to_it(port):
    """Browsers say so of requests that carry no Origin: pictures, scripts, frames."""
    for mode, dest in (("no-cors", "image"), ("no-cors", "script"), ("navigate", "iframe")):
        for site in ("cross-site", "same-site"):
            headers = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": dest}
            assert get(port, ASSET, **headers)[0] == 403
    linked = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    assert get(port, **linked)[0] == 200
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/readyz")
    assert connection.getresponse().headers["X-Frame-Options"] == "DENY"
    connection.close()


@pytest.mark.parametrize("path", [
    "/jupyter/api/kernels/{}/channels", "/jupyter/api/kernels/{}/channels?session_id=", "/", "/x",
    "/jupyter/api/kernels//channels", "/jupyter/api/kernels/%00/channels?session_id=1",
    "/jupyter/api/kernels/" + "x" * 65 + "/channels?session_id=1", "/jupyter/api/kernels/{}/other?session_id=1",
    "/jupyter/api/kernels/{}/channels?session_id=" + "1" * 9000,
])  # fmt: skip
def test_what_is_no_tab_gets_no_connection(port, path):
    assert refused(port, path=path.format(uuid.uuid4())) in (400, 403, 404, 431)


ODD = ["%00", "a%00b", "%0a", "%ff", "%c3%28", "%", "%zz", "%2", "%25%30%30", "x" * 300, "x" * 5000, "x/" * 900,
       "%5c", "..%5c..", "..%2f..%2f..%2f..%2f..%2fetc%2fpasswd", "../../../../../../etc/passwd", ".", "..",
       "%2e%2e/%2e%2e/%2e%2e/etc/passwd", "....//....//etc/passwd", "//etc/passwd", "%2fetc%2fpasswd", "~root",
       "a?v=%ff", "a?" + "v" * 5000, "\x7f", "con", ";x"]  # fmt: skip
FOLDERS = ["/", "/static/", "/static/public/", "/static/assets/", "/jupyter/nbextensions/", "/_solara/cdn/",
           "/_solara/cdn/x/", "/_solara/api/close/", "/_solara/api/evict/", "/_solara/",
           "/jupyter/api/kernels/"]  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_no_path_is_a_fault_of_the_server_or_leads_out_of_its_folders(port, odd):
    for place in FOLDERS:
        for method in ("GET", "HEAD", "POST", "OPTIONS"):
            status, words = raw(
                port,
                f"{method} {place}{odd} HTTP/1.1",
                f"Host: 127.0.0.1:{port}",
                "Connection: close",
                "Content-Length: 0",
            )
            assert status < 500, (method, place, words)
            assert "root:" not in words
            assert "Traceback" not in words
            # To any name of a kernel Solara answers the same, which says nothing.
            assert status != 200 or place == "/jupyter/api/kernels/"


def test_the_page_and_its_files_are_served(port):
    status, page = get(port)
    assert status == 200
    assert "solara" in page
    assert get(port, "/static/main-vuetify.js")[0] == 200
    assert get(port, ASSET)[0] == 200
    assert get(port, "/readyz")[0] == 200


def test_a_folder_of_the_assets_is_not_deleted_by_looking_at_it(port):
    for _ in range(2):
        assert get(port, "/_solara/cdn/requirejs@2.3.6")[0] == 404
        assert get(port, "/_solara/cdn/requirejs@2.3.6/")[0] == 404
    assert get(port, ASSET)[0] == 200


def test_the_first_request_does_not_say_where_everything_is(folder):
    with served(folder) as (_, port):
        assert "evil" not in get(port, **{"X_Script_Name": "//evil.example", "Script_Name": "//evil.example"})[1]
        assert "evil" not in get(port)[1]


@pytest.mark.parametrize("call", ["close", "evict"])
@pytest.mark.parametrize("query", ["", "?session_id=", "?session_id=unknown", "?other=1"])
def test_a_tab_that_is_not_there_cannot_be_closed(port, call, query):
    with kernel(port, tab := str(uuid.uuid4())) as connection:
        assert answers(connection)
        for name in (tab, "unknown"):
            lines = (f"POST /_solara/api/{call}/{name}{query} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Length: 0")
            assert raw(port, *lines, "Connection: close")[0] in (200, 400, 404)
        assert answers(connection)


def test_bodies_and_messages_are_bounded(port):
    from websockets.exceptions import ConnectionClosed

    head = ("POST /_solara/api/close/x?session_id=1 HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close")
    for length in ("100000000", "9" * 30):
        assert raw(port, *head, f"Content-Length: {length}")[0] in (400, 413)
    with kernel(port) as connection:
        assert answers(connection)
        connection.send("x" * 2_000_000)
        with pytest.raises(ConnectionClosed):
            drain(connection, 30)


def test_a_message_that_is_none_disturbs_no_other_tab(port):
    from websockets.exceptions import ConnectionClosed

    with kernel(port) as other:
        for message in ("{", "[]", "{}", b"\0", '{"header": {"msg_type": "shutdown_request"}}'):
            with kernel(port) as connection:
                connection.send(message)
                with pytest.raises((ConnectionClosed, TimeoutError)):
                    drain(connection, 3)
        assert answers(other)


def text_of(message):
    """What a message says; bytes stand beside it where it has some."""
    if isinstance(message, str):
        return message
    first, second = struct.unpack(">2I", message[4:12])
    return message[first:second].decode()


class Hand:
    """A tab without a browser: messages are written by hand."""

    def __init__(self, connection):
        self.connection, self.heard = connection, []
        self.send("comm_open", comm_id="control", target_name="solara.control", data={})
        arguments = {"path": "/", "dark": False, "themes": {"light": {}, "dark": {}}, "appName": None}
        self.say("control", method="run", args=arguments)
        self.page = self.until(lambda: next((name for name, state in self._states() if "lists" in state), None))
        self.tell(self.page, "begin", "")

    def send(self, kind, **content):
        header = {"msg_id": str(uuid.uuid4()), "msg_type": kind, "session": "s", "username": "", "version": "5.2"}
        self.connection.send(json.dumps(
            {"header": header, "parent_header": {}, "metadata": {}, "content": content, "buffers": [],
             "channel": "shell"}
        ))  # fmt: skip

    def say(self, widget, **data):
        self.send("comm_msg", comm_id=widget, data=data)

    def tell(self, widget, event, data):
        self.say(widget, method="custom", content={"event": event, "data": data})

    def until(self, condition, timeout_s=60.0):
        end = time.monotonic() + timeout_s
        while not (found := condition()) and time.monotonic() < end:
            self.listen(0.2)
        assert found
        return found

    def listen(self, for_s):
        end = time.monotonic() + for_s
        while (left := end - time.monotonic()) > 0:
            try:
                self.heard.append(json.loads(text_of(self.connection.recv(left))))
            except TimeoutError:
                return

    def value(self, name):
        """The newest value of a trait of any widget."""
        values = [state[name] for _, state in self._states() if name in state]
        return values[-1] if values else None

    def _states(self):
        for message in self.heard:
            content = message["content"]
            data = content.get("data") if isinstance(content, dict) else None
            if isinstance(data, dict) and isinstance(data.get("state"), dict):
                yield content["comm_id"], data["state"]

    def lives(self):
        """Whether the page still does what it is asked for."""
        seed = str(len(self.heard) + 2)
        self.tell(self.page, "enter", {"name": "seed", "text": seed})
        return self.until(lambda: self.value("query") == f"seed={seed}")


ODD_DATA = [None, True, -1, 1.5, float("nan"), 10**30, "", "x" * 1000, [], [[]], {}, {"name": "policy"},
            {"name": ["index"], "value": {}}, {"name": "index", "value": "nothing"}, {"name": "policy", "text": "2"},
            {"name": "__class__", "text": "1"}, {"name": "nodes", "text": {}}, {"name": "nodes", "text": "9" * 9000},
            {"name": "policy", "value": "mine.py:Mine"}, {"map0": ["a", None]}, {"map0": 3},
            {"map0": [float("inf"), float("nan")]}]  # fmt: skip


def test_events_of_any_kind_neither_stop_a_page_nor_fill_the_log(folder):
    with served(folder) as (server, port), kernel(port) as connection:
        hand = Hand(connection)
        hand.until(lambda: hand.value("fields"))
        for data in ODD_DATA:
            for widget in (hand.page, "unknown"):
                for event in ("begin", "choose", "enter", "reset", "stop", "file", "click", "other", "", None, []):
                    hand.tell(widget, event, data)
        assert hand.lives()
        log = server.log()
    assert len([line for line in log.splitlines() if not line.startswith(("getting ready", "the page is at"))]) < 300
    assert "cluster-abm player" not in log
    # What the page's own parts hear leaves nothing: only events of other parts do, a few times.
    assert "viz" not in log


def test_messages_of_any_kind_leave_the_tab_as_it_is(folder):
    with served(folder) as (server, port), kernel(port) as connection:
        hand = Hand(connection)
        deep = "[" * 100_000
        texts = ("{", "[]", "{}", "null", "1", deep, '"\\ud800"', '{"header": 1}', '{"header": {"msg_type": []}}')
        for text in (*texts, b"", b"\0", b"\0\0\0\x01\0\0\0\x08{}", b"\x7f\xff\xff\xff"):
            connection.send(text)
        hand.send("shutdown_request")
        hand.send("execute_request", code="1")
        hand.send("comm_open", comm_id="x", target_name="jupyter.widget", data={"state": {}})
        hand.send("comm_open", comm_id=hand.page, target_name="nothing", data={})
        hand.send("comm_open")
        hand.send("comm_close", comm_id=hand.page)
        hand.send("comm_msg", comm_id=[], data=3)
        for method in (None, "evict", "reload", [], "run", "echo_update"):
            hand.say("control", method=method)
            hand.say(hand.page, method=method)
        hand.say("control", method="run", args={"path": "/" * 99, "appName": "x"})
        state = {"fields": 3, "recordings": [], "_esm": "<b/>"}
        hand.say(hand.page, method="update", state=state, buffer_paths=[[3]])
        assert hand.lives()
        log = server.log()
    assert [line for line in log.splitlines() if not line.startswith(("getting ready", "the page is at"))] == []


def test_a_message_calls_no_function_of_its_own_choice(folder):
    (folder / "called.py").write_text("from pathlib import Path\nPath('called').touch()\n")
    with served(folder) as (_, port), kernel(port) as connection:
        hand = Hand(connection)
        for widget in (hand.page,):
            made = {"create_widget": ["called", "nothing"], "props": {}, "id": "x"}
            hand.say(widget, method="custom", content=made)
        assert hand.lives()
    assert not (folder / "called").exists()


def test_a_tab_has_one_page(folder):
    with served(folder) as (_, port), kernel(port) as connection:
        hand = Hand(connection)
        before = sum("lists" in state for _, state in hand._states())
        arguments = {"path": "/", "dark": False, "themes": {"light": {}, "dark": {}}, "appName": None}
        for _ in range(5):
            hand.say("control", method="run", args=arguments)
        assert hand.lives()
        assert sum("lists" in state for _, state in hand._states()) == before


def test_hardware_is_what_the_list_shows_not_a_file_of_the_host(folder):
    preset = folder / "secret.toml"
    preset.write_text('title = "marbles"\n[cluster]\nmemory_mb = 77.0\n')
    with served(folder) as (_, port), kernel(port) as connection:
        hand = Hand(connection)
        hand.until(lambda: hand.value("fields"))
        for name in ("hardware", "policy", "other"):
            hand.tell(hand.page, "choose", {"name": name, "value": str(preset)})
        assert hand.lives()
        assert "secret.toml" not in json.dumps(hand.heard)


def test_one_visitor_leaves_places_for_others(folder):
    with served(folder, "--max-tabs", "4") as (_, port), ExitStack() as stack:
        found = [get(port)[0] for _ in range(6)]
        assert found == [200, 200, 503, 503, 503, 503]
        mine = {"additional_headers": {"Cookie": "solara-session-id=me"}}
        connections = [stack.enter_context(kernel(port, **mine)) for _ in range(2)]
        assert all(map(answers, connections))
        assert refused(port, **mine) == 403
        status, words = get(port, Cookie="solara-session-id=me")
        assert status == 503
        assert "one visitor has places for 2 (view --max-tabs-each changes that)" in words
        other = {"additional_headers": {"Cookie": "solara-session-id=other"}}
        with kernel(port, **other) as connection:
            assert answers(connection)


@pytest.fixture
def three(folder):
    """A server of three tabs, which no other test uses."""
    with served(folder, "--max-tabs", "3", "--max-tabs-each", "3") as (_, port):
        yield port


def close(port, tab, page):
    lines = (
        f"POST /_solara/api/close/{tab}?session_id={page} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Length: 0",
    )
    return raw(port, *lines, f"Origin: http://127.0.0.1:{port}",
               "Connection: close")[0]  # fmt: skip


def test_there_are_so_many_tabs_and_no_more(three):
    tabs = [(str(uuid.uuid4()), str(uuid.uuid4())) for _ in range(3)]
    paths = [f"/jupyter/api/kernels/{tab}/channels?session_id={page}" for tab, page in tabs]
    mine = {"additional_headers": {"Cookie": "solara-session-id=me"}}
    with ExitStack() as stack:
        connections = [stack.enter_context(kernel(three, path=path, **mine)) for path in paths]
        assert all(map(answers, connections))
        assert refused(three) == 403
        status, words = get(three)
        assert status == 503
        assert "too many tabs are open: this page has places for 3 (view --max-tabs changes that)" in words
        # One that is there comes back, first beside its old connection and then after it.
        with kernel(three, path=paths[0], **mine) as again:
            assert answers(again)
        connections[0].close()
        assert refused(three) == 403
        with kernel(three, path=paths[0], **mine) as again:
            assert answers(again)
        # One that is closed makes room.
        assert close(three, *tabs[1]) == 200
        connections[1].close()
        end = time.monotonic() + 20
        while get(three)[0] == 503 and time.monotonic() < end:
            time.sleep(0.1)
        with kernel(three) as other:
            assert answers(other)
            assert refused(three) == 403


def test_handshakes_at_once_do_not_make_more(three):
    from websockets.exceptions import InvalidStatus

    together = threading.Barrier(16)

    def come(stack):
        together.wait()
        try:
            return stack.enter_context(kernel(three))
        except InvalidStatus as problem:
            return problem.response.status_code

    with ExitStack() as stack, ThreadPoolExecutor(16) as pool:
        found = list(pool.map(come, [stack] * 16))
        connections = [one for one in found if not isinstance(one, int)]
        assert len(connections) == 3
        assert set(found) - set(connections) == {403}
        assert all(map(answers, connections))
        assert json.loads(get(three, "/resourcez")[1])["kernels"]["total"] == 3


def test_a_tab_has_only_so_many_connections(three):
    tab = str(uuid.uuid4())
    mine = {"additional_headers": {"Cookie": "solara-session-id=me"}}
    with ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(kernel(three, tab, **mine))
        assert refused(three, tab=tab, **mine) == 403


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_the_server_with_tabs_open(folder, number):
    with served(folder) as (server, port), kernel(port) as connection:
        assert answers(connection)
        os.kill(server.pid, number)
        assert server.wait(20) in (128 + number, -number)
        log = server.log()
    assert "Traceback" not in log
    assert "error" not in log.lower()


def test_a_server_of_a_session_has_logged_nothing_but_where_it_is(folder):
    with served(folder) as (server, port):
        get(port)
        get(port, host="evil.example")
        get(port, "/static/public/%00")
        refused(port, origin="null")
        with kernel(port) as connection:
            assert answers(connection)
        log = server.log()
    assert [line for line in log.splitlines() if not line.startswith(("getting ready", "the page is at"))] == []
