"""What stands between the cells of a line."""

from __future__ import annotations

import re
from collections.abc import Iterable

_QUOTED = re.compile(r'"[^"]*"')
USUAL = ",\t;|"


def most_often(line: str, marks: Iterable[str] = USUAL) -> tuple[str, int]:
    """Which of these marks a line has most often outside of quotes, the first of equals, and how often."""
    bare = _QUOTED.sub("", line)
    counts = {mark: bare.count(mark) for mark in marks}
    most = max(counts, key=lambda mark: counts[mark])
    return most, counts[most]
