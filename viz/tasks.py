"""The runs that settings ask for."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from viz.server.said import Task
from viz.settings import Settings


def tasks_of(settings: Settings, span_s: tuple[float, float] | None = None) -> dict[str, Task]:
    """The runs of settings: A, and B if there is a second policy; with detail of a window [s], if there is one."""
    named = zip("AB", (settings.policy, settings.other), strict=True)
    return {name: Task(without_policies(settings), (policy,), span_s=span_s) for name, policy in named if policy}


def without_policies(settings: Settings) -> dict[str, Any]:
    """Settings as data; two runs that differ in the policy beside them only are the same."""
    return asdict(replace(settings, policy="", other=""))
