"""What the page is asked to show at first: by its command, through the environment."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from cluster_abm import Scenario, load_scenario
from viz.server.runs import Runs, close_shared, shared_runs
from viz.server.said import Task
from viz.settings import Settings, first_settings
from viz.tasks import tasks_of

ASKED = "CLUSTER_ABM_VIEW"
"""Environment: {"scenario": name or path, "overrides": {dotted key: value}, "policies": [first, beside it]},
or {"recording": path}, as JSON; of a guided scene also {"scene": scenes.MadeScene.shown}."""
# Whose the runs are that are computed before anybody asks.
NOBODY = ""


def runs() -> Runs:
    """The runs of this process."""
    return shared_runs(_given())


@cache
def scenario_and_settings() -> tuple[Scenario, Settings]:
    """The page's scenario, and the settings at first."""
    given = _given()
    scenario = load_scenario(given["scenario"], given["overrides"])
    return scenario, first_settings(scenario, given.get("policies") or [])


def recording() -> str | None:
    """The file of a recording that is shown; None: runs of a scenario are."""
    path = _given().get("recording")
    return None if path is None else str(path)


def scene() -> dict[str, Any]:
    """What guides through the runs; {}: nothing does."""
    found: dict[str, Any] = _given().get("scene", {})
    return found


def compute_ahead() -> None:
    """Have the processes get ready, and the first picture computed, before the first browser comes."""
    if recording() is not None:
        return
    for task in _first_tasks():
        runs().ask(NOBODY, task, lambda _: None)


def end() -> None:
    """End all processes that compute runs."""
    close_shared()


def _first_tasks() -> list[Task]:
    return list(tasks_of(scenario_and_settings()[1]).values())


def _given() -> dict[str, Any]:
    given: dict[str, Any] = json.loads(os.environ.get(ASKED, '{"scenario": "quickstart", "overrides": {}}'))
    return given
