"""The pictures of a comparison, and its tables for LaTeX."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, Unpack, cast

from cluster_abm.results.figures.latex import latex_table, with_interval
from cluster_abm.results.figures.options import OF_POLICIES, FigureOptions, Look
from cluster_abm.results.words import line_words
from cluster_abm.study.comparison_document import ComparedPolicies

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from cluster_abm.study.statistics.pairs import Pairs

TAKES = OF_POLICIES | {"baseline"}


class DrawnComparison(ComparedPolicies, Protocol):
    """What pictures and tables read of a comparison (study.comparison.Comparison)."""

    @property
    def title(self) -> str:
        """What stands above its picture."""

    def estimates(self, metric: str | None = ...) -> pd.DataFrame:
        """Every policy's mean as a table."""

    def differences(self, metric: str | None = ...) -> pd.DataFrame:
        """The pairs as a table."""

    def against_baseline(self, metric: str | None = ...) -> Pairs:
        """Each policy against the baseline."""


class InFigures:
    """The part of a comparison (study.comparison.Comparison) that draws it, and writes it for LaTeX."""

    @property
    def _compared(self) -> DrawnComparison:
        return cast(DrawnComparison, self)

    def plot(self, metric: str | None = None, **look: Unpack[Look]) -> Figure:
        """Draw what `cluster-abm compare` writes as compare.png: means of a metric with their intervals, where a task's
        time went, and each seed's value over the baseline's. With `baseline=`: ratios to it alone, with paired
        intervals (differences of a metric that can be 0).

        Where the largest mean is more than 10 times the smallest, the axis is logarithmic and says so.

        Args:
            metric: a column of `runs`; default: `headline`.
            look: policies, baseline, size ("column", "page" or inches), labels, colours, title, style
                (results.figures.options.Look).

        Returns:
            A Matplotlib figure; a notebook shows it, and `.savefig("mine.pdf")` writes it.

        Raises:
            InputError: no seed has finished for all policies, no such metric, or an option that cannot be.
        """
        return _figure_of(self._compared, metric or self._compared.headline, look)

    def to_latex(self, metric: str | None = None, pairs: bool = False) -> str:
        """A table for LaTeX's booktabs: each policy's mean with its interval and its ratio to the baseline.

        Args:
            metric: a column of `runs`; default: `headline`.
            pairs: the pairs instead: ratio and raw difference with their intervals, and what is said of them.

        Raises:
            InputError: as of `estimates`.
        """
        return _latex_of(self._compared, metric or self._compared.headline, pairs)


def _figure_of(found: DrawnComparison, metric: str, look: Look) -> Figure:
    """`Comparison.plot`. Raises InputError: as said there."""
    from cluster_abm.results.of_studies.comparison_picture import comparison_figure

    options = FigureOptions.of(look, TAKES, found.policies, "picture of a comparison")
    if options.baseline is not None:
        return _against(found, metric, options)
    # Says what is wrong where no seed has finished, or there is no such metric.
    names = options.policies
    means = {name: found.estimate(name, metric) for name in names}
    runs = found.runs[found.runs["policy"].isin(names) & found.runs["seed"].isin(found.seeds)]
    shown = {name: (one.mean, one.ci95) for name, one in means.items()}
    first = found.baseline if found.baseline in names else None
    title = options.titled(found.title)
    return options.draw(lambda: comparison_figure(title, runs, shown, metric, first))


def _against(found: DrawnComparison, metric: str, options: FigureOptions) -> Figure:
    """Every other policy over the baseline, Holm-corrected over those that are drawn."""
    from cluster_abm.results.of_studies.comparison_picture import Against, ratio_figure

    baseline = options.baseline
    assert baseline is not None
    others = [name for name in options.policies if name != baseline]
    # A comparison is a dataclass: of these policies alone, against this one.
    chosen = replace(cast(Any, found), policies=(baseline, *others), named_baseline=baseline)
    pairs: Pairs = chosen.against_baseline(metric)
    tested = [pairs[name, baseline].tested for name in others]
    # A metric that is 0 in a run has no ratios.
    are_ratios = all(one is None or one.is_ratio for one in tested)
    against = {}
    for name in others:
        pair = pairs[name, baseline]
        if are_ratios:
            against[name] = Against(pair.ratio, pair.ratio_ci95, pair.significant)
        else:
            against[name] = Against(pair.difference.mean, pair.difference.ci95, pair.significant)
    title = options.titled(f"{found.scenario.name}, {len(found.seeds)} seeds, the same jobs for every policy")
    return options.draw(lambda: ratio_figure(title, metric, baseline, against, are_ratios))


def _latex_of(found: DrawnComparison, metric: str, pairs: bool) -> str:
    """`Comparison.to_latex`. Raises InputError: as said there."""
    words = line_words(metric)
    if pairs:
        table = found.differences(metric).reset_index()
        return latex_table(
            [
                {
                    "a": row["a"],
                    "b": row["b"],
                    "a / b [95 %]": with_interval(row["ratio"], row["ratio_low"], row["ratio_high"], 3),
                    f"{words}, a - b [95 %]": with_interval(row["difference"], row["low"], row["high"]),
                    "a is": row["verdict"],
                }
                for row in table.to_dict("records")
            ]
        )
    against, rows = found.against_baseline(metric), []
    for name, row in found.estimates(metric).iterrows():
        line: dict[str, object] = {
            "policy": name, f"{words} [95 %]": with_interval(row["mean"], row["low"], row["high"]),
        }  # fmt: skip
        if len(found.policies) > 1:
            pair = against.get((str(name), found.baseline))
            ratio = "" if pair is None else with_interval(pair.ratio, *(pair.ratio_ci95 or (math.nan, math.nan)), 3)
            line[f"times {found.baseline} [95 %]"] = "1" if name == found.baseline else ratio
        rows.append(line)
    return latex_table(rows)
