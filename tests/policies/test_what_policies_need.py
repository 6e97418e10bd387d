"""What a scenario lacks that a policy needs is bad input, by name."""

from __future__ import annotations

import pytest
from support import finished, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError


@pytest.mark.parametrize("name", ["sita-e", "hawk", "eagle"])
def test_sizes_that_do_not_differ(name):
    with pytest.raises(InputError, match=f"policy '{name}': needs tasks of different sizes"):
        ClusterModel(scenario(policy__name=name, workload__cpu_ms__kind="fixed", workload__cpu_ms__mean=10.0))


@pytest.mark.parametrize(("cutoffs", "said"), [
    ([100.0, 50.0, 20.0], r"policy.cutoffs_ms = \[100.0, 50.0, 20.0\]: must ascend"),
    ([100.0, 500.0], "policy.cutoffs_ms: 2 sizes; for 4 nodes 3 are needed"),
])  # fmt: skip
def test_sizes_that_part_no_classes(cutoffs, said):
    with pytest.raises(InputError, match=said):
        ClusterModel(scenario(policy__name="sita-e", policy__cutoffs_ms=cutoffs))


def test_a_value_of_neither_kind_is_named_without_the_kinds():
    with pytest.raises(InputError) as caught:
        ClusterModel(scenario(policy__name="work-stealing", policy__victims="some"))
    assert caught.value.problems == [
        "policy.victims = 'some': input should be a valid integer", "policy.victims = 'some': input should be 'all'",
    ]  # fmt: skip


def test_sizes_of_one_node():
    assert finished(1, policy__name="sita-e", cluster__nodes=1, workload__duration_s=3.0).policy.name == "sita-e"
