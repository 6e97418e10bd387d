"""IOLB that balances links too: where there is nothing to balance it is IOLB; else its numbers are worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from support import busy, finished, same_records

from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View, create
from cluster_abm.scenario.schema import PolicyChoice

PAPERS_NODE = Hardware(1.0, 1000.0, 0.5, 1.5, False, 8.1, 8.0, 40.0, 160.0)
# 1 MB over 128 MB/s and two disks of 40 MB/s.
MB_MS = 1000 / 128 + 25 + 25
NARROW = {"interconnect__kind": "star", "interconnect__bandwidth_mbps": 40.0, "workload__duration_s": 15.0}


def place(name="iolb-net", data_mb=1.0, down=(), **loads):
    """The decision of node 0 about a task of 100 ms of CPU and, at 10 ms a request, 100 ms of I/O."""
    rows = np.zeros(len(next(iter(loads.values()))), LOAD)
    for field, values in loads.items():
        rows[field] = values
    view = View(
        0, rows, (PAPERS_NODE,) * len(rows), Paths.alike(len(rows), 128.0), 0.0, lambda task, draw: 0.5,
        frozenset(down), down=frozenset(down),
    )  # fmt: skip
    return create(PolicyChoice(name=name)).place(ArrivingTask(1, 1, 0, 100.0, 0.1, 80.0, 20.0, data_mb), view)


def alike(setup):
    """Whether iolb and iolb-net leave the same: decisions, jobs, and how each was decided."""
    plain, linked = (finished(3, **(setup | {"policy__name": name})) for name in ("iolb", "iolb-net"))
    assert plain.summary()["metrics"]["remote_executions"] > 20
    return (
        same_records(plain, linked)
        and plain.jobs_frame().equals(linked.jobs_frame())
        and plain.decisions_frame().equals(linked.decisions_frame())
    )


# ---- reductions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_where_transfers_do_not_hinder_each_other_it_is_iolb(mode):
    assert alike(busy(**NARROW, workload__initial_data_mb__mean=0.3, negotiation__mode=mode))


def test_where_nothing_goes_along_it_is_iolb():
    assert alike(busy(**NARROW, interconnect__mode="contended"))


def test_else_it_is_not():
    assert not alike(busy(**NARROW, interconnect__mode="contended", workload__initial_data_mb__mean=0.3))


# ---- worked by hand ----------------------------------------------------------------------------------------------

# Fig. 1, line 3: disks are uneven, home's the most loaded. L_net is below that, and home's not the largest.
DISKS = {"io_ms": [900.0, 100.0, 150.0], "at_disk": [4.0, 0.0, 0.0], "queue": 1.0}


def test_the_target_is_the_node_of_least_disk_and_link_load():
    """100 + 80 against 150 + 10; where nothing goes along, and for iolb, 100 against 150."""
    uneven = DISKS | {"net_ms": [0.0, 80.0, 10.0]}
    found = place(**uneven)
    assert (found.target, found.index, found.load_here, found.load_there) == (2, "io_ms", 900.0, 150.0)
    assert place(data_mb=0.0, **uneven).target == 1
    assert place("iolb", **uneven).target == 1
    # 180 against 181.
    assert place(**(DISKS | {"net_ms": [0.0, 80.0, 31.0]})).target == 1


def test_memory_and_cpu_are_balanced_together_with_links_too():
    pages = {"page_ms": [900.0, 100.0, 150.0], "at_disk": [4.0, 0.0, 0.0], "faults_per_ms": 0.1, "memory_mb": 1500.0}
    found = place(**pages, net_ms=[0.0, 80.0, 10.0])
    assert (found.target, found.index) == (2, "page_ms")
    busy_cpus = {"cpu_ms": [900.0, 100.0, 150.0], "queue": [9.0, 1.0, 1.0]}
    found = place(**busy_cpus, net_ms=[0.0, 80.0, 10.0])
    assert (found.target, found.index) == (2, "cpu_ms")


@pytest.mark.parametrize(("at_home", "there", "goes"), [
    (0.0, 342.0, True), (342.0, 0.0, True), (342.0, 300.0, True), (300.0, 342.0, True),
    (0.0, 342.4, False), (342.4, 0.0, False), (342.4, 300.0, False), (300.0, 342.4, False),
])  # fmt: skip
def test_the_longer_wait_at_either_end_is_part_of_the_cost(at_home, there, goes):
    """150 ms of CPU at either end, 500 ms of I/O here and 100 there: 400 - 57.8 = 342.2 ms may be waited for a link."""
    found = place(io_ms=[900.0, 100.0], at_disk=[4.0, 0.0], queue=1.0, net_ms=[at_home, there])
    assert found.cost_ms == pytest.approx(MB_MS + max(at_home, there))
    assert found.response_here_ms == pytest.approx(100 * 1.5 + 100 * 5)
    assert found.response_there_ms == pytest.approx(100 * 1.5 + 100)
    assert found.target == int(goes)


def test_with_the_least_of_both_at_home_it_stays():
    """900 + 50 against 800 + 200: home is the best place, however loaded its disk."""
    found = place(io_ms=[900.0, 800.0], at_disk=[4.0, 0.0], net_ms=[50.0, 200.0])
    assert (found.target, found.cost_ms) == (0, 0.0)
    # 900 against 700 for who looks at disks alone.
    assert place("iolb", io_ms=[900.0, 700.0], at_disk=[4.0, 0.0], net_ms=[0.0, 200.0]).target == 1


# Of two nodes a resource's LIF is in proportion to the difference of squares: here 300^2 - 100^2 of the disks.
TWO = {"io_ms": [300.0, 100.0], "at_disk": [9.0, 0.0], "cpu_ms": [10.0, 10.0]}


@pytest.mark.parametrize(("net_ms", "stays"), [([301.0, 100.0], True), ([299.0, 100.0], False), ([500.0, 400.0], True),
                                               ([400.0, 300.0], False), ([100.0, 301.0], False)])  # fmt: skip
def test_where_links_are_most_uneven_and_homes_the_fullest_data_stays(net_ms, stays):
    """500^2 - 400^2 is 90 000, more than the disks' 80 000; 400^2 - 300^2 is 70 000."""
    found = place(**TWO, net_ms=net_ms)
    assert (found.rule == "links") == stays
    if stays:
        assert (found.target, found.index, found.load_here) == (0, "net_ms", net_ms[0])
    # One that takes nothing along goes where the disk is idler.
    assert place(data_mb=0.0, **TWO, net_ms=net_ms).target == 1


@pytest.mark.parametrize("resource", ["cpu_ms", "page_ms", "io_ms"])
def test_links_are_the_matter_only_if_nothing_else_is_more_uneven(resource):
    """600^2 - 100^2 against 400^2 - 100^2, and 350^2 - 100^2."""
    loads = {"cpu_ms": [1.0, 1.0], "page_ms": [1.0, 1.0], "io_ms": [1.0, 1.0], "net_ms": [400.0, 100.0]}
    assert place(**(loads | {resource: [600.0, 100.0]})).rule != "links"
    assert place(**(loads | {resource: [350.0, 100.0]})).rule == "links"


def test_what_a_node_that_is_down_last_reported_does_not_count():
    loads = {name: [*values, 0.0] for name, values in TWO.items()}
    assert place(down=[2], **loads, net_ms=[301.0, 100.0, 999.0]).rule == "links"
    assert place(**loads, net_ms=[301.0, 100.0, 999.0]).rule != "links"
    # With the idle one among them the disks' LIF is 400 x 333.3, the links' 401 x 334.7 or 399 x 332.
    assert place(**loads, net_ms=[301.0, 100.0, 0.0]).rule == "links"
    assert place(**loads, net_ms=[299.0, 100.0, 0.0]).rule != "links"
