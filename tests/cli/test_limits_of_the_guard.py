"""The guard of the page, its places for tabs, and its messages: at their limits, just beyond, and of the wrong type."""

from __future__ import annotations

import asyncio
import json

import pytest

from cluster_abm.errors import InputError
from viz.server.guard import Guard, allowed_names, authority
from viz.server.messages import heard
from viz.server.tabs import Tabs, share_of, visitor

TAB, HOST = "/jupyter/api/kernels/abc/channels", ("host", "localhost:1")


def answered(folder, path="/", query="", headers=(HOST,), tabs=None, method="GET", app=None, **more):
    """What the guard answers: (status, words); 200 is the application's own."""
    sent = []

    async def plain(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"own"})

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request", "body": b""}

    scope = {
        "type": "http", "path": path, "query_string": query.encode(), "method": method, "client": ("10.0.0.1", 5),
        "headers": [(name.encode(), value.encode()) for name, value in headers], **more,
    }  # fmt: skip
    guard = Guard(app or plain, ["localhost", "[::1]"], tabs or Tabs(9, 9, list), folder)
    asyncio.run(guard(scope, receive, send))
    start, body = sent
    assert (b"x-frame-options", b"DENY") in start["headers"]
    return start["status"], body["body"].decode()


@pytest.mark.parametrize(("headers", "status"), [
    ([HOST], 200), ([], 403), ([HOST, HOST], 403), ([("host", "other")], 403), ([("host", "[0:0::1]:9")], 200),
    ([HOST, ("origin", "http://localhost:1")], 200), ([HOST, ("origin", "http://localhost:2")], 403),
    ([HOST, ("origin", "http://localhost")], 403), ([("host", "localhost"), ("origin", "http://localhost:80")], 200),
    ([("host", "localhost"), ("origin", "https://localhost:443")], 200),
    ([("host", "localhost"), ("origin", "https://localhost:80")], 403), ([HOST, ("origin", "null")], 403),
    ([HOST, ("origin", "http://localhost:1"), ("origin", "http://localhost:1")], 403),
    # Another page may lead here, by a link in a window of its own, and no more.
    ([HOST, ("sec-fetch-site", "same-origin")], 200), ([HOST, ("sec-fetch-site", "none")], 200),
    ([HOST, ("sec-fetch-site", "cross-site")], 403), ([HOST, ("sec-fetch-site", "same-site")], 403),
    ([HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")], 200),
    ([HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")], 403),
    ([HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors"), ("sec-fetch-dest", "document")], 403),
    # A body of 64 KiB.
    ([HOST, ("content-length", "65536")], 200), ([HOST, ("content-length", "65537")], 413),
    ([HOST, ("content-length", "-1")], 413), ([HOST, ("content-length", "0000065536")], 413),
    ([HOST, ("content-length", "000065536")], 200), ([HOST, ("content-length", "x")], 413),
])  # fmt: skip
def test_who_is_answered(tmp_path, headers, status):
    assert answered(tmp_path, headers=headers)[0] == status


def test_a_link_leads_here_by_get_alone(tmp_path):
    headers = [HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]
    assert answered(tmp_path, headers=headers, method="POST")[0] == 403


@pytest.mark.parametrize(("path", "query", "status"), [
    ("/static/" + "x" * 2040, "", 200), ("/static/" + "x" * 2041, "", 414), ("/", "q" * 2048, 200),
    ("/", "q" * 2049, 414), ("/static/a\\b", "", 400), ("/static//a", "", 400), ("/static/../a", "", 400),
    ("/static/./a", "", 400), ("/static/a..b", "", 200), ("/static/.a", "", 200), ("/static/\ufffd", "", 400),
    ("/static/a\nb", "", 400), ("/static", "", 404), ("/other/", "", 404), ("/readyz", "", 200), ("", "", 404),
    ("/_solara/cdn/there.js", "", 200), ("/_solara/cdn/gone.js", "", 404), ("/_solara/cdn/", "", 404),
    ("/_solara/api/close/abc", "session_id=1", 200), ("/_solara/api/close/abc", "", 400),
    ("/_solara/api/close/abc", "session_id=", 400),
])  # fmt: skip
def test_what_is_answered(tmp_path, path, query, status):
    (tmp_path / "there.js").write_text("x")
    assert answered(tmp_path, path, query)[0] == status


def test_a_call_that_fails_is_a_tab_that_is_not_there_and_nothing_else_is(tmp_path):
    async def failing(scope, receive, send):
        raise KeyError("abc")

    async def broken(scope, receive, send):
        await send({"type": "http.response.start", "status": 500, "headers": []})
        await send({"type": "http.response.body", "body": b"Traceback"})

    call = {"path": "/_solara/api/close/abc", "query": "session_id=1"}
    for app in (failing, broken):
        assert answered(tmp_path, **call, app=app) == (404, "there is no such tab\n")
    assert answered(tmp_path, app=broken) == (500, "Traceback")
    with pytest.raises(KeyError):
        answered(tmp_path, app=failing)


def test_a_page_without_a_place_comes_again_by_itself(tmp_path):
    none = Tabs(1, 1, lambda: ["abc"])
    status, words = answered(tmp_path, tabs=none)
    assert (status, words.partition(":")[0]) == (503, "too many tabs are open")
    # Only a page takes a place.
    assert answered(tmp_path, tabs=none, method="HEAD")[0] == 200
    assert answered(tmp_path, "/readyz", tabs=none)[0] == 200


# ---- names ----


@pytest.mark.parametrize(("text", "found"), [
    ("a:1", ("a", 1)), ("a:65535", ("a", 65535)), ("a:65536", None), ("a:0", None), ("a:", None), ("A", ("a", None)),
    ("[::1]:5", ("[::1]", 5)), ("[1]", None), ("", None), ("a:123456", None), ("a_b-c.d", ("a_b-c.d", None)),
])  # fmt: skip
def test_an_authority(text, found):
    assert authority(text) == found


@pytest.mark.parametrize(("host", "address", "more", "names"), [
    ("localhost", "127.0.0.1", [], ["127.0.0.1", "localhost", "[::1]"]),
    ("0.0.0.0", "0.0.0.0", ["Lab"], ["127.0.0.1", "localhost", "[::1]", "lab"]),
    ("lab", "10.0.0.5", [], ["10.0.0.5", "lab"]), ("x", "10.0.0.5", ["::2"], ["[::2]", "10.0.0.5", "x"]),
])  # fmt: skip
def test_names_that_requests_may_be_for(host, address, more, names):
    assert sorted(allowed_names(host, address, more)) == sorted(names)


@pytest.mark.parametrize("name", ["a:1", "a b", "", "http://a", "[::g]"])
def test_a_name_that_is_none(name):
    with pytest.raises(InputError, match="a host name or an address is needed, without a port"):
        allowed_names("localhost", "127.0.0.1", ["fine", name])


# ---- places ----


def test_places_for_all_and_for_each():
    tabs = Tabs(3, 2, list)
    assert [tabs.enter(tab, "a") is None for tab in ("1", "2", "3")] == [True, True, False]
    assert tabs.enter("3", "b") is None
    assert "places for 3" in tabs.enter("4", "c")
    tabs.leave("1")
    assert tabs.enter("4", "c") is None
    # A second connection of a tab takes no place; four at once are the most.
    assert [tabs.enter("4", "c") is None for _ in range(4)] == [True, True, True, False]
    assert tabs.promise("c").startswith("too many tabs are open")


def test_a_promise_holds_for_ten_seconds():
    now = [0.0]
    tabs = Tabs(2, 2, list, lambda: now[0])
    assert tabs.promise("a") is None
    now[0] = 1.0
    assert tabs.promise("b") is None
    now[0] = 10.0
    assert tabs.promise("c") is not None
    now[0] = 10.001
    assert tabs.promise("c") is None
    # Whoever comes takes the place that was promised to them, also with a cookie that they got with the page.
    assert tabs.enter("1", "c") is None
    assert tabs.promise("d") is not None
    each = Tabs(9, 1, list)
    assert each.promise("127.0.0.1 ") is None
    assert each.promise("127.0.0.1 ").startswith("too many tabs of yours")
    assert each.enter("1", "127.0.0.1 cookie") is None
    assert each.promise("127.0.0.1 ") is None


def test_a_tab_has_one_page_until_it_is_gone():
    kept = ["1"]
    tabs = Tabs(2, 2, lambda: kept)
    assert [tabs.begin("1"), tabs.begin("1"), tabs.begin("2")] == [True, False, True]
    tabs.promise("a")
    assert not tabs.begin("1")
    kept.clear()
    tabs.promise("b")
    assert tabs.begin("1")


@pytest.mark.parametrize(("most", "share"), [(1, 1), (2, 1), (3, 2), (20, 10), (0, 1)])
def test_a_visitors_share(most, share):
    assert share_of(most) == share


@pytest.mark.parametrize(("address", "cookies", "name"), [
    ("10.0.0.1", ["solara-session-id=x"], "10.0.0.1"), ("127.0.0.1", ["solara-session-id=x"], "127.0.0.1 x"),
    ("::1", ["a=b; solara-session-id=y"], "::1 y"), ("::ffff:127.0.0.1", [], "127.0.0.1 "), ("pipe", ["a=b"], "pipe"),
    ("::ffff:10.0.0.1", [], "10.0.0.1"), ("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64"),
])  # fmt: skip
def test_who_a_visitor_is(address, cookies, name):
    assert visitor(address, cookies) == name


# ---- messages ----


def message(kind="comm_msg", content=None, header=(), **more):
    head = {"msg_id": "1", "msg_type": kind, "session": "s", "username": "", "version": "5.3"} | dict(header)
    return json.dumps({
        "header": head, "parent_header": {}, "metadata": {}, "content": content or {}, "channel": "shell", **more,
    })  # fmt: skip


def widget(**data):
    return {"comm_id": "c", "data": data}


RUN = {"path": "/", "dark": False, "themes": {"light": {"primary": "#fff"}}}


@pytest.mark.parametrize(("text", "is_heard"), [
    (message("kernel_info_request"), True), (message("kernel_info_request", buffers=[]), True),
    (message("kernel_info_request", buffers=["x"]), False), (message("kernel_info_request", channel="iopub"), False),
    (message("kernel_info_request", header={"msg_id": "i" * 128}), True), (message("shutdown_request"), False),
    (message("kernel_info_request", header={"msg_id": "i" * 129}), False),
    (message("kernel_info_request", header={"session": 3}), False),
    (message("kernel_info_request", metadata=[]), False),
    (message("comm_info_request", {"target_name": "jupyter.widget"}), True),
    (message("comm_info_request", {"target_name": "other"}), False),
    (message("comm_open", {"comm_id": "c", "target_name": "solara.control", "data": {}}), True),
    (message("comm_open", {"comm_id": "c", "target_name": "solara.control", "data": {"a": 1}}), False),
    (message("comm_open", {"comm_id": "c", "target_name": "jupyter.widget", "data": {}}), False),
    (message("comm_open", {"comm_id": "", "target_name": "solara.control", "data": {}}), False),
    (message(content=widget(method="request_state")), True), (message(content=widget(method="none")), False),
    (message(content=widget(method=["update"])), False), (message(content={"data": {"method": "update"}}), False),
    (message(content={"comm_id": "c", "data": []}), False), (message("execute_request", widget(method="run")), False),
    (message(content=widget(method="custom", content={"event": "choose", "data": 1})), True),
    (message(content=widget(method="custom", content={"event": "clock"})), False),
    (message(content=widget(method="custom", content={"event": "choose", "create_widget": 1})), False),
    (message(content=widget(method="update", state={"dark_effective": True})), True),
    (message(content=widget(method="update", state={"dark_effective": 1})), False),
    (message(content=widget(method="update", state={"layout": True})), False),
    (message(content=widget(method="update", state={"dark_effective": True}, buffer_paths=[["x"]])), False),
    (message(content=widget(method="run", args=RUN)), True),
    # All that there may be: both themes, and no name of an application.
    (message(content=widget(method="run", args=RUN | {"appName": None, "themes": {"light": {}, "dark": {}}})), True),
    (message(content=widget(method="run", args=RUN | {"themes": {"light": {"a": "c"}, "dark": {"a": ""}}})), False),
    (message(content=widget(method="run", args=RUN | {"themes": {"light": {"a": "c", "b": ""}}})), False),
    (message(content=widget(method="run", args=RUN | {"themes": {"light": {"a": "c" * 128}}})), True),
    (message(content=widget(method="run", args=RUN | {"path": "/x"})), False),
    (message(content=widget(method="run", args=RUN | {"path": "/?policy=jsq&nodes=64&seed=1e%2B3"})), True),
    (message(content=widget(method="run", args=RUN | {"path": "/?a=<b>"})), False),
    (message(content=widget(method="run", args=RUN | {"path": "/?" + "x" * 2001})), False),
    (message(content=widget(method="run", args=RUN | {"path": ["/"]})), False),
    (message(content=widget(method="run", args=RUN | {"dark": 0})), False),
    (message(content=widget(method="run", args=RUN | {"appName": "x"})), False),
    (message(content=widget(method="run", args=RUN | {"more": 1})), False),
    (message(content=widget(method="run", args=RUN | {"themes": {"other": {}}})), False),
    (message(content=widget(method="run", args=RUN | {"themes": {"light": {str(n): "c" for n in range(100)}}})), True),
    (message(content=widget(method="run", args=RUN | {"themes": {"light": {str(n): "c" for n in range(101)}}})), False),
    (message(content=widget(method="run", args=RUN | {"themes": {"light": {"a": ""}}})), False),
    (message(content=widget(method="run", args=RUN | {"themes": {"light": {"a": "c" * 129}}})), False),
    ("", False), ("{", False), ("[]", False), ("[" * 100_000, False), (b"{}", False), (None, False), ("null", False),
])  # fmt: skip
def test_what_is_heard(text, is_heard):
    found = heard(text)
    assert (found is not None) == is_heard
    assert found is None or found.begins == ('"run"' in text)
