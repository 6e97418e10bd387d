"""What decides how good a policy can be, for the head of a table: its information, the dispatchers, refusals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cluster_abm.model.managed_policies import policies_of
from cluster_abm.policies import class_of
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.mixture import policies_in
from cluster_abm.study.design.traits import Information, Traits, traits_of, traits_of_policy
from cluster_abm.workload.homes import count_of_homes

WORDS: dict[Information, str] = {
    "fresh": "the state at the decision",
    "reported": "load reports",
    "messages": "messages",
    "none": "no reports",
}


def setting_lines(scenarios: Sequence[Scenario], policies: Sequence[str] | None = None) -> list[str]:
    """By what policies decide and how old that is; and how many dispatchers there are and who may refuse: two lines.

    A third one says where logs are drawn from a log.

    Args:
        scenarios: those that are run; at least one.
        policies: names; None: those of the first scenario's load managers.
    """
    named = policies_in(scenarios[0]) if policies is None else policies
    # Stored runs may be of a policy in a file that this process has not read.
    traits = {
        name: {one for scenario in scenarios for one in _traits(scenario, name, policies is None)}
        for name in named
        if class_of(name) is not None
    }
    if not traits:
        return [f"dispatchers: {_dispatchers(scenarios)}", *_drawn_logs(scenarios)]
    by_words: dict[str, list[str]] = {}
    for name, found in traits.items():
        words = " or ".join(sorted(WORDS[one] for one in {trait.information for trait in found}))
        by_words.setdefault(words.replace(WORDS["reported"], _reports(scenarios)), []).append(name)
    if len(by_words) == 1:
        information = next(iter(by_words))
    else:
        information = "; ".join(f"{words} ({', '.join(names)})" for words, names in by_words.items())
    refusing = [name for name, found in traits.items() if any(one.may_refuse for one in found)]
    if not refusing:
        answer = "no node refuses a task"
    else:
        answer = "asked nodes may refuse" + (f" ({', '.join(refusing)})" if len(refusing) < len(traits) else "")
    dispatchers = f"dispatchers: {_dispatchers(scenarios)}; {answer}"
    return [f"information: {information}", dispatchers, *_drawn_logs(scenarios)]


def drawn_log(scenario: Scenario) -> str:
    """What each seed draws from a scenario's log, in words; "": nothing."""
    trace = scenario.workload.trace
    if not scenario.workload.is_resampled:
        return ""
    if trace.resample == "users":
        return "another log, of this one's users and weeks"
    return f"this log with each session up to {trace.shake_s:g} s earlier or later"


def _drawn_logs(scenarios: Sequence[Scenario]) -> list[str]:
    words = dict.fromkeys(filter(None, map(drawn_log, scenarios)))
    return [f"log: a seed draws {' or '.join(words)}"] if words else []


def ages_and_dispatchers(scenarios: Sequence[Scenario]) -> str:
    """How old load reports are and how many dispatchers there are, where a table has a column for the rest."""
    return f"information: {_reports(scenarios)}; dispatchers: {_dispatchers(scenarios)}"


def _traits(scenario: Scenario, name: str, is_own: bool) -> Iterator[Traits]:
    if any(group.policy is not None for group in scenario.cluster.group):
        yield from (traits_of_policy(scenario, one) for one in policies_of(scenario).distinct if one.name == name)
    else:
        yield traits_of(scenario, scenario.policy.label if is_own else name)


def _reports(scenarios: Sequence[Scenario]) -> str:
    periods = [scenario.cluster.exchange_period_ms / 1000.0 for scenario in scenarios]
    by_head = " by the head node" if scenarios[0].negotiation.mode == "head-node" else ""
    return f"{WORDS['reported']}{by_head} every {_range(min(periods), max(periods))} s"


def _dispatchers(scenarios: Sequence[Scenario]) -> str:
    homes = [count_of_homes(scenario) for scenario in scenarios]
    nodes = [scenario.cluster.nodes for scenario in scenarios]
    of_nodes = f"{_range(min(nodes), max(nodes))} nodes"
    return f"all {of_nodes}" if homes == nodes else f"{_range(min(homes), max(homes))} of {of_nodes}"


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
