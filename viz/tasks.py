"""The runs that settings ask for."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from viz.server.said import Task
from viz.settings import Settings


def tasks_of(settings: Settings) -> dict[str, Task]:
    """The runs of settings: A, and B if there is a second policy."""
    named = zip("AB", (settings.policy, settings.other), strict=True)
    return {name: Task(without_policies(settings), (policy,)) for name, policy in named if policy}


def without_policies(settings: Settings) -> dict[str, Any]:
    """Settings as data; two runs that differ in the policy beside them only are the same."""
    return asdict(replace(settings, policy="", other=""))
