"""The metrics that a study names, held against those that its runs have."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping

from cluster_abm.results.words import why_absent
from cluster_abm.scenario.measures import FORMS
from cluster_abm.scenario.shipped import nearest
from cluster_abm.scenario.wording.other_names import MOST_NAMED, did_you_mean
from cluster_abm.study.design.study_file import Study

# What else people call what is measured, by our word for it.
OTHER_NAMES = {
    "stretch expansion normalized_response xfactor": "slowdown",
    "latency turnaround sojourn flowtime flow_time response_time rt": "response",
    "cmax completion_time": "makespan",
    "load rho utilization busy": "utilisation",
    "energy power": "joules",
    "moves transfers": "migrations",
}
# What may be meant for a metric that is asked for by its form (p99_response_ms, response_within_300_ms).
ASKED = re.compile(r"^(p\d|quantile|percentile|median)|within")
# Of a point and a policy.
Given = Mapping[tuple[int, str], frozenset[str]]


def nearest_metric(word: str, allowed: Collection[str]) -> str:
    """A hint with the metrics that a word may mean, the mean and the 95th percentile first; else with all of them."""
    text, names = word.strip().lower()[:100], sorted(allowed)
    if not difflib.get_close_matches(text, names, n=1, cutoff=0.8):
        if ASKED.search(text):
            return f"quantiles, and shares within a limit, have these forms: {FORMS}"
        meant = next((ours for words, ours in OTHER_NAMES.items() if text in words.split()), text)
        # The last part of a word, `_ms` left out, says what is measured.
        parts = {part for name in names for part in re.split(r"[_.]", name) if len(part) > 3}
        close = difflib.get_close_matches(meant, sorted(parts), n=1, cutoff=0.6)
        found = [name for name in names if close and close[0] in re.split(r"[_.]", name)]
        if found:
            usual = [name for name in (f"mean_{close[0]}", f"p95_{close[0]}") if name in found]
            return did_you_mean(usual or sorted(found, key=len)[:MOST_NAMED])
    return nearest(text, names)


def metric_problems(study: Study, given: Given) -> list[str]:
    """What is wrong with the metrics a study names: no run has one, or precision is asked of one that some lack."""
    there = sorted(frozenset().union(*given.values()))
    if not there:
        return []
    problems = [
        f"{study.file}: {field} = {name!r}: no such metric{why_absent(name) or '; ' + nearest_metric(name, there)}"
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
