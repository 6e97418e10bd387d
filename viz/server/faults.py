"""What went wrong in a run, in words: a policy of the user's may raise anything."""

from __future__ import annotations

from collections.abc import Iterable
from types import FrameType

from cluster_abm.policies import Policy

MOST_WORDS = 600


def words_of(problem: BaseException) -> str:
    """What went wrong, and in which policy, in one line of bounded length."""
    try:
        words = f"{type(problem).__name__}: {problem}"
    except BaseException:
        # Even its text may be of the policy's making.
        words = type(problem).__name__
    frames, at = [], problem.__traceback__
    while at is not None:
        frames.append(at.tb_frame)
        at = at.tb_next
    policy = _policy_of(reversed(frames))
    return shortened(words if policy is None else f"policy {policy!r}: {words}", MOST_WORDS)


def shortened(words: str, most: int) -> str:
    """Words, cut to at most that many characters, with how many there were."""
    return words if len(words) <= most else f"{words[:most]}… ({len(words):,} characters)"


def _policy_of(frames: Iterable[FrameType]) -> str | None:
    """The policy of the innermost frame that is a policy's method."""
    for frame in frames:
        code = frame.f_code
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        # Not isinstance, which asks the object: its answer would be the policy's code.
        kind: type = type(first)
        if issubclass(kind, Policy):
            return str(kind.name)
    return None
