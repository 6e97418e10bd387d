"""Names that were others before: they go on working (docs/reference/deprecations.md), and a note says the new one."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import NamedTuple


class OldName(NamedTuple):
    """A name that was another one before.

    Attributes:
        kind: what it names.
        old, new: the name before, and today's.
        since: the version that has the new one.
        says_so: whether a use of the old one prints a note.
    """

    kind: str
    old: str
    new: str
    since: str
    says_so: bool


OLD_NAMES = (
    OldName("policy", "ideal", "pooled", "0.2", True),
    OldName("class of `cluster_abm.policies`", "Newcomer", "ArrivingTask", "0.2", False),
    OldName("attribute of `View`", "out", "down", "0.2", False),
)
# What of each kind has been said, and to which stream: once is enough for a command.
_said: dict[str, object] = {}


def say_again() -> None:
    """Have old names noted anew: another command begins in this process."""
    _said.clear()


def current(kind: str, name: str) -> str:
    """The name that a thing has now; of an old one a line on stderr says so, once."""
    for one in OLD_NAMES:
        if (one.kind, one.old) == (kind, name):
            if one.says_so and _said.get(kind) is not sys.stderr and sys.stderr is not None:
                _said[kind] = sys.stderr
                with suppress(OSError):
                    print(f"note: {kind} {name!r} is called {one.new!r} now", file=sys.stderr)
            return one.new
    return name
