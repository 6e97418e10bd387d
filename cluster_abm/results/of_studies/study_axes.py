"""How the points of a study lie in its pictures, and what keys and metrics are called on an axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.results.asked import metric_of
from cluster_abm.results.style import in_unit_of, plain

MOST_PANELS = 9
# Curves over a wider range are drawn on a logarithmic scale.
WIDEST_LINEAR = 15.0
UNITS = {
    "_per_ms": "1/ms", "_ms": "ms", "_mb_per_s": "MB/s", "_per_s": "1/s", "_mbps": "Mbit/s", "_mb": "MB",
    "_kb": "KB", "_s": "s", "_percent": "%",
}  # fmt: skip
# These say nothing without the section they stand in.
GENERAL = ("mean", "maximum", "minimum", "seed")


@dataclass(frozen=True)
class Panel:
    """Some points of a study beside each other."""

    title: str  # what they have in common; "" if there is one panel
    points: tuple[int, ...]  # their numbers, by x
    x: tuple[float, ...]  # where they stand


@dataclass(frozen=True)
class Layout:
    """All points of a study, in panels."""

    panels: tuple[Panel, ...]  # at least one
    labels: tuple[str, ...]  # of each panel's x axis
    names: tuple[str, ...] = ()  # of the places 0, 1, ... where x is no number; else empty.
    joined: bool = True  # whether lines join the points

    @property
    def is_single(self) -> bool:
        """Whether there is nothing to tell points apart by."""
        return set(self.names) == {""}


def label_of(name: str) -> str:
    """A key or metric in words, with its unit in brackets.

    >>> label_of("cluster.exchange_period_ms"), label_of("workload.cpu_ms.mean"), label_of("policy.index")
    ('exchange period [ms]', 'mean cpu [ms]', 'index')
    """
    words, unit = _words(name)
    return f"{words} [{unit}]" if unit else words


def scaled_label_of(name: str, longest: float) -> tuple[float, str]:
    """What the values of a metric are divided by in a picture in which `longest` is the largest, and its label then.

    >>> scaled_label_of("mean_response_ms", 600_000.0), scaled_label_of("mean_slowdown", 600_000.0)
    ((1000.0, 'mean response [s]'), (1.0, 'mean slowdown (wall / isolated time)'))
    """
    words, unit = _words(name)
    divisor, unit = in_unit_of(unit, longest)
    return divisor, f"{words} [{unit}]" if unit else words


def _words(name: str) -> tuple[str, str]:
    """Words and unit of a key or metric."""
    metric = metric_of(name)
    if metric is not None and metric.words:
        return metric.words, "" if metric.unit in ("1", "1/s") else metric.unit
    section, _, last = name.rpartition(".")
    above = section.rpartition(".")[2]
    if above == "jobs":
        return f"jobs {last}", ""
    if last in ("kind", "name") and above:
        return above.removesuffix("_ms").removesuffix("_mb").replace("_", " "), ""
    first, named = (f"{last} ", above) if last in GENERAL and above else ("", last)
    for suffix, unit in UNITS.items():
        if named.endswith(suffix):
            return first + named.removesuffix(suffix).replace("_", " "), unit
    return first + named.replace("_", " "), ""


def value_text(value: Any, digits: int = 3) -> str:
    """A key's value as people write it.

    >>> value_text(0.25), value_text([{"count": 8, "memory_mb": 512000.0}])
    ('0.25', 'count 8; memory 512,000 MB')
    """
    if isinstance(value, Real) and not isinstance(value, bool):
        return plain(float(value), digits)
    if isinstance(value, Mapping):
        # A group of nodes: a comma would part points.
        named = [(*_words(str(key)), value_text(entry, digits)) for key, entry in value.items()]
        return "; ".join(f"{words} {text} {unit}".rstrip() for words, unit, text in named)
    if isinstance(value, list | tuple):
        return " + ".join(value_text(entry, digits) for entry in value) or "none"
    return str(value)


def distinct_texts(values: Sequence[Any], digits: int = 3) -> list[str]:
    """Values as people write them, with as many digits as it takes to tell them apart.

    >>> distinct_texts([0.5, 0.25, 100.0]), distinct_texts([0.50012, 0.50034])
    (['0.5', '0.25', '100'], ['0.5001', '0.5003'])
    """
    # 17 digits tell any two numbers apart.
    for enough in range(digits, 18):
        texts = [value_text(value, enough) for value in values]
        if len(set(texts)) == len(set(map(_comparable, values))):
            break
    return texts


def _comparable(value: Any) -> Any:
    return float(value) if isinstance(value, Real) and not isinstance(value, bool) else str(value)


def key_texts(points: pd.DataFrame) -> pd.DataFrame:
    """The same table with texts for values, which tell any two values of a key apart."""
    return pd.DataFrame({key: distinct_texts(points[key].tolist()) for key in points}, points.index, dtype=object)


def point_text(keys: pd.Series) -> str:
    """A point by its keys: `utilisation = 0.7, exchange period = 100 ms`."""
    texts = []
    for key, value in keys.items():
        words, unit = _words(str(key))
        texts.append(f"{words} = {value_text(value)} {unit}".rstrip())
    return ", ".join(texts)


def is_numeric(values: Sequence[Any]) -> bool:
    """Whether all are numbers."""
    return all(isinstance(v, Real) and not isinstance(v, bool) and math.isfinite(float(v)) for v in values)


def lay_out(points: pd.DataFrame, x: str | None = None) -> Layout:
    """One key: along x; several: small multiples, a panel a combination of the others; too many: a panel a key, all
    points in each.

    Args:
        points: index the points' numbers, a column a swept key; no columns: a single point.
        x: the key along x; None: the one of most values.

    Raises InputError: the key along x is no number, or has one value only.
    """
    keys = [str(key) for key in points.columns]
    texts = key_texts(points)
    distinct = {key: points[key].map(str).nunique() for key in keys}
    numeric = [key for key in keys if is_numeric(points[key].tolist())]
    varied = [key for key in keys if distinct[key] > 1]
    if not varied:
        return Layout(
            (Panel("", tuple(points.index), tuple(map(float, range(len(points))))),), ("",), ("",) * len(points)
        )
    if x is not None and (x not in varied or x not in numeric):
        allowed = ", ".join(key for key in varied if key in numeric) or "none"
        raise InputError(f"plot(x={x!r}): has to be a number that differs from point to point; allowed: {allowed}")
    along = x or max((key for key in varied if key in numeric), key=distinct.__getitem__, default=None)
    if along is not None:
        others = [key for key in varied if key != along]
        groups = (
            [group for _, group in points.groupby([points[key].map(str) for key in others], sort=False)]
            if others
            else [points]
        )
        if len(groups) <= MOST_PANELS and all(len(group) > 1 for group in groups):
            panels = []
            for group in groups:
                ordered = group.iloc[np.argsort(group[along].astype(float), kind="stable")]
                title = point_text(texts.loc[group.index[0], others]) if others else ""
                panels.append(Panel(title, tuple(ordered.index), tuple(ordered[along].astype(float))))
            return Layout(tuple(panels), (label_of(along),) * len(panels))
    scattered = [key for key in varied if key in numeric][:MOST_PANELS]
    if len(scattered) == len(varied) and len(points) > MOST_PANELS:
        panels = [Panel(label_of(key), tuple(points.index), tuple(points[key].astype(float))) for key in scattered]
        return Layout(tuple(panels), tuple(map(label_of, scattered)), joined=False)
    names = tuple(point_text(texts.loc[point, varied]) for point in points.index)
    return Layout((Panel("", tuple(points.index), tuple(map(float, range(len(points))))),), ("",), names, joined=False)
