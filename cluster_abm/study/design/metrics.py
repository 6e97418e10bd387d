"""The metrics that a study names, held against those that its runs have."""

from __future__ import annotations

from collections.abc import Mapping

from cluster_abm.results.words import why_absent
from cluster_abm.scenario import nearest
from cluster_abm.study.design.study_file import Study

# Of a point and a policy.
Given = Mapping[tuple[int, str], frozenset[str]]


def metric_problems(study: Study, given: Given) -> list[str]:
    """What is wrong with the metrics a study names: no run has one, or precision is asked of one that some lack."""
    there = sorted(frozenset().union(*given.values()))
    if not there:
        return []
    problems = [
        f"{study.file}: {field} = {name!r}: no such metric{why_absent(name) or '; ' + nearest(name, there)}"
        for field, names in (("precision_metric", (study.precision_metric,)), ("measure", study.measure))
        for name in dict.fromkeys(names)
        if name not in there
    ]
    lacking = [cell for cell, names in given.items() if study.precision_metric not in names]
    if study.precision is not None and study.precision_metric in there and lacking:
        point, policy = lacking[0]
        more = f", nor have those of {len(lacking) - 1} more" if len(lacking) > 1 else ""
        problems.append(
            f"{study.file}: precision_metric = {study.precision_metric!r}: runs of point {point} under {policy!r} have "
            f"no such metric{more}; one is needed that all have"
        )
    return problems
