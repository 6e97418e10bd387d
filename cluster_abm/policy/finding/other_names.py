"""Other common names of policies: a hint leads from such a name to ours."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cluster_abm.scenario import nearest
from cluster_abm.scenario.shipped import all_of

LISTED_BY = "cluster-abm policies"
# By policy, a pattern of the words; a group is the policy's parameter `d`.
OTHER_NAMES = {
    "power-of-d": r"(?:jsq|sq|po|pow|pod|power-?of|power-?of-?d)-?\(?(?:d=)?([1-9][0-9]{0,5}|d|k|two)\)?(?:-?choices)?"
    r"|pod|po|(?:two|2|d)-?choices",
    "jsq": r"sq|shortest-?queue|join-?(?:the-?)?shortest-?queue|least-?connections?|lc|lor",
    "round-robin": r"rr|roundrobin|cyclic",
    "random": r"rand|rnd|uniform|bernoulli",
    "lwl": r"least-?work(?:-?left)?|jsw|shortest-?workload",
    "jiq": r"join-?(?:the-?)?idle-?queue|pull",
    "persistent-idle": r"pi",
    "sita-e": r"sita|size-?interval",
    "work-stealing": r"ws|steal(?:ing)?",
    "central-queue": r"cq|m/?m/?[ck]|single-?queue|global-?queue",
    "easy": r"easy-?back-?fill(?:ing)?|back-?fill(?:ing)?",
    "batch-system": r"fcfs|fifo|batch|slurm",
    "none": r"local|no-?lb|null|static|off",
}


def policy_hint(word: str, known: Iterable[str]) -> str:
    """The policy that a word means, or is nearly the name of; else how to find all.

    >>> policy_hint("jsq(3)", ["jsq", "power-of-d"])
    "did you mean 'power-of-d' with policy.d=3?"
    """
    names = list(known)
    text = word.strip().lower()[:100].replace("_", "-").replace(" ", "-")
    for name, pattern in OTHER_NAMES.items():
        found = re.fullmatch(pattern, text) if name in names else None
        if found is not None:
            drawn = found[1] if found.re.groups else None
            with_d = f" with policy.d={drawn}" if drawn is not None and drawn.isdigit() and drawn != "2" else ""
            return f"did you mean {name!r}{with_d}?"
    return nearest(word[:100], names, LISTED_BY)


def all_policies(known: Iterable[str]) -> str:
    """All of them in words, or the command that lists them."""
    return all_of(list(known), LISTED_BY)
