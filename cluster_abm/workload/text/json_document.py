"""JSON of the user: what is wrong in it in words, and the objects of a long list one after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError

_BLANKS = re.compile(r"[ \t\r\n]*")


@contextmanager
def json_problems(where: str) -> Iterator[None]:
    """Raise InputError for what is no JSON, or none that can be read, with its line."""
    try:
        yield
    except UnicodeDecodeError as problem:
        raise InputError(f"{shown(where)}: not JSON: no UTF-8 text (byte {problem.start:,})") from None
    except RecursionError:
        raise InputError(f"{shown(where)}: not read: it is nested too deeply") from None
    except json.JSONDecodeError as problem:
        cut = " (cut off?)" if problem.pos >= len(problem.doc.rstrip()) else ""
        raise InputError(f"{shown(where)}, line {problem.lineno}: not JSON: {problem.msg}{cut}") from None
    except ValueError:
        raise InputError(f"{shown(where)}: not read: a number has too many digits") from None


def entries_of(text: str, key: str) -> Iterator[Any]:
    """The entries of the list under a key of the object that a text holds, one at a time; none if there is no such key.

    Raises JSONDecodeError, RecursionError, ValueError: as `json.loads` does (`json_problems` says it in words).
    """
    decoder = json.JSONDecoder()
    at = _behind(text, 0, "{")
    is_first = True
    while not _is_next(text, at, "}"):
        at = at if is_first else _behind(text, at, ",")
        is_first = False
        name, at = decoder.raw_decode(text, _next(text, at))
        if not isinstance(name, str):
            raise json.JSONDecodeError("Expecting a name in quotes", text, at)
        at = _behind(text, at, ":")
        if name != key or not _is_next(text, at, "["):
            _, at = decoder.raw_decode(text, _next(text, at))
            continue
        at = _behind(text, at, "[")
        while not _is_next(text, at, "]"):
            entry, at = decoder.raw_decode(text, _next(text, at))
            yield entry
            if not _is_next(text, at, "]"):
                at = _behind(text, at, ",")
        at = _behind(text, at, "]")
    rest = _next(text, _behind(text, at, "}"))
    if rest < len(text):
        raise json.JSONDecodeError("Extra data", text, rest)


def writable(text: str) -> str:
    """A text that UTF-8 can write and a text file may hold: JSON also has halves of characters, and NUL."""
    return text.encode(errors="replace").decode().replace("\0", "?")


def _next(text: str, at: int) -> int:
    """Where the next character stands that is no blank."""
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _is_next(text: str, at: int, mark: str) -> bool:
    return text.startswith(mark, _next(text, at))


def _behind(text: str, at: int, mark: str) -> int:
    at = _next(text, at)
    if not text.startswith(mark, at):
        raise json.JSONDecodeError(f"Expecting {mark!r}", text, at)
    return at + 1
