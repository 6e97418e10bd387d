"""What a reproduction is: a scenario, an axis, published series, and the claims that make it one. Data only."""

from __future__ import annotations

import tomllib
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from cluster_abm.errors import InputError
from cluster_abm.scenario import nearest, shipped_path
from cluster_abm.scenario.base import Section

X = float | str
Setting = str | float | int | bool | dict[str, float | str] | list[int] | list[dict[str, int | float | str]]


class PointMetric(Section):
    """What is measured at a point of the axis: a metric as of a plan, times `scale`."""

    metric: str
    scale: float = 1.0


class Axis(Section):
    """The swept key of the scenario and its label with the unit.

    Its values are a column of the published file, or, where no curve was published, `points`. The key is set to
    `scale` times a point (papers give the largest of uniform rates, scenarios their mean); names are set as they are.
    A point that takes several keys has them in `settings`, under its value as text. Points that are different claims
    have each a metric of its own in `metrics`, likewise.
    """

    key: str = ""
    column: str
    label: str
    points: tuple[X, ...] = ()
    scale: float = 1.0
    settings: dict[str, dict[str, Setting]] = Field(default_factory=dict)
    metrics: dict[str, PointMetric] = Field(default_factory=dict)


class Series(Section):
    """A curve: the policy that gives it, other keys it needs, and its column in the published file, if there is one.

    Its numbers are the plan's metric unless it has one of its own, or the points of the axis have; `apart` keeps it out
    of the picture of the others. With `at` it has only those points of the axis.
    """

    name: str
    policy: str
    column: str = ""
    overrides: dict[str, Setting] = Field(default_factory=dict)
    metric: str = ""
    apart: bool = False
    at: tuple[X, ...] = ()


class Also(Section):
    """A further number of every run, in a picture of its own; its curves are called "<series>: <name>".

    Times `scale` it has the unit of its label; `at` restricts it to some points of the axis, `of` to some series. Those
    that are `stacked` are drawn on top of each other, a bar a series.
    """

    name: str
    metric: str
    label: str = ""
    scale: float = 1.0
    at: tuple[X, ...] = ()
    of: tuple[str, ...] = ()
    stacked: bool = False


class Number(Section):
    """A number that the paper gives of its curves (published/claims.csv), and how it is measured.

    statistic, over the points of the axis (or only those `at`) and all pairs of an old and a new series, or, if
    `paired`, the first old with the first new series, the second with the second, and so on:
      largest or smallest ratio                   old/new
      largest, smallest or mean improvement       (old - new)/new in percent
      largest, smallest or mean reduction         (old - new)/old in percent
    It counts for the verdict, unless it is not `judged`: then it only stands beside the published one.
    """

    claim: str
    statistic: Literal[
        "largest ratio", "smallest ratio", "largest improvement", "smallest improvement", "mean improvement",
        "largest reduction", "smallest reduction", "mean reduction",
    ]  # fmt: skip
    old: tuple[str, ...]
    new: tuple[str, ...]
    at: tuple[X, ...] = ()
    paired: bool = False
    judged: bool = True

    @model_validator(mode="after")
    def _pairs_up(self) -> Self:
        if self.paired and len(self.old) != len(self.new):
            raise ValueError(f"paired: {len(self.old)} old and {len(self.new)} new series; there must be as many")
        return self


class Claim(Section):
    """What the paper says of its curves.

    kind:
      below   `a` is below `b` at every point
      rising  `a` ends above its start, and its rank correlation with the axis is over 0.8
      falling `a` ends below its start, and its rank correlation with the axis is under -0.8
      within  `a` and `b` differ by at most `percent` of `b` at every point
      ratio   `a`/`b` is in `minimum`..`maximum` at every point
      better  `a` is below `b` in the geometric mean over all points, significantly (95 %, paired over seeds)
      equal   `a` and `b` differ by at most `percent` in the geometric mean over all points
      widens  `b`/`a` is larger at the last point than at the first, significantly (95 %, paired over seeds)
      flat    `a` differs by at most `percent` from its mean over the points at every point
      minimum `a` has its least value of all points at one of those `at`, on average over seeds; the words say whether
              it is significantly below the points next to them (95 %, paired over seeds)
      steepest of all rises of `a` from a point to the next that between the two points `at` is the largest
    Of the points only those `at`, if some are named; `minimum` and `steepest` look at all.
    """

    kind: Literal[
        "below", "rising", "falling", "within", "ratio", "better", "equal", "widens", "flat", "minimum", "steepest"
    ]  # fmt: skip
    a: str
    b: str = ""
    percent: float = 0.0
    minimum: float = 0.0
    maximum: float = float("inf")
    at: tuple[X, ...] = ()

    @model_validator(mode="after")
    def _is_about_points(self) -> Self:
        if self.kind == "steepest" and len(self.at) != 2:
            raise ValueError(f"steepest: at names {len(self.at)} points; it takes the two between which the rise is")
        if self.kind == "minimum" and not self.at:
            raise ValueError("minimum: at names no point; it takes those at which the least value may be")
        return self


class PaperPlan(Section):
    """One reproduction.

    A metric is a name in a run's metrics, or a dotted path in its summary, or a sum or difference of such ("a + b",
    "a - b"). `mape_percent` holds, per series, the largest mean absolute percentage error that counts as reproduced;
    `number_percent` the largest deviation of a published number. With a trace of several runs each seed takes another
    run, and `trace_overrides` are laid over the scenario. Times `scale` the metric has the unit of its label.
    """

    name: str
    paper: str
    title: str
    scenario: str
    published: str = ""
    metric: str = "mean_slowdown"
    metric_label: str = "mean slowdown"
    scale: float = 1.0
    seeds: Annotated[int, Field(ge=1)] = 32
    quick_seeds: Annotated[int, Field(ge=1)] = 2
    quick_points: tuple[X, ...]
    overrides: dict[str, Setting] = Field(default_factory=dict)
    axis: Axis
    series: tuple[Series, ...]
    also: tuple[Also, ...] = ()
    claim: tuple[Claim, ...] = ()
    number: tuple[Number, ...] = ()
    number_percent: float = 25.0
    mape_percent: dict[str, float] = Field(default_factory=dict)
    notes: str = ""
    takes_trace: bool = False
    trace_overrides: dict[str, Setting] = Field(default_factory=dict)


def reproduction_names() -> list[str]:
    """Names of the shipped reproductions, sorted."""
    return sorted(path.stem for path in shipped_path("reproduce").glob("*.toml"))


def load_plan(name: str) -> PaperPlan:
    """A shipped reproduction. Raises InputError for an unknown name."""
    if name not in reproduction_names():
        raise InputError(f"reproduce {name!r}: no such reproduction; {nearest(name, [*reproduction_names(), 'all'])}")
    path = shipped_path("reproduce", f"{name}.toml")
    try:
        return PaperPlan.model_validate({"name": name, **tomllib.loads(path.read_text(encoding="utf-8"))})
    except ValidationError as problem:
        raise InputError([f"{path}: {error['loc']}: {error['msg']}" for error in problem.errors()]) from None
