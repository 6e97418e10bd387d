"""Keys fitted to what was measured, and how far the fit can be trusted: what `cluster-abm calibrate` carries out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.arrays import Floats
from cluster_abm.results.figures.options import ALWAYS, FigureOptions, Look, check_metric
from cluster_abm.study.asking import Answer
from cluster_abm.study.calibration.fitting import Fit, fit, mean_of, starting_points
from cluster_abm.study.calibration.observed import Row
from cluster_abm.study.calibration.predictions import Predictions
from cluster_abm.study.calibration.question import SLICE, CalibrationQuestion, interval_of, slope_of, value_of
from cluster_abm.study.calibration.uncertainty import NamedKey, Uncertainty, uncertainty_of, what_cannot_be_told
from cluster_abm.study.comparison import finite
from cluster_abm.study.runner.tasks import Where
from cluster_abm.study.tuning.ranges import Value, in_sections

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Share of the budget that starting points may take.
SHARE_OF_STARTS = 0.3
# A value this close to an end of its range is at the end.
AT_END = 1e-3


@dataclass(frozen=True)
class Errors:
    """How far predictions are from what was measured, over some rows."""

    rows: int  # how many
    # median, p90: of |predicted / observed - 1|
    median: float
    p90: float
    bias: float  # geometric mean of predicted / observed, less 1

    def as_json(self) -> dict[str, Any]:
        """For JSON; None where a prediction is missing."""
        return {"rows": self.rows, "median": finite(self.median), "p90": finite(self.p90), "bias": finite(self.bias)}


@dataclass(frozen=True)
class FittedKey:
    """A key's value."""

    key: str  # dotted
    value: float  # fitted
    default: Value | None  # what the scenario says; None: nothing
    # low, high: of its range
    low: float
    high: float
    # ci90, ci95: intervals, cut to the range
    ci90: tuple[float, float]
    ci95: tuple[float, float]
    shares: tuple[float, float, float]  # of its variance: by measurement, by the machine's run, by the seeds
    at_end: bool  # whether the value is at an end of the range


@dataclass(frozen=True)
class Calibrated(Answer):
    """What came of a calibration."""

    question: CalibrationQuestion  # what was asked
    found: Fit  # the fit
    known: Uncertainty  # its uncertainty
    logs: Floats  # predicted logarithms of all rows, fitted or held out, shape (seeds, rows)
    default_logs: Floats  # the same of the scenario as it stands
    # of each key, values over its range and the root mean square of the logarithms there, the others held
    slices: Mapping[str, tuple[Floats, Floats]]

    @cached_property
    def estimates(self) -> tuple[FittedKey, ...]:
        """The fitted keys, in the order asked for."""
        question, point = self.question, self.found.point
        arms = {level: self.known.arms(level) for level in (0.90, 0.95)}
        defaults = question.defaults()

        def interval(position: int, level: float) -> tuple[float, float]:
            return interval_of(question.overs[position], float(point[position]), float(arms[level][position]))

        return tuple(
            FittedKey(
                key=over.key,
                value=value_of(over, float(point[position])),
                default=defaults[over.key],
                low=over.low,
                high=over.high,
                ci90=interval(position, 0.90),
                ci95=interval(position, 0.95),
                shares=tuple(self.known.shares[position].tolist()),
                at_end=not AT_END < float(point[position]) < 1.0 - AT_END,
            )
            for position, over in enumerate(question.overs)
        )

    @cached_property
    def settings(self) -> dict[str, Value]:
        """The fitted values, by dotted key."""
        return {one.key: one.value for one in self.estimates}

    @cached_property
    def cannot_tell(self) -> tuple[str, ...]:
        """What the data cannot tell, a sentence each."""
        keys = [
            NamedKey(over.key, value_of(over, float(share)), slope_of(over, float(share)))
            for over, share in zip(self.question.overs, self.found.point, strict=True)
        ]
        said = what_cannot_be_told(self.known, self.found.point, keys)
        ends = [one for one in self.estimates if one.at_end]
        said += [f"{one.key} is at the end of its range ({one.value:g}): it may lie beyond" for one in ends]
        return tuple(said)

    def errors(self, logs: Floats, held_out: bool) -> Errors | None:
        """The errors of predictions over the fitted rows, or over those held out; None: there are none."""
        rows = self.question.observed.rows
        chosen = np.array([row.is_held_out == held_out for row in rows])
        if not chosen.any():
            return None
        observed = np.log([row.value for row in rows])
        away = (mean_of(logs) - observed)[chosen]
        size = np.abs(np.exp(away) - 1.0)
        return Errors(
            int(chosen.sum()), float(np.median(size)), float(np.quantile(size, 0.9)), float(np.expm1(away.mean()))
        )

    def frame(self) -> pd.DataFrame:
        """Every row that was measured, with its prediction: run, use, job or metric, observed, predicted, residual
        (logarithm of observed over predicted), and the spread of one simulated run."""
        observed = self.question.observed
        predicted = mean_of(self.logs)
        name = "job" if observed.kind == "jobs" else "metric"
        values = np.array([row.value for row in observed.rows])
        return pd.DataFrame(
            {
                "run": [row.run for row in observed.rows],
                "use": ["held-out" if row.is_held_out else "fit" for row in observed.rows],
                name: [row.name for row in observed.rows],
                "observed": values,
                "predicted": np.exp(predicted),
                "residual": np.log(values) - predicted,
                "sd_of_a_run": np.nanstd(self.logs, axis=0, ddof=1) if np.isfinite(self.logs).all() else math.nan,
            }
        )

    @property
    def title(self) -> str:
        """What stands above the picture."""
        after = self.errors(self.logs, held_out=True) or self.errors(self.logs, held_out=False)
        assert after is not None
        side = "held-out" if any(row.is_held_out for row in self.question.observed.rows) else "fitted"
        name = self.question.scenario.name
        return f"{name}, calibrated: median error of the {side} rows {after.median:.1%}"

    def plot(self, metric: str | None = None, **look: Unpack[Look]) -> Figure:
        """Draw predicted over observed, and what each key does to the error.

        Args:
            metric: none: the picture has every row that was observed.
            look: size, title, style (results.figures.options.Look).

        Returns:
            A Matplotlib figure; a notebook shows it, and `.savefig("mine.pdf")` writes it.

        Raises InputError: a metric, or an option that this picture does not take.
        """
        from cluster_abm.results.of_studies.calibration_picture import Slice, calibration_figure

        check_metric(metric, "none", "the picture of a calibration has every row that was observed")
        options = FigureOptions.of(look, ALWAYS, what="picture of a calibration")
        slices = {
            one.key: Slice(*self.slices[one.key], one.value, *one.ci90, over.log)
            for one, over in zip(self.estimates, self.question.overs, strict=True)
        }
        unit = "ms" if self.question.observed.kind == "jobs" else ""
        title = options.titled(self.title)
        return options.draw(lambda: calibration_figure(title, self.frame(), unit, slices))

    def toml(self) -> str:
        """The fitted values as TOML, to paste into a scenario."""
        return in_sections(self.settings)

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm calibrate --json` prints."""
        question = self.question
        observed = question.observed
        sides = {"fit": False, "held_out": True}
        errors: dict[str, Any] = {}
        for side, held_out in sides.items():
            before, after = self.errors(self.default_logs, held_out), self.errors(self.logs, held_out)
            errors[side] = (
                None
                if before is None or after is None
                else {"as_it_stands": before.as_json(), "calibrated": after.as_json()}
            )
        return {
            "scenario": question.scenario.name,
            "policy": question.scenario.policy.label,
            "observed": {
                "kind": observed.kind,
                "runs": list(observed.runs),
                "rows": len(observed.rows),
                "fitted": len(observed.fitted),
            },
            "over": [str(over) for over in question.overs],
            "seeds": list(question.seeds_used),
            "runs": self.runs,
            "converged": self.found.is_converged,
            "keys": {
                one.key: {
                    "value": one.value,
                    "as_it_stands": one.default,
                    "ci90": list(one.ci90),
                    "ci95": list(one.ci95),
                    "variance": dict(zip(("measurement", "own_run", "seeds"), one.shares, strict=True)),
                }
                for one in self.estimates
            },
            "errors": errors,
            "cannot_tell": list(self.cannot_tell),
            "correlation": [[round(float(r), 4) for r in row] for row in self.known.correlation],
        }


def calibrate(
    question: CalibrationQuestion,
    workers: int | None = None,
    quiet: bool = False,
    where: Where | None = None,
    folder: Path | None = None,
    with_slices: bool = True,
) -> Calibrated:
    """Fit keys of a scenario to what was measured, by least squares of logarithms over common random numbers.

    Args:
        question: what is calibrated.
        workers, quiet, where: as in `run_all`.
        folder: keeps the runs, in `store`: what is there already is not run again. None: in memory.
        with_slices: whether each key is run over its range besides, for the picture.

    Raises:
        InputError: the question is wrong, or the folder holds the results of another command.
        KeyboardInterrupt: an interrupt; the runs that have finished are kept in the folder.
    """
    by_job = question.observed.kind == "jobs"
    with question.runs(workers, quiet, where, folder, keeps_responses=by_job) as runs:
        rows = question.observed.rows
        fitted = np.array([not row.is_held_out for row in rows])
        of_all = Predictions(question, runs, rows)

        def predict(points: Sequence[Floats]) -> Floats:
            return of_all.of_points(points)[:, :, fitted]

        found = _fit(question, predict, [row for row in rows if not row.is_held_out])
        settings = question.settings(found.point)
        logs = of_all.of_settings([settings])[0]
        own = question.point(question.defaults())
        # Within the ranges it was one of the starting points.
        default_logs = of_all.of_settings([{} if own is None else question.settings(own)])[0]
        slices = _slices(question, of_all, fitted, found.point, logs) if with_slices else {}
    names = np.unique([row.run for row in question.observed.fitted], return_inverse=True)[1]
    known = uncertainty_of(found, names)
    return Calibrated.after(runs, question, found, known, logs, default_logs, slices)


def _fit(question: CalibrationQuestion, predict: Any, rows: Sequence[Row]) -> Fit:
    observed = np.log([row.value for row in rows])
    log_sds = np.array([row.log_sd for row in rows])
    own = question.point(question.defaults())
    most = max(1, int(SHARE_OF_STARTS * question.budget / question.runs_each))
    starts = starting_points(len(question.overs), own, question.scenario.run.seed, most)
    return fit(predict, observed, log_sds, starts)


def _slices(
    question: CalibrationQuestion, predictions: Predictions, fitted: npt.NDArray[np.bool_], point: Floats, logs: Floats
) -> dict[str, tuple[Floats, Floats]]:
    """Values of each key over its range, and the root mean square of the residuals there, the other keys held."""
    observed = np.log([row.value for row in question.observed.rows])[fitted]

    def size(one: Floats) -> float:
        return float(np.sqrt(np.square(observed - mean_of(one[:, fitted])).mean()))

    shares = np.linspace(0.0, 1.0, SLICE)
    moved = []
    for key in range(len(point)):
        for share in shares:
            other = point.copy()
            other[key] = share
            moved.append(other)
    sizes = [size(one) for one in predictions.of_settings([question.settings(one) for one in moved])]
    found = {}
    for key, over in enumerate(question.overs):
        at = np.append(shares, point[key])
        heights = np.append(sizes[key * SLICE : (key + 1) * SLICE], size(logs))
        order = np.argsort(at, kind="stable")
        found[over.key] = np.array([value_of(over, float(one)) for one in at[order]]), heights[order]
    return found
