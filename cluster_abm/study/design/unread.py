"""What a run does not read: keys of its scenario, and its seed. Such runs are known to be equal, and made once."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from cluster_abm.engine.tables import Table
from cluster_abm.errors import InputError
from cluster_abm.policies import Policy, available
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.mixture import policies_in
from cluster_abm.scenario.unused import keys_without_effect
from cluster_abm.workload import RunJobs, work_of
from cluster_abm.workload.named_files import NamedFiles

PACKAGES = ("cluster_abm.policies.", "cluster_abm.policy.")
DEFINE_POLICIES = ("cluster_abm.policy.view", "cluster_abm.policy.base")
# What gives a policy a random number (View, and talking.Post).
DRAWS = frozenset({"uniform", "draw", "draw_nodes"})


def unread_keys(scenario: Scenario) -> list[str]:
    """Dotted keys, and sections, on which no result of a run of this scenario under its policy depends."""
    # Parameters of a policy are left out by `cell_key` itself.
    found = [key for key in keys_without_effect(scenario) if key != "policy"]
    known = available()
    readers = [known[name] for name in policies_in(scenario) if name in known]
    reports = any(one.uses_reports or one.holds_jobs or one.talks for one in readers)
    if not (reports or scenario.cluster.remote_memory or scenario.may_fail):
        found.append("cluster.exchange_period_ms")
    return found


def drop(tree: Any, key: str) -> None:
    """Take a dotted key out of nested tables; of an entry of a list nothing but its place stays."""
    *sections, last = key.split(".")
    for name in sections:
        if isinstance(tree, list):
            tree = tree[int(name)] if int(name) < len(tree) else None
        else:
            tree = tree.get(name) if isinstance(tree, dict) else None
    if isinstance(tree, list) and int(last) < len(tree):
        tree[int(last)] = None
    elif isinstance(tree, dict):
        tree.pop(last, None)


class Seeds:
    """Which seeds give the same run of a scenario, to the last digit, as far as that is known beforehand.

    That takes a log that says everything, and a cluster and a policy that draw nothing. Where it is not certain, each
    seed counts as another run.
    """

    def __init__(self) -> None:
        # Of the policies of a comparison the work is the same: looked at once.
        self._alike: dict[tuple[str, int, int], bool] = {}

    def are_alike(self, scenario: Scenario | None, one: int, other: int) -> bool:
        """Whether runs of a scenario in which nothing but the work is drawn are known to be equal from two seeds."""
        if scenario is None:
            return False
        workload = scenario.model_dump_json(exclude={"policy"})
        key = (workload, one, other)
        if key not in self._alike:
            try:
                self._alike[key] = _same_work(scenario, one, other)
            except InputError:
                # The run itself says what is wrong.
                self._alike[key] = False
        return self._alike[key]


def draws_nothing(scenario: Scenario) -> bool:
    """Whether nothing but the work is drawn: no failures, seeks, lost messages or files, and nothing by the policy."""
    known = available()
    return (
        scenario.workload.kind == "trace"
        and not scenario.workload.background
        and not scenario.may_fail
        and not scenario.failures.degrade
        and not scenario.data.files
        and scenario.interconnect.loss_share == 0.0
        and all(kind.disk_latency == "fixed" for kind, count in scenario.cluster.kinds if count)
        and all(name in known and never_draws(known[name]) for name in policies_in(scenario))
    )


def never_draws(policy: type[Policy]) -> bool:
    """Whether neither a policy nor any function or class that its code names asks for a random number.

    Read off the sources, of the policies of this package alone: of others it is not certain.
    """
    classes = [one for one in policy.__mro__ if one not in (object, Policy)]
    return all(map(_is_of_a_policy, classes)) and _never_draw(tuple(classes))


@cache
def _never_draw(code: tuple[Any, ...]) -> bool:
    look, seen = [*code], set()
    while look:
        one = look.pop()
        if one in seen:
            continue
        seen.add(one)
        tree = ast.parse(textwrap.dedent(inspect.getsource(one)))
        if any(isinstance(node, ast.Attribute) and node.attr in DRAWS for node in ast.walk(tree)):
            return False
        around = vars(sys.modules[one.__module__])
        named = [around.get(node.id) for node in ast.walk(tree) if isinstance(node, ast.Name)]
        # Of an object its class; of a kernel the function that is compiled.
        named = [one if isinstance(one, type) else getattr(one, "py_func", one) for one in named]
        look += [one if isinstance(one, type | FunctionType) else type(one) for one in named]
        look = [one for one in look if _is_of_a_policy(one)]
    return True


def _is_of_a_policy(one: Any) -> bool:
    """Whether a class or function is part of this package's policies, not of what defines views and policies."""
    return one.__module__.startswith(PACKAGES) and one.__module__ not in DEFINE_POLICIES


def _same_work(scenario: Scenario, one: int, other: int) -> bool:
    """Whether two seeds give the same jobs, of which none needs a random number while it runs."""
    may_be_late = scenario.measure.records != "all"
    first = work_of(scenario, one, may_be_late)
    if first.late is not None:
        # Poisson arrivals, which are not all there to be compared.
        return False
    if (first.jobs["io_per_ms"] > 0.0).any() or (first.jobs["phases"] > 0).any():
        return False
    return _equal(first, work_of(scenario, other, may_be_late))


def _equal(first: RunJobs, second: RunJobs) -> bool:
    # The parts of a log that are drawn differ in size, too.
    if (
        len(first.jobs) != len(second.jobs)
        or (first.jobs != second.jobs).any()
        or first.program_names != second.program_names
    ):
        return False
    if (first.requested_ms is None) != (second.requested_ms is None) or first.earliest_ns != second.earliest_ns:
        return False
    if not _same_files(first.files, second.files) or not _same_demands(first.demands, second.demands):
        return False
    if first.requested_ms is None or second.requested_ms is None:
        return True
    return np.array_equal(first.requested_ms, second.requested_ms, equal_nan=True)


def _same_demands(first: Table | None, second: Table | None) -> bool:
    if first is None or second is None:
        return first is second
    return bool((first == second).all())


def _same_files(first: NamedFiles | None, second: NamedFiles | None) -> bool:
    if first is None or second is None:
        return first is second
    return all(map(np.array_equal, first, second))
