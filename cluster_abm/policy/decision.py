"""A decision of a policy: what it says, and what a run notes of it. All rows, columns and checks follow from here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from operator import attrgetter

from cluster_abm.policy.described import Described, by_default, explained, fields_of, said
from cluster_abm.policy.tasks import Candidate


@explained
@dataclass(frozen=True, slots=True)
class Decision:
    """Where an arriving task should start, and why; what is not known or not asked is NaN.

    Example:
        Decision(view.me, rule="own", reason="no other node is better")
        Decision(view.least("io_ms"), rule="least I/O", index="io_ms")
    """

    target: int = field(metadata=said("node", "node that is asked; the node of the task itself: the task stays"))
    rule: str = field(metadata=said("words", "the policy's rule that decided"))
    index: str = by_default("", "name", "load index compared; empty: none")
    task_load: float = by_default(
        math.nan, "of the index", "what the task adds to it; not a number: not asked, here and below"
    )
    load_here: float = by_default(math.nan, "of the index", "value of the source")
    load_there: float = by_default(math.nan, "of the index", "value of the target")
    response_here_ms: float = by_default(math.nan, "ms", "expected response time at the source")
    response_there_ms: float = by_default(math.nan, "ms", "expected response time at the target")
    cost_ms: float = by_default(math.nan, "ms", "cost of starting it at the target, or of migrating it there")
    reason: str = by_default("", "words", "why it stays, or why the target refused")
    task: Candidate | None = field(
        default=None, metadata=said("task", "task to migrate, of `View.candidates`; None: the arriving one")
    )
    mce: float = by_default(
        math.nan, "1/ms", "migration cost-effectiveness, WAL-PM (8); of hbd the age over the cost, without unit"
    )


FIELDS = fields_of(Decision)
TEXTS = tuple(one.name for one in FIELDS if one.kind == "str")
NUMBERS = tuple(one.name for one in FIELDS if one.kind == "float")
texts_of, numbers_of = attrgetter(*TEXTS), attrgetter(*NUMBERS)

# The columns of decisions.parquet.
RECORDED: tuple[Described, ...] = (
    Described("time_ms", "float", "ms", "start of the slice in which it was taken"),
    Described("task", "int", "task", "task that it is about"),
    Described("job", "int", "job", "its job"),
    Described("source", "int", "node", "node of the load manager that decided"),
    *(one for one in FIELDS if one.name not in ("task", "reason")),
    Described("accepted", "bool", "flag", "whether the task starts, or goes on, at the target"),
    *(one for one in FIELDS if one.name == "reason"),
)
