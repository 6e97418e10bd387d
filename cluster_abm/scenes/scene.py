"""A guided scene as data: the schema of its TOML file, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StrictInt, ValidationError, model_validator

from cluster_abm.arguments import Kind, check_arguments, is_path, shortened
from cluster_abm.errors import InputError
from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import NonNegative, Positive
from cluster_abm.scenario.filling.toml_file import is_there, read_toml
from cluster_abm.scenario.script import MOST_ACTS, Act
from cluster_abm.scenario.shipped import names_in, nearest, shipped_path

MOST_STEPS = 40
Words = Annotated[str, Field(min_length=1, max_length=1000)]
FOLDER = "scenes"
# What a teacher needs: words read aloud in a minute; to look at a step, and go on [s]; until a class has answered [s].
WORDS_A_MINUTE, STEP_S, QUESTION_S = 130, 20, 45
# The speed that is reckoned with where a step names none [simulated seconds in a second].
SPEED = 10.0


class Step(Section):
    """One step of a scene."""

    at_s: NonNegative
    """where the clock goes [s]; with select = "first ..." from when on that is looked for"""
    select: Annotated[str, Field(max_length=200)] | None = None
    """what is selected: "node 16", "job 28", "task 36"; or "first migration", "first remote start", "first refused",
    "first that did not pay", "first lost", each with "from node 3", "to node 4" or both; none: nothing is"""
    run: str | None = None
    """the policy in whose run that is; none: the first"""
    zoom_s: tuple[NonNegative, NonNegative] | None = None
    """what the timeline shows: from, to [s]; none: the whole run"""
    plays_to_s: NonNegative | None = None
    """a button plays from the step's time to this one [s]"""
    speed: Positive | None = None
    """at which it plays [simulated seconds in a second]"""
    text: Words
    """what is said: text, with placeholders in braces"""
    question: Words | None = None
    """asked at its end"""
    answer: Words | None = None
    """shown by a click"""

    @model_validator(mode="after")
    def _fits_together(self) -> Step:
        if self.zoom_s is not None and self.zoom_s[1] <= self.zoom_s[0]:
            raise ValueError(f"zoom_s {list(self.zoom_s)}: the second time must be after the first")
        if self.plays_to_s is not None and self.plays_to_s <= self.at_s:
            raise ValueError(f"plays_to_s {self.plays_to_s:g}: must be after at_s, {self.at_s:g}")
        if (self.question is None) != (self.answer is None):
            missing = "answer" if self.answer is None else "question"
            raise ValueError(f"{missing}: is missing; a question and its answer go together")
        return self


class GuidedScene(Section):
    """A guided scene: which runs, and the steps through them."""

    title: Words
    """what it is called"""
    summary: Words
    """what it shows, in a sentence"""
    scenario: Annotated[str, Field(min_length=1)]
    """a shipped name, or the path of a scenario's file, from this file's folder"""
    policies: Annotated[tuple[str, ...], Field(min_length=1, max_length=2)]
    """one, or two that are seen side by side"""
    seed: Annotated[StrictInt, Field(ge=0)] = 1
    """of the runs"""
    set: dict[str, Any] = Field(default_factory=dict)
    """keys laid over the scenario"""
    script: Annotated[tuple[Act, ...], Field(max_length=MOST_ACTS)] = ()
    """[[script]]: acts laid over the scenario"""
    step: Annotated[tuple[Step, ...], Field(min_length=1, max_length=MOST_STEPS)]
    """[[step]]: the steps, in their order"""

    @model_validator(mode="after")
    def _runs_are_there(self) -> GuidedScene:
        if len(set(self.policies)) < len(self.policies):
            raise ValueError(f"policies {', '.join(self.policies)}: two different ones, or one, are needed")
        for place, step in enumerate(self.step):
            if step.run is not None and step.run not in self.policies:
                raise ValueError(f"step.{place}.run = {step.run!r}: must be one of {', '.join(self.policies)}")
        return self

    @property
    def minutes(self) -> float:
        """How long it takes to read it aloud, to look at each step, to play it and to answer its question [min]."""
        texts = [text for one in self.step for text in (one.text, one.question, one.answer) if text]
        words = sum(len(text.split()) for text in texts)
        questions = sum(one.question is not None for one in self.step)
        played_s = sum((one.plays_to_s - one.at_s) / (one.speed or SPEED) for one in self.step if one.plays_to_s)
        return words / WORDS_A_MINUTE + (len(self.step) * STEP_S + questions * QUESTION_S + played_s) / 60


def scene_names() -> list[str]:
    """Names of the shipped scenes, sorted."""
    return names_in(FOLDER, ".toml")


def scene_path(source: str | Path) -> Path:
    """The file of a shipped scene, or the path that was given. Raises InputError: there is no such file."""
    check_arguments(scene=(source, Kind("the name of a scene or the path of its TOML file", is_path)))
    if str(source) in scene_names():
        return shipped_path(FOLDER, f"{source}.toml")
    path = Path(source)
    if not is_there(path):
        hint = nearest(path.stem[:100], scene_names())
        raise InputError(f"scene {shortened(str(source))}: no such file or shipped scene; {hint}")
    return path


def load_scene(source: str | Path) -> GuidedScene:
    """A checked scene from a shipped name or a TOML file.

    Raises:
        InputError: no such scene, not TOML, unknown keys, wrong types or values; each names file and entry.
    """
    path = scene_path(source)
    return scene_from(read_toml(path), path.name)


def scene_from(data: Mapping[str, Any], where: str) -> GuidedScene:
    """A checked scene from nested tables; `where` names them in messages. Raises InputError as load_scene."""
    try:
        return GuidedScene.model_validate(data)
    except ValidationError as problem:
        errors = problem.errors()
        # Of a table that is wrong in itself the list is too short as well.
        below = {error["loc"][0] for error in errors if len(error["loc"]) > 1}
        found = [one for one in errors if one["type"] != "too_short" or one["loc"][0] not in below]
        raise InputError([_line(error, where) for error in found]) from None


def _line(error: Any, where: str) -> str:
    field = ".".join(map(str, error["loc"]))
    if error["type"] == "missing":
        return f"{where}: {field}: is missing"
    if error["type"] == "extra_forbidden":
        keys = Step if error["loc"][0] == "step" else Act if error["loc"][0] == "script" else GuidedScene
        return f"{where}: unknown key {shortened(field)}; {nearest(str(error['loc'][-1])[:100], [*keys.model_fields])}"
    words = str(error["ctx"]["error"]) if error["type"] == "value_error" else error["msg"]
    if error["type"] == "value_error" and isinstance(error["input"], Mapping):
        # Of a whole table: the words begin with the key.
        return f"{where}: {field + '.' if field else ''}{words}"
    return f"{where}: {field} = {shortened(error['input'])}: {words[0].lower()}{words[1:]}"
