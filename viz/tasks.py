"""The runs that settings ask for."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from viz.acts import WITHOUT
from viz.server.said import Task
from viz.settings import Settings


def tasks_of(settings: Settings, span_s: tuple[float, float] | None = None) -> dict[str, Task]:
    """The runs of settings: A, and B if there is one beside it; with detail of a window [s], if there is one."""
    tasks = {"A": Task(without_policies(settings), (settings.policy,), span_s=span_s)}
    if settings.other:
        tasks["B"] = Task(*beside(settings), span_s=span_s)
    return tasks


def beside(settings: Settings) -> tuple[dict[str, Any], tuple[str]]:
    """Settings and policy of the run beside the first one."""
    if settings.other == WITHOUT:
        return without_policies(replace(settings, script="")), (settings.policy,)
    return without_policies(settings), (settings.other,)


def policies_of(settings: Settings) -> tuple[str, ...]:
    """The policies of the runs, or acts.WITHOUT of the second one."""
    return tuple(policy for policy in (settings.policy, settings.other) if policy)


def without_policies(settings: Settings) -> dict[str, Any]:
    """Settings as data; two runs that differ in the policy beside them only are the same."""
    return asdict(replace(settings, policy="", other=""))
