"""Words of a column of states: which of them say that a job has not run."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NOT_RUN = re.compile(
    r"(?:pending|pd|queued|waiting|submitted|ready|created|new|unscheduled|scheduling|held|rejected|configuring|"
    r"deferred|blocked|idle|requeued)",
    re.IGNORECASE,
)
MOST = 20  # words that are listed


def left_out(words: Sequence[str]) -> tuple[str, ...]:
    """The words among these that say that a job has not run (yet), each once, sorted."""
    return tuple(sorted({word for word in words if _NOT_RUN.fullmatch(word) and '"' not in word}))[:MOST]
