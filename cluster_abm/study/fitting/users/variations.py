"""How much work varies with time: what a choice of sessions is judged by. Waits are not looked at."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Floats

# Lengths of time in which work is summed up, those of which the window has enough [s].
PIECES_S = (21_600.0, 86_400.0, 259_200.0, 604_800.0, 1_209_600.0, 2_419_200.0)
FEWEST_PIECES = 8
# From how many instants on windows are laid.
BEGINS = 4


class WorkInTime(NamedTuple):
    """Jobs as work that comes at instants, and keeps processors busy from then on."""

    times_s: Floats  # of submissions, shape (jobs,) [s]
    run_s: Floats  # CPU time of a task, shape (jobs,) [s]
    tasks: Floats  # shape (jobs,)
    window_s: float  # in which they come [s]


def variations(work: WorkInTime) -> Floats:
    """Standard deviation over mean, of the work that is submitted in pieces of time, and of the processors that it
    would keep busy if each job ran from its submission on; for each of the pieces, shape (2 pieces,)."""
    pieces = [piece for piece in PIECES_S if work.window_s / piece >= FEWEST_PIECES]
    order = np.argsort(work.times_s, kind="stable")
    times_s, each = work.times_s[order], (work.run_s * work.tasks)[order]
    submitted = np.concatenate([[0.0], np.cumsum(each)])

    def submitted_by(instants_s: Floats) -> Floats:
        return submitted[np.searchsorted(times_s, instants_s)]

    changes_s, done = _served(work)

    def served_by(instants_s: Floats) -> Floats:
        return np.interp(instants_s, changes_s, done)

    return np.array([_variation(by, work.window_s, piece) for by in (submitted_by, served_by) for piece in pieces])


def _served(work: WorkInTime) -> tuple[Floats, Floats]:
    """The work done up to each instant at which a job begins or ends, if each ran from its submission on."""
    instants = np.concatenate([work.times_s, work.times_s + work.run_s])
    changes = np.concatenate([work.tasks, -work.tasks])
    order = np.argsort(instants, kind="stable")
    instants = instants[order]
    busy = np.cumsum(changes[order])[:-1]
    return instants, np.concatenate([[0.0], np.cumsum(busy * np.diff(instants))])


def _variation(by: object, window_s: float, piece_s: float) -> float:
    found = []
    for begin in range(BEGINS):
        at = begin / BEGINS * piece_s
        edges = np.arange(at, window_s + 1e-9, piece_s)
        amounts = np.diff(by(edges))  # type: ignore[operator]
        found.append(float(amounts.std() / amounts.mean()) if amounts.sum() > 0 else 0.0)
    return float(np.mean(found))
