"""What a reproduction is: a scenario, an axis, published series, and the claims that make it one. Data only."""

from __future__ import annotations

import tomllib
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from cluster_abm.errors import InputError
from cluster_abm.scenario import nearest, shipped_path
from cluster_abm.scenario.base import Section


class Axis(Section):
    """The swept key of the scenario, the published file's column for it, and its label with the unit."""

    key: str
    column: str
    label: str


class Series(Section):
    """A published curve: its column, the policy that should give it, and other keys it needs."""

    name: str
    column: str
    policy: str
    overrides: dict[str, str | float | int | bool] = Field(default_factory=dict)


class Claim(Section):
    """What the paper says of its curves.

    kind:
      below   `a` is below `b` at every point
      rising  `a` ends above its start, and its rank correlation with the axis is over 0.8
      within  `a` and `b` differ by at most `percent` of `b` at every point
      ratio   `a`/`b` is in `minimum`..`maximum` at every point
    """

    kind: Literal["below", "rising", "within", "ratio"]
    a: str
    b: str = ""
    percent: float = 0.0
    minimum: float = 0.0
    maximum: float = float("inf")


class Plan(Section):
    """One reproduction; `mape_percent` holds the largest mean absolute percentage error that counts, per series."""

    name: str
    paper: str
    title: str
    scenario: str
    published: str
    metric: str = "mean_slowdown"
    metric_label: str = "mean slowdown"
    seeds: Annotated[int, Field(ge=1)] = 32
    quick_seeds: Annotated[int, Field(ge=1)] = 2
    quick_points: tuple[float, ...]
    axis: Axis
    series: tuple[Series, ...]
    claim: tuple[Claim, ...] = ()
    mape_percent: dict[str, float] = Field(default_factory=dict)
    notes: str = ""
    takes_trace: bool = False


def reproduction_names() -> list[str]:
    """Names of the shipped reproductions, sorted."""
    return sorted(path.stem for path in shipped_path("reproduce").glob("*.toml"))


def load_plan(name: str) -> Plan:
    """A shipped reproduction. Raises InputError for an unknown name."""
    if name not in reproduction_names():
        raise InputError(f"reproduce {name!r}: no such reproduction; {nearest(name, [*reproduction_names(), 'all'])}")
    path = shipped_path("reproduce", f"{name}.toml")
    try:
        return Plan.model_validate({"name": name, **tomllib.loads(path.read_text(encoding="utf-8"))})
    except ValidationError as problem:
        raise InputError([f"{path}: {error['loc']}: {error['msg']}" for error in problem.errors()]) from None
