"""What every policy must keep: the shipped contract, over all policies that are found."""

from __future__ import annotations

import pytest
from support import mostly_slow

from cluster_abm.errors import InputError
from cluster_abm.policies import available, create
from cluster_abm.scenario.schema import PolicyChoice
from cluster_abm.testing import PolicyContract

NAMES = sorted(available())


def pytest_generate_tests(metafunc):
    if "chosen" in metafunc.fixturenames:
        metafunc.parametrize("chosen", mostly_slow(NAMES), scope="class")


class TestShipped(PolicyContract):
    @pytest.fixture(autouse=True)
    def policy_of_the_test(self, chosen):
        self.policy = chosen


def test_the_papers_and_the_references_are_there():
    assert {"none", "clb", "mlb", "iolb", "random", "round-robin", "jsq", "power-of-d"} <= set(NAMES)


def test_a_wrong_parameter_is_named_with_what_is_allowed():
    with pytest.raises(InputError, match=r"policy\.indx.*did you mean 'policy\.index'"):
        create(PolicyChoice(name="iolb", indx="queue"))
    with pytest.raises(InputError, match=r"policy\.index = 'length'.*'remaining' or 'queue'"):
        create(PolicyChoice(name="iolb", index="length"))
    with pytest.raises(InputError, match=r"policy\.d = 0"):
        create(PolicyChoice(name="power-of-d", d=0))
    with pytest.raises(InputError, match=r"policy\.name = 'iobl'.*did you mean 'iolb'"):
        create(PolicyChoice(name="iobl"))


def test_a_scenario_may_hold_parameters_of_several_policies():
    assert create(PolicyChoice(name="none", index="queue", d=3)).name == "none"
    assert create(PolicyChoice(name="power-of-d", index="queue", d=3)).parameters.d == 3
