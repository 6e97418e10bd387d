"""What a worker's process does: a run, or a file of runs, and meanwhile it says how far it is."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from cluster_abm import ClusterModel, InputError, Scenario, load_scenario
from cluster_abm.errors import PolicyFault
from cluster_abm.limits import available_processors
from cluster_abm.model.detailing import DetailedRun, window_of
from cluster_abm.recording import Recording
from cluster_abm.recording.details import with_detail
from cluster_abm.recording.payload import payload_of
from cluster_abm.study.runner.ahead import Part, compile_here, compile_part, missing_parts
from cluster_abm.workload.offered import warnings_of
from viz.acts import WITHOUT
from viz.server.faults import words_of
from viz.server.files import file_of
from viz.server.said import Made, Task
from viz.settings import Settings, first_settings, scenario_with
from viz.tasks import policies_of, without_policies

# A process says something that often [s].
BETWEEN_S = 0.1
PARTS = {
    "engine": "the engine", "detail": "the engine in detail", "placement": "how managers place tasks",
    "migration": "how managers migrate tasks",
}  # fmt: skip


class Abandoned(BaseException):
    """Nobody waits for this task any more."""


class Link(NamedTuple):
    """What a worker knows of the page."""

    connection: Connection  # says how far it is, and hears which task is not wanted any more
    scenario: Scenario
    policies: tuple[str, ...]  # those shown at first; (): the scenario's own
    scene: Mapping[str, Any]  # what guides through the runs (scenes.MadeScene.shown); {}: nothing does


_links: list[Link] = []


def begin(connection: Connection, asked: dict[str, Any]) -> None:
    """The first thing that a worker does: be ready for runs of this scenario.

    Args:
        connection: to the page's process.
        asked: the page's scenario, and the keys laid over it; where there are any, the policies and the scene.
    """
    scenario = load_scenario(asked["scenario"], asked["overrides"])
    _links[:] = [Link(connection, scenario, tuple(asked.get("policies") or ()), asked.get("scene") or {})]
    _warm()


def _warm() -> None:
    """Load what every run needs, if it is compiled, by a run that is over at once."""
    small = load_scenario("cpu-bound", {"cluster.nodes": 2, "workload.duration_s": 2.0, "policy.name": "none"})
    if not missing_parts([small]):
        model = ClusterModel(small, record=True, agents_step=False)
        model.run()
        payload_of(model.recording())


def compute(number: int, task: Task) -> Made:
    """Carry out a task; whatever a policy does wrong comes back as words."""
    told = Told(number, _links[0].connection)
    try:
        return _computed(task, _links[0], told)
    except Abandoned:
        return Made(error="stopped")
    except InputError as problem:
        return Made(error=_without_source(problem), refused=not isinstance(problem, PolicyFault))
    except BaseException as problem:
        return Made(error=words_of(problem))


class Told:
    """Says how far a task is, and hears whether it is wanted."""

    def __init__(self, number: int, connection: Connection) -> None:
        self._number, self._connection = number, connection
        self._last_s = 0.0

    def phase(self, phase: str, what: str = "") -> None:
        """Another phase begins."""
        self._say(phase=phase, what=what)
        self.look()

    def running(self, share: float, now_ms: float) -> None:
        """The run has come so far."""
        now_s = time.monotonic()
        if now_s - self._last_s >= BETWEEN_S:
            self._last_s = now_s
            self._say(phase="running", share=share, now_ms=now_ms)
            self.look()

    def look(self) -> None:
        """Raises Abandoned: nobody waits for the task any more."""
        while self._connection.poll():
            if json.loads(self._connection.recv_bytes()) == self._number:
                raise Abandoned

    def _say(self, **said: Any) -> None:
        self._connection.send_bytes(json.dumps({"number": self._number, **said}).encode())


def _computed(task: Task, link: Link, told: Told) -> Made:
    told.phase("preparing")
    scenario = link.scenario
    settings = Settings(**{**task.settings, "policy": task.policies[0]})
    scenarios = [
        scenario_with(scenario, replace(settings, script=""), settings.policy) if policy == WITHOUT
        else scenario_with(scenario, settings, policy)
        for policy in task.policies
    ]  # fmt: skip
    if task.wanted == "toml":
        return Made(file_of(task.wanted, scenarios, []))
    _compile(scenarios, task.span_s is not None, told)
    models: list[ClusterModel] = []
    made: list[Callable[[], Recording]] = []
    for changed in scenarios:
        told.phase("preparing")
        # The page shows no agent's step.
        model = ClusterModel(changed, record=True, agents_step=False)
        models.append(model)
        run, recording = _detailed(model, task.span_s)
        made.append(recording)
        try:
            run(lambda share, model=model: told.running(share, model.now_ms))  # type: ignore[misc]
        except Abandoned:
            raise
        except BaseException as problem:
            if task.wanted != "run":
                raise
            return _until(model, recording, problem)
    told.phase("packing")
    recordings = [recording() for recording in made]
    if task.wanted == "run":
        return Made(payload_of(recordings[0]), _facts(models[0]))
    return Made(file_of(task.wanted, scenarios, recordings, scene_of(task, link)))


def scene_of(task: Task, link: Link) -> Mapping[str, Any] | None:
    """The scene of a file, which says whether its runs are the scene's own; None: there is none."""
    if not link.scene:
        return None
    first = first_settings(link.scenario, link.policies)
    is_own = task.policies == policies_of(first) and dict(task.settings) == without_policies(first)
    return {**link.scene, "changed": not is_own}


def _detailed(
    model: ClusterModel, span_s: tuple[float, float] | None
) -> tuple[Callable[[Callable[[float], None]], None], Callable[[], Recording]]:
    """How a model is run, and then how its recording is made: with detail of a window [s], if there is one."""
    if span_s is None:
        return model.run, model.recording
    span = window_of(span_s)
    run = DetailedRun(model, span)
    return run.run, lambda: with_detail(model.recording(), run.notes(), *span)


def _until(model: ClusterModel, recording: Callable[[], Recording], problem: BaseException) -> Made:
    """The run up to where a policy went wrong."""
    words = _without_source(problem) if isinstance(problem, InputError) else words_of(problem)
    words = f"the run ends at {model.now_ms / 1000:,.2f} s: {words}"
    try:
        return Made(payload_of(recording()), _facts(model), words)
    except Exception:
        # What was stopped in the middle of something need not fit together.
        return Made(error=words)


def _facts(model: ClusterModel) -> dict[str, Any]:
    load = model.offered_load
    return {
        "offered": [] if load is None else [[name, f"{100 * value:.2g} %"] for name, value in load.as_dict().items()],
        "warnings": warnings_of(model.setup, load, model.parts.work),
    }


def _compile(scenarios: Sequence[Scenario], detail: bool, told: Told) -> None:
    """Compile what runs need, saying what; what failed the run that needs it says."""
    parts = missing_parts(scenarios, detail)
    if len(parts) > 1 and available_processors() > 1:
        told.phase("compiling", " and ".join(map(_named, parts[:2])) + (", and more" if len(parts) > 2 else ""))
        for scenario in scenarios:
            compile_here(scenario, quiet=True, look=told.look)
        parts = missing_parts(scenarios, detail)
    for part in parts:
        told.phase("compiling", _named(part))
        compile_part(part)


def _named(part: Part) -> str:
    return PARTS.get(part.kind, f"the policy {part.scenario.policy.label}")


def _without_source(problem: InputError) -> str:
    # What the controls say comes to the scenario as overrides; the page calls it none.
    return "; ".join(line.removeprefix("override: ") for line in problem.problems)
