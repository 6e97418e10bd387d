"""The page's settings and a browser's messages: at their limits, just beyond them, and of the wrong type."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from support import scenario

from cluster_abm.errors import InputError
from viz import heard
from viz.address import query_of, texts_of
from viz.controls import AS_GIVEN, OFF
from viz.settings import MOST_INTENSITY, MOST_JOBS, MOST_NODES, scenario_with, settings_of

FEW = scenario(workload__jobs=10)
CLOSED = {"workload__arrivals__kind": "closed"}


def with_work(base, **changes):
    return scenario_with(base, replace(settings_of(base), **changes), "none")


@pytest.mark.parametrize(("intensity", "jobs"), [
    # 10 jobs times as many, rounded; one at least, or there would be no run.
    (1e-9, 1), (0.01, 1), (0.149, 1), (0.151, 2), (0.5, 5), (1.0, 10), (1.04, 10), (2.0, 20), (2.5, 25),
])  # fmt: skip
def test_a_low_intensity_leaves_a_job(intensity, jobs):
    assert with_work(FEW, intensity=intensity).workload.jobs == jobs


def test_more_work_by_the_key_that_sets_it(tmp_path):
    rate, load = scenario(workload__jobs_per_s=3.0), scenario(workload__utilisation=0.4)
    assert with_work(rate, intensity=2.5).workload.jobs_per_s == 7.5
    assert with_work(load, intensity=0.5).workload.utilisation == 0.2
    assert with_work(load, intensity=0.5).workload.jobs is None
    users = with_work(scenario(**CLOSED, workload__cpu_ms__mean=30.0), intensity=3.0).workload
    assert (users.cpu_ms.mean, users.arrivals.users_per_node) == (90.0, 1)
    (tmp_path / "t.csv").write_text("arrival_ms,home,cpu_ms\n0,0,5\n")
    traced = {"workload__kind": "trace", "workload__trace__file": str(tmp_path / "t.csv")}
    longer = with_work(scenario(**traced, workload__trace__cpu_scale=4.0), intensity=0.5)
    assert longer.workload.trace.cpu_scale == 2.0
    assert longer.workload.utilisation == 0.5


@pytest.mark.parametrize(("base", "allowed", "beyond"), [
    # 10 jobs, 10 a second for 20 s, 4 nodes with one user of 1000 jobs each.
    (FEW, {"intensity": MOST_JOBS / 10}, {"intensity": MOST_JOBS / 10 + 0.1}),
    (scenario(workload__jobs_per_s=10.0), {"intensity": MOST_JOBS / 200}, {"intensity": MOST_JOBS / 200 + 0.01}),
    (scenario(**CLOSED, workload__arrivals__jobs_per_user=1000), {"nodes": MOST_JOBS // 1000},
     {"nodes": MOST_JOBS // 1000 + 1}),
    (scenario(**CLOSED, workload__arrivals__jobs_per_user=1000, workload__arrivals__user_nodes=[1, 2]),
     {"nodes": MOST_NODES}, {"nodes": MOST_NODES + 1}),
    (FEW, {"nodes": MOST_NODES}, {"nodes": MOST_NODES + 1}),
    # A scenario of more jobs than a page allows keeps them.
    (scenario(workload__jobs=2 * MOST_JOBS), {"intensity": 1.0}, {"intensity": 1.001}),
    (scenario(workload__utilisation=0.5, workload__duration_s=1e-7), {"intensity": MOST_INTENSITY},
     {"intensity": 1.0001e9}),
    (FEW, {"intensity": 1e-300}, {"intensity": 0.0}),
    (FEW, {"seed": 2**63 - 1}, {"seed": 2**63}), (FEW, {"seed": 0}, {"seed": -1}),
    (FEW, {"seed": 0}, {"seed": -(2**63)}), (FEW, {"nodes": 1}, {"nodes": 0}),
    (FEW, {"slice_ms": 1e-6}, {"slice_ms": 0.0}), (FEW, {"slice_ms": 5}, {"slice_ms": True}),
    (FEW, {"io_per_ms": 0.0}, {"io_per_ms": -0.1}), (FEW, {"io_per_ms": 1.0}, {"io_per_ms": math.inf}),
])  # fmt: skip
def test_a_page_asks_for_so_much_and_no_more(base, allowed, beyond):
    found = with_work(base, **allowed)
    assert "nodes" not in allowed or found.cluster.nodes == allowed["nodes"]
    with pytest.raises(InputError) as caught:
        with_work(base, **beyond)
    assert all(len(line) < 300 for line in caught.value.problems)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(InputError) as caught:
        with_work(FEW, io_per_ms=math.nan, nodes=MOST_NODES + 1, intensity=-1.0)
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError) as caught:
        with_work(FEW, policy="no-such", hardware="no-such", nodes=4.0, slice_ms="x")
    assert len(caught.value.problems) == 4
    assert "a whole number is needed" in str(caught.value)
    assert "cluster.slice_ms = 'x': a number is needed" in str(caught.value)


def test_a_preset_takes_the_place_of_the_nodes_own_keys_and_groups_keep_theirs():
    own = scenario(cluster__nodes=4, cluster__memory_mb=300.0, cluster__group=[{"count": 1, "memory_mb": 20_000.0}])
    found = with_work(own, hardware="ssd-2015").cluster
    assert found.memory_mb == 32_000.0
    assert found.group[0].memory_mb == 20_000.0
    assert with_work(own).cluster.memory_mb == 300.0
    assert found.nodes == 4


# ---- messages ----


@pytest.mark.parametrize(("sent", "choice"), [
    ({"name": "policy", "value": "jsq"}, ("policy", "jsq")), ({"name": "policy", "value": "ssd"}, None),
    ({"name": "hardware", "value": "ssd"}, ("hardware", "ssd")), ({"name": "hardware", "value": "jsq"}, None),
    ({"name": "other", "value": "jsq"}, None), ({"name": "policy"}, None), ({"value": "jsq"}, None), ("policy", None),
    ({"name": ["policy"], "value": "jsq"}, None), ({"name": "policy", "value": {}}, None), (None, None),
])  # fmt: skip
def test_a_choice(sent, choice):
    assert heard.choice(sent, {"policy": {"jsq", "none"}, "hardware": ["ssd"]}) == choice


@pytest.mark.parametrize(("sent", "entry"), [
    ({"name": "nodes", "text": "8"}, ("nodes", "8")), ({"name": "nodes", "text": 8}, ("nodes", "")),
    ({"name": "nodes"}, ("nodes", "")), ({"name": "seed", "text": "8"}, None), ({"text": "8"}, None), ([], None),
    ({"name": None, "text": "8"}, None),
])  # fmt: skip
def test_an_entry(sent, entry):
    assert heard.entry(sent, {"nodes"}) == entry


# ---- the address ----

OFFERED = {"policy": ["jsq", "none"], "other": [OFF, "jsq", "none"], "hardware": [AS_GIVEN, "ssd-2015"]}


def test_settings_in_the_address_are_those_that_differ_from_the_first_ones():
    first = settings_of(FEW)
    assert query_of(first, first) == ""
    changed = replace(first, policy="jsq", other="none", nodes=64, slice_ms=0.1, seed=3)
    query = query_of(changed, first)
    choices, numbers = texts_of(f"?{query}", OFFERED)
    assert {"policy": changed.policy, "other": "none"} == choices | {"policy": changed.policy}
    assert {name: type(getattr(first, name))(text) for name, text in numbers.items()} == {
        "nodes": 64, "slice_ms": 0.1, "seed": 3,
    }  # fmt: skip
    # A second policy of the first settings can be off.
    assert texts_of(query_of(first, replace(first, other="jsq")), OFFERED)[0] == {"other": ""}


@pytest.mark.parametrize("query", [
    None, 3, [], {}, "x" * 5000, "policy=mine.py:Mine", "hardware=/etc/passwd", "policy=", "__class__=1", "a;b",
    "&" * 500,
])  # fmt: skip
def test_an_address_says_only_what_lists_offer(query):
    assert texts_of(query, OFFERED) == ({}, {})


def test_numbers_of_an_address_are_read_as_those_of_fields():
    assert texts_of("nodes=-3&seed=much&policy=jsq&policy=none", OFFERED) == (
        {"policy": "none"}, {"nodes": "-3", "seed": "much"}
    )  # fmt: skip


@pytest.mark.parametrize(("sent", "found"), [
    ({"from_s": 1, "to_s": 2.5}, (1.0, 2.5)), ({"from_s": 0, "to_s": 10}, (0.0, 10.0)),
    ({"from_s": 0, "to_s": 11}, None), ({"from_s": 2, "to_s": 2}, None), ({"from_s": -1, "to_s": 1}, None),
    ({"from_s": 10**400, "to_s": 10**400 + 1}, None), ({"from_s": math.nan, "to_s": 1}, None),
    ({"from_s": False, "to_s": True}, None), ({"from_s": "1", "to_s": 2}, None), ({"from_s": 1}, None), (None, None),
])  # fmt: skip
def test_a_window_of_detail(sent, found):
    assert heard.window(sent) == found
