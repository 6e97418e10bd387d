"""Why a policy has decided so, in words, with the lines of the paper: made of the rule that a decision names.

Each policy has the words of its own rules (`Policy.rules`); a decision's numbers and reason complete them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cluster_abm.policy.base import Policy


class Reason(NamedTuple):
    """Why.

    Attributes:
        words: a clause, e.g. "home's disk is busiest, the gap narrows and it gains 3.2 s".
        lines: where a paper says so, e.g. "IOLB Fig. 1, lines 3-8"; the policy's source where no line says it.
    """

    words: str
    lines: str


def rules_of(policy: type[Policy]) -> dict[str, Reason]:
    """The words of a policy's rules, those of its bases included, by rule; what is no tuple of texts is left out."""
    found: dict[str, Reason] = {}
    for base in reversed(policy.__mro__):
        for rule, words, lines in _texts(vars(base).get("rules")):
            found[rule] = Reason(words, lines)
    return found


def rule_in_words(policies: Iterable[type[Policy]], rule: str) -> Reason:
    """The words of a rule and its lines, by the first of these policies that describes it; lines are never empty."""
    kinds = list(policies)
    for kind in kinds:
        said = _of_rule(kind, rule)
        if said != Reason(rule, ""):
            return said._replace(lines=said.lines or str(kind.source))
    return Reason(rule, str(kinds[0].source))


def reason_of(policy: type[Policy], decision: Any) -> Reason:
    """Why a decision of this policy was taken.

    Args:
        policy: the class.
        decision: a model.deciding.decisions.DecisionRecord, or a row of `decisions_frame`.

    Returns:
        Words that are never empty: of a rule that the policy does not describe they are the rule itself.
    """
    said = _of_rule(policy, decision.rule)
    stays = decision.source == decision.target
    lines = said.lines or str(policy.source)
    if stays and decision.reason:
        return Reason(f"{said.words}, but {decision.reason}" if said.words else decision.reason, lines)
    clauses = [said.words or decision.reason or decision.rule or "the policy says so"]
    clauses += [] if stays else _by_numbers(decision)
    before, last = clauses[:-1], clauses[-1]
    return Reason(f"{', '.join(before)} and {last}" if before else last, lines)


def _of_rule(policy: type[Policy], rule: str) -> Reason:
    rules = rules_of(policy)
    if rule in rules:
        return rules[rule]
    for pattern, said in rules.items():
        before, placeholder, after = pattern.partition("{}")
        found = re.fullmatch(f"{re.escape(before)}(.+){re.escape(after)}", rule) if placeholder else None
        if found:
            return said._replace(words=said.words.replace("{}", found[1]))
    return Reason(rule, "")


def _texts(rules: object) -> Iterator[tuple[str, str, str]]:
    """A policy of one's own may hold anything there."""
    for one in rules if isinstance(rules, tuple) else ():
        if isinstance(one, tuple) and len(one) in (2, 3) and all(isinstance(part, str) for part in one):
            yield one[0], one[1], one[2] if len(one) == 3 else ""


def _by_numbers(decision: Any) -> list[str]:
    """What a node that sends a task away has found besides: the conditions of IOLB's Fig. 1, lines 5-7."""
    gain_ms = decision.response_here_ms - decision.response_there_ms - decision.cost_ms
    if not math.isfinite(gain_ms):
        return []
    gap = ["the gap narrows"] if math.isfinite(decision.task_load) else []
    return [*gap, f"it gains {_seconds(gain_ms)} s"]


def _seconds(ms: float) -> str:
    return f"{ms / 1000:,.0f}" if ms >= 100_000 else f"{ms / 1000:.2g}" if ms < 10_000 else f"{ms / 1000:.0f}"
