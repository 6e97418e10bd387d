"""The points of a sensitivity analysis, as SALib samples them."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from cluster_abm.arrays import Floats
from cluster_abm.errors import InputError
from cluster_abm.study.design.study_file import Sensitivity


def unit_points(plan: Sensitivity) -> Floats:
    """The points to run, in the unit cube: shape (plan.point_count, factors); in the order that `indices` wants them.

    Raises InputError: SALib is not there.
    """
    require_salib()
    from SALib.sample import morris, sobol

    if plan.method == "sobol":
        return np.asarray(sobol.sample(problem_of(plan), plan.samples, calc_second_order=False, seed=seed_of(plan)))
    return np.asarray(morris.sample(problem_of(plan), plan.samples, seed=seed_of(plan)))


def problem_of(plan: Sensitivity) -> dict[str, Any]:
    """The factors, as SALib wants them."""
    # A new one for each call: SALib writes into it.
    # SALib 1.5.1 gives the names to pandas as they are, and pandas 3 takes no lists.
    names = np.array([*plan.ranges], dtype=object)
    return {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}


def seed_of(plan: Sensitivity) -> int:
    """The seed of the sample, as SALib wants it."""
    # For SALib 0 means no seed.
    return plan.seed + 1


def require_salib() -> None:
    """Raise InputError if SALib is not there."""
    if importlib.util.find_spec("SALib") is None:
        raise InputError("sensitivity: needs SALib, the extra `sensitivity`: pip install '.[sensitivity]'")
