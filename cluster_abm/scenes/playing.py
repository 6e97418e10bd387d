"""A scene with its runs: carried out, each step resolved to what the player shows, its texts filled."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from cluster_abm.errors import InputError
from cluster_abm.model import record
from cluster_abm.policies import create
from cluster_abm.recording import Recording
from cluster_abm.recording.html import html_of
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.scenario.base import LEFT_OUT
from cluster_abm.scenario.load import scenario_names
from cluster_abm.scenes.moments import Moment
from cluster_abm.scenes.placeholders import fill
from cluster_abm.scenes.scene import GuidedScene, Step, load_scene, scene_path
from cluster_abm.scenes.selecting import NotThere, SceneRun, Selection

TEXTS = ("text", "question", "answer")


class MadeScene(NamedTuple):
    """A scene and its runs.

    Attributes:
        scene: as its file says.
        recordings: of its runs, one or two.
        shown: what the player shows: {"title", "summary", "minutes", "steps": [{"address": of the player, "at_s",
            "plays_to_s", "text", "question", "answer"}]}; None is what a step has not.
    """

    scene: GuidedScene
    recordings: tuple[Recording, ...]
    shown: Mapping[str, Any]


class Setting(NamedTuple):
    """What a scene's runs are runs of.

    Attributes:
        scenario: a shipped name, or the path of a scenario's file.
        overrides: dotted keys laid over it, script and seed among them.
        policies: of the runs.
    """

    scenario: str
    overrides: dict[str, Any]
    policies: tuple[str, ...]


def make_scene(source: str | Path, progress: Callable[[float], None] | None = None) -> MadeScene:
    """Carry out the runs of a scene and fill its texts.

    Args:
        source: a shipped name, or the path of a scene's TOML file.
        progress: called now and then with the share that is done, 0..1.

    Raises:
        InputError: the scene is not right: a key, the scenario, a step that names what is not there, a placeholder;
            each line names file and entry.
    """
    scene, where = load_scene(source), scene_path(source).name
    scenarios = _checked(scene, where, setting_of(source))
    recordings = []
    for place, scenario in enumerate(scenarios):

        def tell(share: float, done: int = place) -> None:
            if progress is not None:
                progress((done + share) / len(scenarios))

        try:
            recordings.append(record(scenario, progress=tell))
        except InputError as problem:
            raise InputError([_of_scene(line, where) for line in problem.problems]) from None
    words = ", ".join(f"{key} = {value}" for key, value in _dotted(scene.set) if key not in LEFT_OUT)
    titled = tuple(Recording({**one.meta, "changed": words}, one.tables) for one in recordings)
    return MadeScene(scene, titled, _shown(scene, where, scenarios[0], titled))


def html_of_scene(made: MadeScene) -> str:
    """The HTML file of a scene: player, recordings and steps."""
    return html_of(made.recordings, scene=made.shown)


def setting_of(source: str | Path) -> Setting:
    """What the runs of a scene are runs of. Raises InputError: as of load_scene."""
    scene, path = load_scene(source), scene_path(source)
    named = scene.scenario in scenario_names()
    overrides = dict(_dotted(scene.set)) | {"run.seed": scene.seed}
    if scene.script:
        overrides["script"] = [act.model_dump(exclude_none=True) for act in scene.script]
    place = scene.scenario if named else str((path.parent / scene.scenario).resolve())
    return Setting(place, overrides, scene.policies)


def _checked(scene: GuidedScene, where: str, setting: Setting) -> list[Scenario]:
    """The scenario under each policy. Raises InputError: it is not right; the lines name the scene's file and entry."""
    own = [key for key in ("policy.name", "run.seed") if key in dict(_dotted(scene.set))]
    if own:
        raise InputError(f"{where}: set.{own[0]}: is what `{'policies' if own[0] == 'policy.name' else 'seed'}` says")
    try:
        found = []
        for policy in scene.policies:
            found.append(load_scenario(setting.scenario, {**setting.overrides, "policy.name": policy}))
            create(found[-1].policy)
    except InputError as problem:
        raise InputError([_of_scene(line, where) for line in problem.problems]) from None
    return found


def _of_scene(line: str, where: str) -> str:
    """A line on a scenario as one on the scene that names it."""
    rest = line.removeprefix("override: ")
    if rest.startswith("policy.name"):
        return f"{where}: policies{rest.removeprefix('policy.name')}"
    if rest.startswith(("script.", "script:")):
        return f"{where}: {rest}"
    if rest == line:
        return f"{where}: scenario: {line}"
    return f"{where}: unknown key set.{rest[12:]}" if rest.startswith("unknown key ") else f"{where}: set.{rest}"


def _dotted(tables: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tables.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{path}{name}.")
        else:
            yield path + name, value


def _shown(scene: GuidedScene, where: str, scenario: Scenario, recordings: tuple[Recording, ...]) -> dict[str, Any]:
    """The scene as the player takes it. Raises InputError: what its steps name is not in its runs, all at once."""
    runs = {policy: SceneRun(one) for policy, one in zip(scene.policies, recordings, strict=True)}
    end_ms = max(one.meta["end_ns"] / 1e6 for one in recordings)
    problems = [
        f"{where}: script.{place}.at_s = {act.at_s:g}: the run ends at {end_ms / 1000:.2f} s"
        for place, act in enumerate(scene.script)
        if act.at_s * 1000 > end_ms
    ]
    if not problems:
        acts = [act for one in recordings for act in one.meta["summary"].get("acts", ())]
        done = {act["entry"] for act in acts if act["done"]}
        undone = {act["entry"]: act["why_not"] for act in acts if act["entry"] not in done}
        problems = [f"{where}: script.{entry}: was not done: {why}" for entry, why in sorted(undone.items())]
    steps = []
    for place, step in enumerate(scene.step):
        try:
            steps.append(_step(step, scenario, runs, end_ms))
        except _Wrong as problem:
            problems.append(f"{where}: step.{place}.{problem}")
    if problems:
        raise InputError(problems)
    return {"title": scene.title, "summary": scene.summary, "minutes": round(scene.minutes, 1), "steps": steps}


class _Wrong(Exception):
    """What is wrong with a step: the words begin with its key."""


def _step(step: Step, scenario: Scenario, runs: Mapping[str, SceneRun], end_ms: float) -> dict[str, Any]:
    policy = step.run or next(iter(runs))
    end = f"the run ends at {end_ms / 1000:.2f} s"
    for name, time_s in (("at_s", step.at_s), ("plays_to_s", step.plays_to_s)):
        if time_s is not None and time_s * 1000 > end_ms:
            raise _Wrong(f"{name} = {time_s:g}: {end}")
    selection = None
    if step.select is not None:
        try:
            selection = runs[policy].selection(step.select, step.at_s)
        except NotThere as problem:
            raise _Wrong(f"select = {step.select!r}: {problem}") from None
    time_ms = step.at_s * 1000
    if selection is not None and selection.time_ms is not None:
        time_ms = selection.time_ms
    if step.plays_to_s is not None and step.plays_to_s * 1000 <= time_ms:
        raise _Wrong(f"plays_to_s = {step.plays_to_s:g}: must be after {time_ms / 1000:g} s, where it begins")
    span = (0.0, end_ms) if step.zoom_s is None else (step.zoom_s[0] * 1000, step.zoom_s[1] * 1000)
    if not span[0] <= time_ms <= span[1]:
        raise _Wrong(f"zoom_s = {[*(step.zoom_s or ())]}: the step is at {time_ms / 1000:.2f} s, outside")
    at = Moment(scenario, runs, policy, selection, time_ms, span)
    texts: dict[str, str | None] = {}
    for name in TEXTS:
        template = getattr(step, name)
        try:
            texts[name] = None if template is None else fill(template, at)
        except NotThere as problem:
            raise _Wrong(f"{name}: {problem}") from None
    return {
        "address": _address(at, selection, step, [*runs].index(policy), len(runs)), "at_s": time_ms / 1000,
        "plays_to_s": step.plays_to_s, **texts,
    }  # fmt: skip


def _address(at: Moment, selection: Selection | None, step: Step, run: int, runs: int) -> str:
    """Where the player goes (viz/player/address.js)."""
    parts = [f"t={at.time_ms / 1000:.10g}", f"zoom={at.span_ms[0] / 1000:.10g}-{at.span_ms[1] / 1000:.10g}"]
    if step.speed is not None:
        parts.append(f"speed={step.speed:.10g}")
    if selection is not None:
        which = f"{'ab'[run]}:" if runs > 1 and selection.kind != "node" else ""
        parts.append(f"sel={which}{selection.kind}{selection.number}")
    return f"#{'&'.join(parts)}"
