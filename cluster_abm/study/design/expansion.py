"""From a study to its runs: points, the cells of a point under a policy, and the scenario of each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from cluster_abm.errors import InputError, gathered
from cluster_abm.interconnect import Network
from cluster_abm.limits import check_runs, counted
from cluster_abm.model.observing.existing import metrics_of
from cluster_abm.policies import create
from cluster_abm.scenario import Scenario, load_scenario, scenario_from
from cluster_abm.scenario.load import tables_of
from cluster_abm.study.design.asking_for import with_metrics
from cluster_abm.study.design.effects import Effects
from cluster_abm.study.design.fingerprint import cell_key
from cluster_abm.study.design.metrics import metric_problems
from cluster_abm.study.design.policies import check_policies, with_policy
from cluster_abm.study.design.sampling import unit_points
from cluster_abm.study.design.study_file import Range, Settings, Study
from cluster_abm.study.design.study_paths import settings_with_paths
from cluster_abm.workload import with_bound


@dataclass(frozen=True)
class StudyCell:
    """A point under a policy; its runs differ by the seed only."""

    point: int  # number of the point, from 0
    policy: str  # name
    key: str  # what its runs are called by in a store (`fingerprint.cell_key`)


@dataclass(frozen=True)
class Expansion:
    """A study, checked and taken apart."""

    study: Study  # the study, with the metrics that it is about
    base: Scenario  # its scenario, overrides included
    points: tuple[Settings, ...]  # the settings of each point
    cells: tuple[StudyCell, ...]  # every point under every policy, in this order
    remarks: tuple[str, ...]  # what is odd about it and no mistake: keys without effect
    _tree: Mapping[str, Any] = field(repr=False)

    def scenario(self, cell: StudyCell) -> Scenario:
        """The scenario of a cell's runs; built when it is needed, since a study may have very many."""
        settings = settings_with_paths(self.study, self.points[cell.point])
        return with_policy(_at(self._tree, settings, self.study), cell.policy)


def expand(study: Study) -> Expansion:
    """Check every point of a study by building its scenario once.

    Raises InputError: what is wrong with the scenario, the policies, the points and the metrics, each problem once.
    """
    cell_count = study.point_count * len(study.policies)
    check_runs(
        f"{study.file}: {counted(study.point_count)} points, {len(study.policies)} policies, replications = "
        f"{counted(study.replications)}",
        cell_count * study.replications,
        cell_count,
    )
    with gathered() as gather:
        with gather:
            warmup: Settings = {} if study.warmup == "none" else {"measure.warmup": study.warmup}
            base = load_scenario(study.scenario_source, settings_with_paths(study, {**study.overrides, **warmup}))
        with gather:
            check_policies(study.policies)
    study, tree = _with_headline(study, base), tables_of(_with_bound(base))
    points = points_of(study)
    cells: list[StudyCell] = []
    metrics: dict[tuple[int, str], frozenset[str]] = {}
    problems = _Problems(study)
    networks: set[str] = set()
    effects = Effects(study)
    for number, settings in enumerate(points):
        with problems.at(number, settings):
            scenario = _at(tree, settings_with_paths(study, settings), study)
            effects.note(scenario)
            if study.precision is not None and scenario.workload.is_resampled:
                raise InputError(
                    f"precision = {study.precision:g}: workload.trace.resample is set: intervals are by the spread of "
                    "the draws, which more seeds do not narrow: leave precision out"
                )
            built = f"{scenario.cluster.nodes} {scenario.interconnect!r}"
            if built not in networks:
                Network(scenario.interconnect, scenario.cluster.nodes)
                networks.add(built)
            for name in study.policies:
                with problems.at(number, settings):
                    variant = with_policy(scenario, name)
                    create(variant.policy)
                    metrics[number, name] = metrics_of(variant)
                    cells.append(StudyCell(number, name, cell_key(variant)))
    problems.raise_if_any([*metric_problems(study, metrics), *effects.problems()])
    return Expansion(study, base, points, tuple(cells), tuple(effects.remarks()), tree)


def _with_headline(study: Study, base: Scenario) -> Study:
    """The study with the metrics that it does not name: its scenario's headline."""
    headline = base.measure.headline
    metrics = {"precision_metric": study.precision_metric or headline, "measure": study.measure or (headline,)}
    return study.model_copy(update=metrics)


def _with_bound(base: Scenario) -> Scenario:
    """The scenario with one bound of slowdowns for all points."""
    try:
        return with_bound(base)
    except InputError:
        # Points name what it lacks, a log for example: each has a bound of its own.
        return base


def points_of(study: Study) -> tuple[Settings, ...]:
    """The settings of every point; a study that sweeps nothing has one, without any."""
    if study.latin_hypercube is not None:
        plan = study.latin_hypercube
        unit = scipy.stats.qmc.LatinHypercube(len(plan.ranges), rng=np.random.default_rng(plan.seed)).random(
            plan.samples
        )
        return _scaled(unit, plan.ranges)
    if study.sensitivity is not None:
        return _scaled(unit_points(study.sensitivity), study.sensitivity.ranges)
    if study.grid:
        combinations = itertools.product(*study.grid.values())
        return tuple(dict(zip(study.grid, values, strict=True)) for values in combinations)
    return study.points or ({},)


def _scaled(unit: npt.NDArray[np.float64], ranges: Mapping[str, Range]) -> tuple[Settings, ...]:
    """Points of the unit cube, shape (points, keys), laid into the ranges."""
    columns: dict[str, list[float]] = {}
    for column, (key, of) in zip(unit.T.tolist(), ranges.items(), strict=True):
        # Whole numbers: each has a strip of the same width, those at the ends included.
        low, high = (of.low - 0.5, of.high + 0.5) if of.integer and not of.log else (of.low, of.high)
        if of.log:
            values = [low * math.exp(u * math.log(high / low)) for u in column]
        else:
            values = [low + u * (high - low) for u in column]
        if of.integer:
            values = [min(max(round(x), math.ceil(of.low)), math.floor(of.high)) for x in values]
        columns[key] = values
    return tuple(dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def _at(tree: Mapping[str, Any], settings: Settings, study: Study) -> Scenario:
    named = [*study.measure, study.precision_metric]
    return with_metrics(scenario_from(tree, "scenario", settings), named)


class _Problems:
    """Collects what is wrong with points; the same problem at many points is one."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._found: dict[str, list[str]] = {}
        self._where = ""

    def at(self, number: int, settings: Settings) -> _Problems:
        words = ", ".join(f"{key} = {value!r}" for key, value in settings.items())
        self._where = f"point {number}" + (f" ({words})" if words else "")
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> bool:
        if not isinstance(problem, InputError):
            return False
        for text in problem.problems:
            self._found.setdefault(text.removeprefix("override: "), []).append(self._where)
        return True

    def raise_if_any(self, others: Sequence[str]) -> None:
        lines = [*others]
        for text, where in self._found.items():
            further = len(dict.fromkeys(where)) - 1
            more = f", and {further} more" if further else ""
            lines.append(f"{self._study.file}: {where[0]}{more}: {text}")
        if lines:
            raise InputError(lines)
