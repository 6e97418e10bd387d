"""Trackable resources (TRES) and generic resources (GRES), as Slurm writes them, as counted resources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from cluster_abm.arrays import Words
from cluster_abm.workload.traces.parts.resources import resources_in, resources_text

# cpu, mem, node, energy, billing, ... are no generic resources: other columns say them.
_TRES = re.compile(r"(?:gres|license)/([A-Za-z_][\w.-]{0,60})(:[\w.-]{1,60})?=(\d{1,10})", re.ASCII)
_GRES = re.compile(r"(?:gres[/:])?([A-Za-z_][\w.-]{0,60})(:[A-Za-z_][\w.-]{0,60})?:(\d{1,10})(?:\(.*)?", re.ASCII)


def resource_cells(columns: Sequence[Words]) -> Words:
    """The column `resources` of some jobs: of each the first column that names a resource.

    Args:
        columns: cells of AllocTRES, ReqTRES, AllocGRES and ReqGRES in the order in which they count, shape (jobs,)
            each; what cannot be read is passed over, for other columns say all that a run needs.
    """
    known: dict[str, str] = {}
    cells = np.full(len(columns[0]) if columns else 0, "", object)
    for column in columns:
        for row in np.flatnonzero((cells == "") & (column != "")).tolist():
            text = column[row]
            if text not in known:
                known[text] = resources_of(text)
            cells[row] = known[text]
    return cells


def resources_of(text: str) -> str:
    """The cell of counted resources that a text as cpu=4,gres/gpu=2,gres/gpu:a100=2 or gpu:a100:2 stands for.

    A resource with a type is part of the one without, where both are there.
    """
    whole: dict[str, float] = {}
    typed: dict[str, float] = {}
    for name, kind, amount in _entries(text):
        of = typed if kind else whole
        of[name] = of.get(name, 0.0) + amount
    cell = resources_text(typed | whole)
    try:
        resources_in(cell)
    except ValueError:
        return ""
    return cell


def _entries(text: str) -> Iterable[tuple[str, str, float]]:
    for entry in text.split(","):
        match = _TRES.fullmatch(entry.strip()) or _GRES.fullmatch(entry.strip())
        if match:
            yield match[1], match[2] or "", float(match[3])
