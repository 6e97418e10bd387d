"""What happens in a node decides when its managers act, and where jobs go: worked by hand.

Two jobs, A and B, under each kind of load manager; what a job takes on node 1 is a formula for each mechanism. A comes
at 13.5 ms. B has to wait until A has ended on node 1 and its manager knows it, by whatever way it learns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from crossings.managers import ASKING_MS, LATENCY_MS, WAY_MS, column, ends, job, known_ms, model_of
from crossings.own_policies import PERIOD_MS, ByReports, HeldByReports, HeldWhileBusy, OneByOne
from crossings.table import crosses

A_MS, B_MS = 13.5, 21.25


class Machine(NamedTuple):
    """What takes part in a node, or on the way there.

    Attributes:
        job: columns of both jobs, beside their arrival.
        keys: of the scenario.
        end_ms: when a job ends that enters node 1, alone, at this instant [ms].
        travel_ms: how long it takes to node 1, asking apart [ms].
        at_home_ms: when a job ends that begins on node 0 at this instant; None: as on node 1 [ms].
    """

    job: dict[str, Any]
    keys: dict[str, Any]
    end_ms: Callable[[float], float]
    travel_ms: float = WAY_MS
    at_home_ms: Callable[[float], float] | None = None


def at_barriers(start_ms: float) -> float:
    """60 ms of CPU with barriers after 25 and 50, each of which opens at the next boundary."""
    return known_ms(known_ms(start_ms + 25) + 25) + 10


READER = "program,cpu_ms,memory_mb,accesses\nreader,40,1,2\n"
SLEEPER = "program,cpu_ms,memory_mb,accesses,turnover_mb_per_s,pause_ms\nreader,20,1,0,0,0.25\nreader,20,1,1,0,0\n"
# Access of 100 KB: 8 ms and 100/40 ms.
MACHINES = {
    # 200 MB on 100 MB: twice 0.5 faults per ms of CPU; the 30 of 30.5 ms take 9 ms each. They delay no other task.
    "paging": Machine(
        {"cpu_ms": 30.5, "memory_mb": 200}, {"cluster__memory_mb": 100.0}, lambda start: start + 30.5 + 30 * 9
    ),
    # The buffer is large enough, and each datum read again 1e15 times: all that is accessed is a hit.
    "buffer": Machine(
        {"cpu_ms": 45, "io_per_ms": 0.5, "reaccess_rate": 1e15}, {}, lambda start: start + 45
    ),
    "barriers": Machine(
        {"cpu_ms": 60, "tasks": 2}, {"cluster__cores": 2, "workload__tasks__barrier_ms": 25.0}, at_barriers
    ),
    # Two tasks side by side, with accesses after 10 and 30 of 40 ms: both seek at once for 8 ms; the second's transfer
    # of 2.5 ms comes after the first's. So do the next ones: the first seeks 20 ms later from 40.5 to 48.5, and is
    # served until 51; the second, 2.5 ms behind, until 53.5, and has 10 ms to compute.
    "channels": Machine(
        {"cpu_ms": 40, "tasks": 2, "name": "reader"},
        {"cluster__cores": 2, "cluster__disk_channels": 2, "workload__programs__file": READER},
        lambda start: start + 63.5,
    ),
    # 20 ms, a pause of 0.25 ms, 20 ms with an access in the middle.
    "programs": Machine(
        {"cpu_ms": 40, "name": "reader"}, {"workload__programs__file": SLEEPER}, lambda start: start + 40 + 0.25 + 10.5
    ),
    # A program has the CPU for the first half of each second; a task that comes in that half waits.
    "background": Machine(
        {"cpu_ms": 45},
        {"workload__background": [{"node": 1, "cpu_share": 0.5, "period_ms": 1000.0}]},
        lambda start: max(start % 1000, 500.0) + start // 1000 * 1000 + 45,
        at_home_ms=lambda start: start + 45,
    ),
    # Two tasks with 2 MB each, read until 50 and 100 ms; e and the latency later, at 103 and 153, they are sent at 10
    # MB/s, the second while the first has 1.5 MB left: at 5 MB/s that one has come at 453. The second has 0.5 MB left,
    # until 503. They are written in 50 ms, one after the other.
    "links": Machine(
        {"cpu_ms": 45, "tasks": 2, "initial_data_mb": 2},
        {"cluster__cores": 2, "interconnect__mode": "contended", "interconnect__bandwidth_mbps": 80.0},
        lambda start: start + 45,
        travel_ms=553,
    ),
    # A file of 2 MB on node 0: 200 ms at 10 MB/s, and 3 ms.
    "staging": Machine(
        {"cpu_ms": 45},
        {
            "data__files": 1, "data__size_mb": {"kind": "fixed", "mean": 2.0}, "interconnect__bandwidth_mbps": 80.0,
            "data__files_per_job": {"minimum": 1, "maximum": 1},
        },
        lambda start: start + 45,
        travel_ms=WAY_MS + 203,
    ),
}  # fmt: skip
ALL = pytest.mark.parametrize("mechanism", MACHINES)


def run(folder, mechanism, policy, arrivals_ms, compiled=True):
    machine = MACHINES[mechanism]
    keys = dict(machine.keys)
    if "workload__programs__file" in keys:
        (folder / "programs.csv").write_text(keys["workload__programs__file"])
        keys["workload__programs__file"] = str(folder / "programs.csv")
    # With that seed node 0 has the file.
    model = model_of(folder, policy, [job(at, **machine.job) for at in arrivals_ms], compiled, seed=2, **keys)
    assert mechanism != "staging" or model.staging.catalogue.holders.tolist() == [[0]]
    model.run()
    return model


def of_all(*managers: str):
    """The test is a case of these managers with each mechanism of a node."""

    def note(test):
        for mechanism in MACHINES:
            test = crosses(mechanism, *managers)(test)
        return test

    return note


@pytest.mark.slow
@of_all("talking")
@ALL
def test_the_next_job_sets_out_when_the_node_has_told_that_it_is_empty(tmp_path, mechanism):
    """A sets out at once. Node 1 knows of its end at the boundary after it, node 0 the latency later; then B goes."""
    machine, policy = MACHINES[mechanism], OneByOne()
    model = run(tmp_path, mechanism, policy, [A_MS, B_MS])
    first_ms = machine.end_ms(A_MS + machine.travel_ms)
    starts_ms = known_ms(first_ms) + LATENCY_MS
    second_ms = machine.end_ms(starts_ms + machine.travel_ms)
    assert ends(model) == [first_ms, second_ms]
    # Of a job of two tasks each waits as long.
    assert column(model, "blocked_ms")[-1] == starts_ms - B_MS
    assert column(model, "migration_ms")[-1] == machine.travel_ms
    assert max(here_ms for at_ms, here_ms in policy.told if at_ms == known_ms(first_ms)) == round(
        first_ms - A_MS - machine.travel_ms, 6
    )
    # The run is over before anybody is told of B's end.
    assert model.parts.mail.sent == 1


@pytest.mark.slow
@of_all("holding")
@ALL
def test_the_next_job_is_held_until_the_slice_in_which_the_one_before_ends_is_over(tmp_path, mechanism):
    machine = MACHINES[mechanism]
    model = run(tmp_path, mechanism, HeldWhileBusy(), [A_MS, B_MS])
    first_ms = machine.end_ms(A_MS + machine.travel_ms)
    starts_ms = known_ms(first_ms)
    assert ends(model) == [first_ms, machine.end_ms(starts_ms + machine.travel_ms)]
    assert column(model, "blocked_ms")[-1] == starts_ms - B_MS


@pytest.mark.slow
@of_all("periodic", "holding", "stale-reports")
@ALL
def test_the_next_job_is_held_until_a_report_has_come_and_the_manager_looks(tmp_path, mechanism):
    """The report at the first multiple of 100 ms after the end comes 3 ms later; node 0 looks 100 ms after that."""
    machine = MACHINES[mechanism]
    model = run(tmp_path, mechanism, HeldByReports(), [A_MS, B_MS])
    first_ms = machine.end_ms(A_MS + ASKING_MS + machine.travel_ms)
    starts_ms = known_ms(first_ms, PERIOD_MS) + PERIOD_MS
    assert ends(model) == [first_ms, machine.end_ms(starts_ms + ASKING_MS + machine.travel_ms)]
    assert column(model, "blocked_ms")[-1] == starts_ms - B_MS


@pytest.mark.slow
@of_all("stale-reports")
@pytest.mark.parametrize("compiled", [True, False])
@ALL
def test_a_job_goes_where_the_last_report_has_room(tmp_path, mechanism, compiled):
    """B comes after A has ended, before a report says so: it stays on node 0. C comes after it, and goes to node 1."""
    machine = MACHINES[mechanism]
    first_ms = machine.end_ms(A_MS + ASKING_MS + machine.travel_ms)
    reported_ms = known_ms(first_ms, PERIOD_MS)
    b_ms, c_ms = reported_ms + 4.5, reported_ms + 13.5
    model = run(tmp_path, mechanism, ByReports(), [A_MS, b_ms, c_ms], compiled)
    assert bool(model.decides_in_python) == (not compiled)
    at_home_ms = machine.at_home_ms or machine.end_ms
    assert ends(model) == [first_ms, at_home_ms(b_ms), machine.end_ms(c_ms + ASKING_MS + machine.travel_ms)]
