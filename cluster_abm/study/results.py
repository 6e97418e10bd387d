"""A study from Python: carry it out, and have its results as a table that knows what it is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from cluster_abm import displays
from cluster_abm.arguments import COUNT, FLAG, PATH, TABLE, TEXT, Kind, check_arguments, is_path, or_none, shortened
from cluster_abm.errors import InputError
from cluster_abm.policies import name_of
from cluster_abm.results.figures.latex import latex_table
from cluster_abm.results.figures.options import OF_POLICIES, FigureOptions, Look
from cluster_abm.results.of_studies.study_axes import label_of, value_text
from cluster_abm.results.style import plain
from cluster_abm.study import batch, results_folder
from cluster_abm.study.comparison import Comparison
from cluster_abm.study.design.study_file import Study, load_study
from cluster_abm.study.design.unset_keys import is_resampled, with_unset_keys
from cluster_abm.study.report.findings import Findings, find
from cluster_abm.study.report.report import against_reference, write_report
from cluster_abm.study.report.study_loads import loads_over_time
from cluster_abm.study.saved import SavedRun, is_saved, load_saved
from cluster_abm.study.status import Status, status_of
from cluster_abm.study.store.documents import holds_results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# How many of the failed runs are shown.
MOST_FAILURES = 5


class _OwnAlone(type):
    """A class whose `help` is of what it has itself: pandas' methods would fill twenty thousand lines."""

    def __dir__(cls) -> list[str]:
        return [name for base in (cls, displays.Displayed) for name in vars(base)]


class Results(pd.DataFrame, displays.Displayed, metaclass=_OwnAlone):
    """The results of a study: a pandas table, one row a run, that knows its study and its folder.

    All that a DataFrame does it does; what is taken from it (`results[results["policy"] == "jsq"]`) is a plain one. A
    notebook shows what the study found: means with intervals at every point, and the picture. `plot` draws the study;
    pandas' own plots are those of `runs.plot`.

    Example:
        >>> import tempfile
        >>> import cluster_abm as ca
        >>> study = ca.Study(name="loads", scenario="quickstart", policies=("none", "jsq"), replications=2,
        ...                  grid={"workload.jobs_per_s": [0.2, 0.4]})
        >>> results = ca.run_batch(study, tempfile.mkdtemp(), workers=1, quiet=True)
        >>> len(results), list(results.columns[:4])
        (8, ['point', 'workload.jobs_per_s', 'policy', 'seed'])
        >>> table, picture = results.estimates(), results.plot()

    Columns: `point`, a column for every swept key, `policy`, `seed`, `status` ("finished" or "failed"), `error`, and
    the metrics in alphabetical order (NaN where a run failed).
    """

    # What pandas keeps of an object beside its table.
    _metadata = ["_study", "_folder"]  # noqa: RUF012
    _study: Study
    _folder: Path

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    @classmethod
    def of(cls, runs: pd.DataFrame, study: Study, folder: str | Path) -> Results:
        """The table of a study's runs that lie in a folder."""
        made = cls(runs)
        made._study, made._folder = study, Path(folder)
        return made

    @property
    def study(self) -> Study:
        """The study, as read from the folder."""
        return self._study

    @property
    def folder(self) -> Path:
        """Where the results lie."""
        return self._folder

    @property
    def runs(self) -> pd.DataFrame:
        """The same table as a plain DataFrame."""
        return pd.DataFrame(self)

    @property
    def progress(self) -> Status:
        """How many runs are finished, failed and missing, and what failed, as the folder is now."""
        return status_of(self._folder)

    def estimates(self, metric: str = "") -> pd.DataFrame:
        """Means over seeds at every point, of every policy, over the seeds that all policies of the point have.

        Args:
            metric: a column; "": the first of the study's `measure`.

        Returns:
            columns point, the swept keys, metric, policy, seeds, mean, low, high (the 95 % interval, NaN of one seed),
            half_width_percent, median, median_low, median_high, least, most.

        Raises:
            InputError: no run has finished, or none has this metric.
        """
        return self._found(metric).compared

    def differences(self, metric: str = "") -> pd.DataFrame:
        """Paired differences of every two policies at every point, on the same jobs.

        Args:
            metric: as of `estimates`.

        Returns:
            columns point, the swept keys, metric, a, b, seeds, difference (a - b), low, high, ratio, p_value,
            significant (Holm's correction over all pairs of all points).

        Raises:
            InputError: as of `estimates`.
        """
        return self._found(metric).differences

    def plot(self, metric: str = "", **look: Unpack[Look]) -> Figure:  # type: ignore[override]
        """Draw a metric over the study's points, a line for each policy, with 95 % intervals. With `baseline=`: what
        the others have more than that policy, on the same jobs.

        Where the largest mean is more than 10 times the smallest, the axis is logarithmic and says so.

        Args:
            metric: as of `estimates`.
            look: policies, baseline, x (a swept key that is a number), size ("column", "page" or inches), labels,
                colours, title, style (results.figures.options.Look).

        Returns:
            A Matplotlib figure; a notebook shows it, and `.savefig("mine.pdf")` writes it.

        Raises:
            InputError: as of `estimates`; or an option that cannot be.
        """
        from cluster_abm.results.of_studies.study_axes import lay_out
        from cluster_abm.results.of_studies.study_grid import Looks
        from cluster_abm.results.of_studies.study_pictures import differences_figure, lines_figure

        study = self._study
        options = FigureOptions.of(look, OF_POLICIES | {"baseline", "x"}, study.policies, "picture of a study")
        if options.x is not None and options.x not in study.swept:
            raise InputError(f"plot(x={shortened(options.x)}): not swept; allowed: {', '.join(study.swept) or 'none'}")
        found, metric = self._found(metric), self._metric(metric)
        title, layout = options.titled(study.title or study.name), lay_out(found.points, options.x)
        baseline, order = options.baseline, list(study.policies)

        def drawn() -> Figure:
            # Of all policies, so that one has its colour whichever others are drawn; named in the order asked for.
            looks = Looks(order).of(options.policies)
            if baseline is None:
                rows = found.estimates[found.estimates["policy"].isin(options.policies)]
                return lines_figure(title, metric, rows, layout, looks)
            against = against_reference(found.differences, metric, baseline)
            rows = against[against["policy"].isin(options.policies)]
            return differences_figure(title, metric, rows, layout, looks, baseline)

        return options.draw(drawn)

    def to_latex(self, metric: str = "") -> str:  # type: ignore[override]
        """`estimates` as a table for LaTeX's booktabs: a row for each point and policy, the mean with its interval.

        Args:
            metric: as of `estimates`.

        Raises:
            InputError: as of `estimates`.
        """
        return latex_table(self._rows_of_means(self._metric(metric)))

    def _rows_of_means(self, metric: str) -> list[dict[str, object]]:
        """A row for each point and policy, as it is shown."""
        estimates = self.estimates(metric)
        keys = [key for key in self._study.swept if key in estimates]
        return [
            {
                **{label_of(key): value_text(row[key]) for key in keys}, "policy": row["policy"],
                f"{label_of(metric)}, mean [95 %]": _interval(row["mean"], row["low"], row["high"]),
                "seeds": row["seeds"],
            }
            for row in estimates.to_dict("records")
        ]  # fmt: skip

    def report(self, out: str | Path | None = None) -> list[Path]:
        """Write what `cluster-abm batch report` writes: report.md, tables as CSV, pictures as PNG and SVG.

        Args:
            out: the folder; None: `report` in the results' own.

        Returns:
            the paths of what was written.

        Raises:
            InputError: no run has finished, or the folder cannot be written to.
        """
        from cluster_abm.results.files import out_folder

        with out_folder(self._folder / "report" if out is None else Path(out)) as folder:
            return write_report(self.runs, self._study, loads_over_time(self._folder), folder)

    def _metric(self, metric: str) -> str:
        return metric or next(iter(self._study.measure), "mean_slowdown")

    def _found(self, metric: str) -> Findings:
        metric, study = self._metric(metric), self._study
        if not (self["status"] == "finished").any():
            raise InputError([f"study {study.name!r}: no run has finished", *self._errors()])
        numbers = [str(name) for name in self if pd.api.types.is_numeric_dtype(self[name])]
        allowed = [name for name in numbers if name not in ("point", "seed", *study.swept)]
        if metric not in allowed:
            raise InputError(f"metric {metric!r}: no run has it; allowed: {', '.join(allowed)}")
        return find(with_unset_keys(self.runs, study), study.swept, study.policies, [metric], is_resampled(study))

    def _errors(self) -> list[str]:
        failed = self.runs[self["status"] == "failed"]
        lines = [
            f"failed: point {row['point']}, policy {row['policy']}, seed {row['seed']}: {row['error']}"
            for _, row in failed.head(MOST_FAILURES).iterrows()
        ]
        more = len(failed) - MOST_FAILURES
        return [*lines, f"failed: {more:,} more: see column error"] if more > 0 else lines

    def __repr__(self) -> str:
        if not hasattr(self, "_study"):
            return super().__repr__()
        words = f"<Results of {self._study.name!r} in {self._folder}: {self._counts()}>"
        return f"{words}\n{super().__repr__()}"

    def _counts(self) -> str:
        finished = int((self["status"] == "finished").sum())
        failed = len(self) - finished
        points, policies = self["point"].nunique(), self["policy"].nunique()
        words = f"{finished:,} runs finished ({points:,} points, {policies} policies)"
        return f"{words}, {failed:,} failed" if failed else words

    def _repr_html_(self) -> str:
        return displays.Displayed._repr_html_(self)

    def _parts(self) -> Iterator[str]:
        study = self._study
        yield displays.headline(study.title or study.name, f"{self._counts()}; in {self._folder}")
        lines = self._errors()
        if lines:
            yield displays.paragraph("\n".join(lines))
        if (self["status"] == "finished").any():
            metric = self._metric("")
            yield displays.table(self._rows_of_means(metric))
            from cluster_abm.results.figures.picture import png_of

            yield displays.image(png_of(self.plot()), f"{study.title or study.name}: {label_of(metric)}")
        # 101 numbers of each run.
        runs = self.runs.drop(columns="slowdown_quantiles", errors="ignore")
        title = f"all {len(runs):,} runs" if len(runs) <= displays.MOST_ROWS else f"the first of {len(runs):,} runs"
        yield displays.folded(title, runs.head(displays.MOST_ROWS).to_html(index=False))


def _interval(mean: float, low: float, high: float) -> str:
    # NaN differs from itself.
    return plain(mean) if low != low else f"{plain(mean)} [{plain(low)}, {plain(high)}]"


def load_results(folder: str | Path) -> Results | Comparison | SavedRun:
    """What `run_batch`, or a command's `--out`, left in a folder.

    Example:
        results = ca.load_results("out/mine")
        results.groupby("policy")["mean_slowdown"].mean()
        results.plot("p95_slowdown").savefig("p95.png")

    Args:
        folder: of a study (finished or not), of `cluster-abm compare`, or of `cluster-abm run`.

    Returns:
        Of a study a pandas table, a row each run, that also knows its study (`Results`); of `compare` the `Comparison`;
        of `run` its scenario, summary and tables (`SavedRun`).

    Raises:
        InputError: no such results there, or they are damaged.
    """
    check_arguments(folder=(folder, PATH))
    if not holds_results(folder):
        if is_saved(Path(folder)):
            return load_saved(Path(folder))
        raise InputError(
            f"{folder}: no results of a study, of `compare` or of `run`: `batch run STUDY --out DIR`, run_batch(STUDY, "
            "DIR) in Python, and --out DIR of the other two make such a folder"
        )
    return _of_study(folder)


def _of_study(folder: str | Path) -> Results:
    return Results.of(results_folder.load_results(folder), results_folder.read_plan(folder).study, folder)


def _is_study(value: object) -> bool:
    return isinstance(value, Study) or is_path(value)


def run_batch(
    study: Study | str | Path,
    out: str | Path,
    *,
    workers: int | None = None,
    executor: str = "process",
    dask: str | None = None,
    slurm: Mapping[str, Any] | None = None,
    policy_files: bool = False,
    keep_failed: bool = False,
    quiet: bool = False,
) -> Results:
    """Carry out a study (points x policies x seeds) into a folder, and return its results.

    What the folder holds already is not run again: stop it as you like, and call it again. Runs are spread over the
    processors; a script that does so needs `if __name__ == "__main__":` around the call, a notebook does not.

    Example:
        study = ca.Study(scenario="quickstart", policies=("none", "jsq"), grid={"cluster.nodes": [16, 32, 64]})
        results = ca.run_batch(study, "out/nodes")
        results.plot()

    Args:
        study: a `Study`, the name of a shipped one ("quick-study"), or the path of a TOML file. Policies of one's own
            are named as classes in `Study(policies=...)`.
        out: the folder that keeps the results.
        workers: processes or jobs at most; None: as many as the executor finds; 1 with "process": all in this one.
        executor: "process" (this machine), "inline" (this process), "dask" or "slurm".
        dask: address of a scheduler, or a Dask client; None: a local cluster.
        slurm: parameters of Slurm's jobs, {"partition": "short"}.
        policy_files: whether a study file may name policies as FILE.py:CLASS, which imports these files.
        keep_failed: do not try again what failed in an earlier call.
        quiet: no progress bar.

    Returns:
        A pandas table, a row a run, that also knows its study (`Results`). Runs that failed are rows with an error.

    Raises:
        InputError: something in the study is wrong, the folder holds another study or other files, an executor cannot
            be had.
        KeyboardInterrupt: it was interrupted; what is finished is kept, and the same call goes on.
    """
    from cluster_abm.results.files import out_folder

    check_arguments(
        study=(study, Kind("a Study, a shipped name or the path of a TOML file", _is_study)), out=(out, PATH),
        workers=(workers, or_none(COUNT)), executor=(executor, TEXT), slurm=(slurm, or_none(TABLE)),
        policy_files=(policy_files, FLAG), keep_failed=(keep_failed, FLAG), quiet=(quiet, FLAG),
    )  # fmt: skip
    checked = study if isinstance(study, Study) else load_study(study, name_of if policy_files else None)
    with out_folder(Path(out)) as folder:
        outcome = batch.run_batch(
            checked, folder, executor, workers, dask=dask, slurm=slurm, keep_failed=keep_failed, quiet=quiet
        )
    if outcome.interrupted:
        raise KeyboardInterrupt(f"{outcome.finished} of {outcome.expected} runs are kept in {out}")
    return _of_study(out)
