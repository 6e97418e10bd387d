"""Which messages of a browser reach Solara: those that the page itself sends.

Solara and its widgets trust a connection. A message of another kind makes widgets of any class, calls any function that
can be imported, ends the tab's thread, or leaves a traceback in the log.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

MOST_TEXT = 128
MOST_THEME = 100
# The page's path, and the settings in its query (viz.address).
PATH = re.compile(r"/(\?[!-;=?-~]{0,2000})?", re.ASCII)
ENVELOPE = {"header": dict, "parent_header": dict, "metadata": dict, "content": dict, "channel": str}
HEADER = ("msg_id", "msg_type", "session", "username", "version")
QUESTIONS = ("kernel_info_request", "comm_info_request")
TARGETS = ("solara.control", "jupyter.widget.control")
# What the page reports: that it is there, what is set, and what is wanted.
EVENTS = frozenset({"begin", "choose", "enter", "reset", "stop", "file", "detail", "script"})
# What a browser may set of a widget: whether it is dark.
STATE = frozenset({"dark_effective"})


class Heard(NamedTuple):
    """A message that the page may have sent.

    Attributes:
        begins: whether it has the page built.
    """

    begins: bool


def heard(text: object) -> Heard | None:
    """What a message says; None if it is none that the page sends.

    Args:
        text: as it came; the page sends no bytes.
    """
    try:
        message = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    if message is None or not _is_envelope(message):
        return None
    kind, content = message["header"]["msg_type"], message["content"]
    if kind in QUESTIONS:
        return Heard(False) if content.get("target_name", "") in ("", None, "jupyter.widget") else None
    if kind == "comm_open":
        right = _is_text(content.get("comm_id")) and content.get("target_name") in TARGETS and content.get("data") == {}
        return Heard(False) if right else None
    data = content.get("data")
    if kind != "comm_msg" or not _is_text(content.get("comm_id")) or not isinstance(data, dict):
        return None
    method = data.get("method")
    is_right = METHODS.get(method) if isinstance(method, str) else None
    return Heard(method == "run") if is_right is not None and is_right(data) else None


def _is_envelope(message: Any) -> bool:
    if not isinstance(message, dict) or message.get("buffers", []) != []:
        return False
    if not all(isinstance(message.get(name), kind) for name, kind in ENVELOPE.items()):
        return False
    header = message["header"]
    return message["channel"] == "shell" and all(
        isinstance(header.get(name), str) and len(header[name]) <= MOST_TEXT for name in HEADER
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MOST_TEXT


def _is_run(data: Mapping[str, Any]) -> bool:
    given = data.get("args")
    return (
        isinstance(given, dict)
        and given.keys() <= {"path", "dark", "themes", "appName"}
        and isinstance(given.get("path"), str)
        and PATH.fullmatch(given["path"]) is not None
        and isinstance(given.get("dark"), bool)
        and given.get("appName") is None
        and _is_theme(given.get("themes"))
    )


def _is_theme(given: object) -> bool:
    """Whether they are colours by name, of themes by name."""
    if not isinstance(given, dict) or not given.keys() <= {"light", "dark"}:
        return False
    return all(
        isinstance(colours, dict) and len(colours) <= MOST_THEME and all(map(_is_text, colours.values()))
        for colours in given.values()
    )


def _is_event(data: Mapping[str, Any]) -> bool:
    said = data.get("content")
    # Beside "event" widgets take "create_widget", which calls any function that can be imported.
    return isinstance(said, dict) and said.keys() <= {"event", "data"} and _is_one_of(said.get("event"), EVENTS)


def _is_one_of(value: object, allowed: frozenset[str]) -> bool:
    return isinstance(value, str) and value in allowed


def _is_update(data: Mapping[str, Any]) -> bool:
    state = data.get("state")
    return (
        isinstance(state, dict)
        and state.keys() <= STATE
        and all(isinstance(value, bool) for value in state.values())
        and data.get("buffer_paths", []) == []
    )


def _is_question(data: Mapping[str, Any]) -> bool:
    return True


METHODS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "run": _is_run,
    "app-status": _is_question,
    "request_state": _is_question,
    "request_states": _is_question,
    "custom": _is_event,
    "update": _is_update,
}
"""What a message to a widget may ask for, and whether what stands beside it is right."""
