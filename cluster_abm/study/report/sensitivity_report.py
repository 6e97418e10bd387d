"""What a report says of sensitivity: a table and a picture a metric, and what could not be analysed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cluster_abm.results.of_studies.study_axes import label_of
from cluster_abm.study.report.markdown import picture_lines, table_lines, with_interval
from cluster_abm.study.statistics.sensitivity import INDICES, Analysis

HEADS = {"total": "total", "first_order": "first order", "mu_star": "μ*", "sigma": "σ"}


def draw_sensitivity(path: Path, title: str, matters: Analysis) -> list[Path]:
    """Draw sensitivity-METRIC.png and .svg into a folder; give their paths."""
    # Matplotlib takes half a second, which `batch status` need not wait for.
    from cluster_abm.results.of_studies.sensitivity_picture import draw_indices

    written = []
    for metric, rows in matters.table.groupby("metric", sort=False):
        policies = [*dict.fromkeys(rows["policy"])]
        stem = path / _stem(str(metric))
        written += draw_indices(stem, f"{title}: what matters", str(metric), rows, policies, INDICES[matters.method])
    return written


def sensitivity_lines(matters: Analysis, pictures: Sequence[Path]) -> list[str]:
    """The section of the report, in Markdown."""
    lines = ["## What matters", ""]
    for line in matters.refused:
        lines += [f"**No sensitivity indices.** {line}.", ""]
    names = INDICES[matters.method]
    for metric, own in matters.table.groupby("metric", sort=False):
        rows = []
        for (policy, factor), group in own.groupby(["policy", "factor"], sort=False):
            found = group.set_index("index")[["value", "low", "high"]]
            cells = [with_interval(*found.loc[name]) for name in names]
            rows.append([f"`{policy}`", label_of(str(factor)), *cells])
        head = ["policy", "factor", *(HEADS[name] for name in names)]
        lines += [f"### {label_of(str(metric))}", "", *table_lines(head, rows, "sensitivity.csv")]
        lines += picture_lines(pictures, [_stem(str(metric))])
    return lines


def _stem(metric: str) -> str:
    return f"sensitivity-{metric.replace('.', '-')}"
