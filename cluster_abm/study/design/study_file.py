"""What a study is: a scenario, points in the space of its keys, policies and seeds. Data only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tomli_w
from pydantic import Field, ValidationError, field_validator, model_validator

from cluster_abm.arguments import CALLABLE_OR_NONE, Kind, check_arguments, is_path
from cluster_abm.errors import InputError
from cluster_abm.limits import counted
from cluster_abm.policies import Policy, name_of
from cluster_abm.scenario import nearest, shipped_path
from cluster_abm.scenario.base import Section
from cluster_abm.scenario.filling.toml_file import is_there, read_toml
from cluster_abm.scenario.load import shortened
from cluster_abm.scenario.policy_names import PolicyFiles, current_name, split_reference, take_policy_files

Settings = dict[str, Any]
# Keys of a scenario that a study sets by keys of its own.
OWN_WAY = {
    "policy.name": "policies = [...]",
    "run.seed": "first_seed, and replications",
    "compare.policies": "policies = [...]",
    "compare.seeds": "replications",
}


class Range(Section):
    """Where a key's value is drawn from, evenly."""

    low: float
    """smallest value"""
    high: float
    """largest value; above `low`"""
    log: bool = False
    """evenly in the logarithm"""
    integer: bool = False
    """whole numbers only, both ends included"""

    @model_validator(mode="after")
    def _ordered(self) -> Range:
        if not self.low < self.high:
            raise ValueError(f"low = {self.low:g}: must be below high = {self.high:g}")
        if self.log and self.low <= 0:
            raise ValueError(f"low = {self.low:g}: must be above 0 where log = true")
        return self


def _undotted(key: str, inner: Any) -> str:
    """What to say of a key without a dot; without quotes, TOML makes tables of what dots divide."""
    meant = [key]
    while isinstance(inner, Mapping) and inner and not {"low", "high"} & inner.keys():
        name, inner = next(iter(inner.items()))
        meant.append(str(name))
    return f'{key!r}: keys are dotted, in quotes, e.g. "{".".join(meant) if len(meant) > 1 else "cluster.nodes"}" = ...'


def _no_range(key: str, value: Any, fields: list[str]) -> str:
    """What is wrong with a key that stands beside the fields of a sample; nothing if it may be a key with its range."""
    if isinstance(value, Mapping):
        return "" if "." in key else _undotted(key, value)
    if "." in key:
        return f"{key} = {value!r}: a range is needed, e.g. {{ low = 0.2, high = 0.9 }}"
    return f"unknown key {key!r}; {nearest(key, fields)}"


class _Sample(Section):
    """Points drawn from ranges of keys, which the file writes beside the other keys of the section."""

    seed: Annotated[int, Field(ge=0)] = 1
    """of the sample (the runs have theirs)"""
    ranges: dict[str, Range] = Field(min_length=1)
    """dotted keys, written beside `samples`: "workload.utilisation" = { low = 0.2, high = 0.9 }"""

    @model_validator(mode="before")
    @classmethod
    def _gather_ranges(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or "ranges" in data:
            return data
        own = {name: data[name] for name in cls.model_fields if name in data}
        ranges = {key: value for key, value in data.items() if key not in own}
        fields = [name for name in cls.model_fields if name != "ranges"]
        problems = [text for key, value in ranges.items() if (text := _no_range(key, value, fields))]
        if problems:
            raise ValueError("\n".join(problems))
        return own | {"ranges": ranges}


class LatinHypercube(_Sample):
    """A sample in which each key's range is cut into as many strips as there are points, one point in each."""

    samples: Annotated[int, Field(ge=1)]
    """how many points"""


class Sensitivity(_Sample):
    """Points that show how much of a metric's variation each key causes."""

    method: Literal["sobol", "morris"]
    """sobol: shares of the variance; morris: elementary effects, which take far fewer points and show less"""
    samples: Annotated[int, Field(ge=2)]
    """sobol: a power of two, times factors + 2 is the number of points; morris: trajectories of factors + 1 points"""

    @model_validator(mode="after")
    def _suits_the_method(self) -> Sensitivity:
        problems = []
        if self.method == "sobol" and self.samples & (self.samples - 1):
            problems.append(f"samples = {self.samples}: must be a power of two, as 64, for method = 'sobol'")
        # Morris' four levels split a range in three; an effect is a difference divided by a step that is two of these.
        for key, of in self.ranges.items() if self.method == "morris" else ():
            if of.integer and of.log:
                problems.append(f"{key}: integer and log: one of them, not both, for method = 'morris'")
            elif of.integer and (of.low % 1 or (of.high - of.low) % 3):
                problems.append(
                    f"{key}: low = {of.low:g}, high = {of.high:g}: for method = 'morris' whole numbers, "
                    "a multiple of three apart: its four levels must be whole numbers too"
                )
        if problems:
            raise ValueError("\n".join(problems))
        return self

    @property
    def point_count(self) -> int:
        """How many points there are."""
        return self.samples * (len(self.ranges) + (2 if self.method == "sobol" else 1))


class Study(Section):
    """One study: every point under every policy from every seed is a run; `run_batch` carries it out.

    In Python `policies` may be classes, too; parameters of policies are keys (`overrides`, `grid`).

    Example:
        >>> import cluster_abm as ca
        >>> ca.Study(name="loads", scenario="quickstart", policies=("none", "jsq"), grid={"cluster.nodes": [16, 32]})
        <Study 'loads' of 'quickstart': 2 points x 2 policies x 8 seeds>

    Raises:
        InputError: unknown keys, wrong values; all problems at once.
    """

    name: str = "unnamed"
    """what results are called by; default: the file's name"""
    title: str = ""
    """one line on what it is for"""
    scenario: str
    """a shipped scenario, or the path of a TOML file, from the study file's folder"""
    overrides: Settings = Field(default_factory=dict)
    """dotted keys laid over the scenario at every point: "cluster.nodes" = 8"""
    policies: Annotated[tuple[str, ...], Field(min_length=1)]
    """policies to run at every point, on the same jobs"""
    replications: Annotated[int, Field(ge=1)] = 8
    """seeds of every point and policy; the same for all of them"""
    first_seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """the seeds are this number and those that follow it"""
    precision: Annotated[float, Field(gt=0, lt=1)] | None = None
    """add seeds until the 95 % half-width is below this share of the mean; not set: `replications` it is"""
    precision_metric: str = ""
    """the metric that `precision` is about; default: the scenario's `measure.headline`"""
    max_replications: Annotated[int, Field(ge=1)] | None = None
    """with `precision`: never more seeds than this; default: ten times `replications`"""
    warmup: Literal["none", "mser"] = "none"
    """mser: leave the jobs of the warm-up out of the means (MSER-5, run by run)"""
    measure: tuple[str, ...] = ()
    """metrics that the report shows; default: the scenario's `measure.headline`"""
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(default_factory=dict)
    """dotted key -> list of values: all combinations are points"""
    points: tuple[Settings, ...] = ()
    """tables of dotted keys, one a point"""
    latin_hypercube: LatinHypercube | None = None
    """`samples`, and dotted key -> { low, high[, log, integer] }"""
    sensitivity: Sensitivity | None = None
    """`method`, `samples`, and dotted key -> { low, high[, log, integer] }; the report shows which keys matter"""
    file: Annotated[Path, Field(exclude=True)] = Path("study")
    """where it was read from"""

    if not TYPE_CHECKING:
        # Type checkers take the fields as keywords.
        def __init__(self, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as problem:
                raise InputError([line for one in problem.errors() for line in _messages(one, "Study")]) from None

    def __repr__(self) -> str:
        counts = f"{self.point_count:,} points x {len(self.policies)} policies x {self.replications} seeds"
        return f"<Study {self.name!r} of {self.scenario!r}: {counts}>"

    __str__ = __repr__

    @field_validator("policies", mode="before")
    @classmethod
    def _classes_by_name(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return [current_name(one) if isinstance(one, str) else _name_of_class(one) for one in value]

    @field_validator("overrides", "grid", "points", mode="before")
    @classmethod
    def _keys_are_dotted(cls, value: Any) -> Any:
        for table in value if isinstance(value, list | tuple) else (value,):
            for key, inner in table.items() if isinstance(table, Mapping) else ():
                if "." not in key and key not in ("name", "summary"):
                    raise ValueError(_undotted(key, inner))
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> Study:
        problems = []
        if sum(map(bool, (self.grid, self.points, self.latin_hypercube, self.sensitivity))) > 1:
            problems.append("grid, points, latin_hypercube, sensitivity: one of them, not several")
        if self.max_replications is not None and self.precision is None:
            problems.append(f"max_replications = {self.max_replications}: needs precision")
        if self.max_replications is not None and self.max_replications < self.replications:
            problems.append(f"max_replications = {self.max_replications}: below replications = {self.replications}")
        if self.first_seed + self.seed_limit > 2**63:
            problems.append(f"first_seed = {self.first_seed}: its {counted(self.seed_limit)} seeds must be below 2^63")
        for name in dict.fromkeys(self.policies):
            if self.policies.count(name) > 1:
                problems.append(f"policies: {name!r} is named twice")
        used = {
            "overrides": [*self.overrides],
            "grid": [*self.grid],
            "points": [key for point in self.points for key in point],
            "latin_hypercube": [*(self.latin_hypercube.ranges if self.latin_hypercube else ())],
            "sensitivity": [*(self.sensitivity.ranges if self.sensitivity else ())],
        }
        for section, keys in used.items():
            for key in dict.fromkeys(keys):
                if key in OWN_WAY:
                    problems.append(f"{section}.{key}: a study says this by {OWN_WAY[key]}")
        for key, values in self.grid.items():
            problems += [f"grid.{key}: {v!r} stands there twice" for i, v in enumerate(values) if v in values[:i]]
        if problems:
            raise ValueError("\n".join(problems))
        return self

    @property
    def seeds(self) -> range:
        """The seeds every point and policy is run from; with `precision` some get more, those that follow."""
        return range(self.first_seed, self.first_seed + self.replications)

    @property
    def seed_limit(self) -> int:
        """How many seeds a point and policy gets at most."""
        if self.precision is None:
            return self.replications
        return self.max_replications or 10 * self.replications

    @property
    def point_count(self) -> int:
        """The number of points, counted without making them."""
        if self.latin_hypercube is not None:
            return self.latin_hypercube.samples
        if self.sensitivity is not None:
            return self.sensitivity.point_count
        if self.grid:
            return math.prod(len(values) for values in self.grid.values())
        return max(1, len(self.points))

    @property
    def swept(self) -> list[str]:
        """The dotted keys that differ between points, in the order of the file."""
        if self.latin_hypercube is not None:
            return [*self.latin_hypercube.ranges]
        if self.sensitivity is not None:
            return [*self.sensitivity.ranges]
        return [*self.grid] or [*dict.fromkeys(key for point in self.points for key in point)]

    @property
    def scenario_source(self) -> str | Path:
        """What `load_scenario` is to be given: a shipped name, or the file as seen from the study's folder."""
        beside = self.file.parent / self.scenario
        return beside if is_there(beside) else self.scenario


def _name_of_class(policy: Any) -> str:
    """The name of a class of policies. Raises ValueError for an object with parameters, which are a study's keys."""
    own = policy.parameters.model_dump(exclude_defaults=True) if isinstance(policy, Policy) else {}
    if own:
        keys = ", ".join(f'"policy.{key}": {value!r}' for key, value in own.items())
        raise ValueError(
            f"{name_of(policy)} with parameters of its own: a study names policies; their parameters are keys of its "
            f"points: overrides={{{keys}}}"
        )
    return name_of(policy)


def study_names() -> list[str]:
    """Names of the shipped studies, sorted."""
    return sorted(path.stem for path in shipped_path("studies").glob("*.toml"))


def load_study(source: str | Path, policy_files: PolicyFiles | None = None) -> Study:
    """A checked study from a shipped name or a TOML file.

    Its points are checked by `expansion.expand`, which builds each one's scenario.

    Args:
        source: name of a shipped study, or path of a TOML file.
        policy_files: what loads a policy that the study names as FILE.py:CLASS (`policies.name_of`), the file as seen
            from the study's folder or from the current one; None: it is refused.

    Returns:
        The study, which `run_batch` carries out.

    Raises:
        InputError: no such study, not TOML, unknown keys, wrong values; all problems at once.
    """
    check_arguments(
        source=(source, Kind("a shipped name or the path of a TOML file", is_path)),
        policy_files=(policy_files, CALLABLE_OR_NONE),
    )
    path = Path(source)
    if isinstance(source, str) and path.suffix != ".toml" and source in study_names():
        path = shipped_path("studies", f"{source}.toml")
    if not is_there(path):
        near = nearest(str(source)[:100], study_names())
        raise InputError(f"study {shortened(str(source))}: no such file or shipped study; {near}")
    data = read_toml(path)
    allowing = "`batch run --policy-files` allows it, and load_study(..., policy_files=name_of)"
    refused = take_policy_files(data, policy_files and _from_folder(path.parent, policy_files), allowing)
    if refused:
        raise InputError([f"{path}: {line}" for line in refused.values()])
    try:
        return Study.model_validate({"name": path.stem, **data, "file": path})
    except RecursionError:
        raise InputError(f"{path}: its tables are nested too deeply") from None
    except ValidationError as problem:
        raise InputError([line for error in problem.errors() for line in _messages(error, path)]) from None


def _from_folder(folder: Path, policy_files: PolicyFiles) -> PolicyFiles:
    """Load policies from files as seen from a folder, or else from the current one."""

    def loaded(reference: str) -> str:
        split = split_reference(reference)
        beside = split is not None and is_there(folder / split[0])
        return policy_files(str(folder / reference) if beside else reference)

    return loaded


def study_to_toml(study: Study) -> str:
    """The study as TOML that `load_study` reads back to an equal one."""
    tree = study.model_dump(mode="json", exclude_none=True)
    for section in tree.keys() & {"latin_hypercube", "sensitivity"}:
        tree[section] |= tree[section].pop("ranges")
    return tomli_w.dumps({key: value for key, value in tree.items() if value not in ({}, [])})


def _messages(error: Any, path: Path | str) -> list[str]:
    field = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        section = {"latin_hypercube": Range, "sensitivity": Range}.get(str(error["loc"][0]), Study)
        return [f"{path}: unknown key {field!r}; {nearest(str(error['loc'][-1]), [*section.model_fields])}"]
    if error["type"] == "missing":
        return [f"{path}: {field}: is missing"]
    if error["type"] == "value_error":
        return [f"{path}: {field + ': ' if field else ''}{line}" for line in str(error["ctx"]["error"]).split("\n")]
    return [f"{path}: {field} = {shortened(error['input'])}: {error['msg'][0].lower()}{error['msg'][1:]}"]
