"""The contract for the policy that a command line names: a plugin of pytest, and the file that it runs."""

from __future__ import annotations

import pytest

from cluster_abm.errors import InputError
from cluster_abm.policies import name_of
from cluster_abm.testing import PolicyContract


class TestPolicy(PolicyContract):
    """The policy of `--policy`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take `--policy`."""
    parser.addoption("--policy", required=True, metavar="NAME|FILE.py:CLASS", help="the policy that is tested")


def pytest_configure(config: pytest.Config) -> None:
    """Load the policy before any test."""
    reference = config.getoption("--policy")
    try:
        name_of(reference)
    except InputError as problem:
        raise pytest.UsageError(str(problem)) from None
    TestPolicy.policy = reference
