"""Tests that a policy of one's own gets for nothing: the contract that every shipped policy keeps.

Two lines make a test file, which `pytest` runs:

    from cluster_abm.testing import PolicyContract
    from mine import Mine

    class TestMine(PolicyContract):
        policy = Mine

Without a file: `python -m cluster_abm.testing mine.py:Mine`. Both need pytest (`pip install pytest`).
"""

from __future__ import annotations

try:
    import pytest as pytest
except ModuleNotFoundError as lacking:
    raise ImportError("cluster_abm.testing needs pytest: pip install pytest") from lacking

from cluster_abm.testing.decisions import DecidesOnAView
from cluster_abm.testing.description import SaysWhatItIs
from cluster_abm.testing.forms import DecidesTheSame
from cluster_abm.testing.runs import RunsAnywhere

__all__ = ["PolicyContract"]


class PolicyContract(SaysWhatItIs, DecidesOnAView, DecidesTheSame, RunsAnywhere):
    """The tests of a policy; a subclass names it.

    Example:
        class TestMine(PolicyContract):
            policy = Mine
            overrides = {"workload__requested_over_actual__mean": 2.0}

    Attributes:
        policy: a class, an object with its parameters, a name, or FILE.py:CLASS as seen from the current folder.
        overrides: keys laid over every scenario of the tests, `__` for the dot: what the policy needs of a scenario.
    """
