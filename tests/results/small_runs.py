"""Runs so small that all that they measure can be worked by hand; the arithmetic stands beside each.

Nodes switch tasks in no time and reports cost nothing, unless it is said. A run with `run.until` ends there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from support import PLAIN, scenario

from cluster_abm import ClusterModel

# An access of `reader` and of `half` takes 8 ms, and 80 KB / 40 MB/s = 2 ms. They are in the middle of their parts of
# the CPU: at 5 and 15 ms, and at 5 ms.
PROGRAMS = "program,cpu_ms,memory_mb,accesses\nreader,20,1,2\nhalf,10,1,1\nadder,10,1,0\npager,35,20,0\n"
ACCESS = {"workload__request_kb": {"kind": "fixed", "mean": 80.0}, "cluster__buffer_mb": 0.0}
HEAD = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks"


class Run(NamedTuple):
    """A run of a trace.

    Attributes:
        rows: of the trace; "": no trace.
        keys: overrides of the scenario.
        has: which metrics it has besides those that all have (results.metrics.When).
        head: of the trace.
    """

    rows: str
    keys: Mapping[str, Any]
    has: frozenset[str] = frozenset()
    head: str = HEAD


RUNS: Mapping[str, Run] = {
    # Quanta of 10 ms, a switch s takes 1 ms. Node 0: readers R and S.
    #   R 0-5 asks, disk 5-15; s, S 6-11 asks, waits for the disk, 15-25; s, R 16-26 asks, disk 26-36; s, S 27-37 asks,
    #   disk 37-47; s, R 38-43 ends; s, S 48-53 ends.
    #   R 43 = CPU 20 + queue (1 + 2) + I/O 20. S 53 = CPU 20 + queue (6 + 2 + 1) + I/O 20 + disk queue 4. Alone: 40.
    # Node 1: job T of two tasks of 10 ms, from 20: T0 20-30, s, T1 31-41. Of 10 and 21 ms.
    # All until 60 ms: CPU 40 and 20, disk 40 ms. 100 W, CPU 50 W, disk 20 W:
    #   2 x 100 x .06 + 50 x .06 + 20 x .04 = 12 + 3 + .8 = 15.8 J.
    "disk": Run(
        "0,0,20,0,1,1,reader\n0,0,20,0,1,1,reader\n20,1,10,0,1,2,adder\n",
        ACCESS | {
            "cluster__nodes": 2, "cluster__context_switch_ms": 1.0, "cluster__quantum_ms": 10.0, "run__until": 60.0,
            "cluster__idle_watts": 100.0, "cluster__cpu_watts": 50.0, "cluster__disk_watts": 20.0,
            "measure__bound_ms": 15.0, "measure__warmup": "mser",
        },
        frozenset({"power", "warmup", "mser"}), HEAD + ",name",
    ),
    # The same until 40 ms: of all tasks T0 alone has ended, and no job.
    "part": Run(
        "0,0,20,0,1,1,reader\n0,0,20,0,1,1,reader\n20,1,10,0,1,2,adder\n",
        ACCESS | {"cluster__nodes": 2, "cluster__context_switch_ms": 1.0, "cluster__quantum_ms": 10.0,
                  "run__until": 40.0},
        head=HEAD + ",name",
    ),
    # 20 MB on 10 MB: .05 x 20/10 = .1 faults per ms of CPU, after 10, 20 and 30 of 35 ms, each 5 ms: 50 ms, alone too.
    "paging": Run(
        "0,0,35,0,20,1,pager\n",
        {"cluster__nodes": 1, "cluster__memory_mb": 10.0, "cluster__buffer_mb": 0.0, "run__until": 100.0,
         "cluster__page_fault_rate_per_ms": 0.05, "cluster__fault_service_ms": 5.0},
        head=HEAD + ",name",
    ),
    # Node 0 has two cores and a disk of two channels, node 1 one of each. A asks at 5: seek to 13, transfer to 15, ends
    # at 20. B, from 3, asks at 8: seek to 16, transfer to 18, ends at 23. The disk is busy 5-18.
    "channels": Run(
        "0,0,10,0,1,1,half\n3,0,10,0,1,1,half\n",
        ACCESS | {"cluster__nodes": 2, "cluster__group": [{"count": 1, "cores": 2, "disk_channels": 2}],
                  "run__until": 50.0},
        frozenset({"channels"}), head=HEAD + ",name",
    ),
    # jsq: A (100 ms) stays at node 0, a tie. B (20 ms, from 25) finds it busy, and enters node 1 after e = 7 ms: 32-52.
    "remote": Run(
        "0,0,100,0,1,1\n25,0,20,0,1,1\n",
        {"cluster__nodes": 2, "policy__name": "jsq", "negotiation__mode": "papers", "run__until": 200.0,
         "negotiation__remote_execution_ms": 7.0},
    ),
    # jsq, by reports that were sent at 0 ms, while both nodes were empty. A stays at node 0 and C at node 1, both ties.
    # B, from 3, knows of one task at home and none at node 1, which has C and refuses: B stays. A 1-21, B 21-31 by
    # whole runs; C 2-22.
    # Messages: two reports, an offer and its answer.
    "refused": Run(
        "1,0,20,0,1,1\n2,1,20,0,1,1\n3,0,10,0,1,1\n",
        {"cluster__nodes": 2, "policy__name": "jsq", "run__until": 100.0},
    ),
    # clb: A (100 ms) is alone. At 20, when B (20 ms) is placed, 80 ms of it are left at node 0, the busiest, and none
    # at node 1: 20 < 80 - 0, and 20 (1 + 1) > 20 (1 + 0) + 7: B enters node 1 at 32.
    "cpu load": Run(
        "0,0,100,0,1,1\n25,0,20,0,1,1\n",
        {"cluster__nodes": 2, "policy__name": "clb", "negotiation__mode": "papers", "run__until": 200.0,
         "negotiation__remote_execution_ms": 7.0},
    ),
    # hbd: A (100 ms, .512 MB) runs on node 0 when B (20 ms) comes, placed at 20: queues of 2 and 0. A move costs
    # f = 7 and .512 MB over 128 MB/s = 4 ms, which an age of 20 pays: A 0-20, under way to 31, node 1 31-111. B 25-45.
    "migration": Run(
        "0,0,100,0,0.512,1\n25,0,20,0,1,1\n",
        {"cluster__nodes": 2, "policy__name": "hbd", "negotiation__mode": "papers", "run__until": 200.0,
         "negotiation__migration_ms": 7.0},
    ),
    # Node 0 fails at 40 ms for good, the link at 160 ms. A (100 ms) has received 40 and begins again at node 1 after
    # e = 7 ms: 47-147. B (30 ms) is there from 0 to 30. CPU 40 + 130 ms; node 0 was up 40 ms, at 100 W: 24 + 17/2 J.
    "failure": Run(
        "0,0,100,0,1,1\n0,1,30,0,1,1\n",
        {"cluster__nodes": 2, "run__until": 200.0, "negotiation__remote_execution_ms": 7.0,
         "failures__event": [{"node": 0, "at_s": 0.04}, {"link": (0, 1), "at_s": 0.16}],
         "cluster__idle_watts": 100.0, "cluster__cpu_watts": 50.0, "cluster__disk_watts": 20.0},
        frozenset({"failures", "power"}),
    ),
    # The same, but the jobs of a failed node are lost: A with the 40 ms that it has received.
    "lost": Run(
        "0,0,100,0,1,1\n0,1,30,0,1,1\n",
        {"cluster__nodes": 2, "run__until": 200.0, "failures__event": [{"node": 0, "at_s": 0.04}],
         "failures__on_failure": "lost"},
        frozenset({"failures"}),
    ),
    # 10 MB and 1 MB of swap: K, of 50 MB, is killed as it enters at 5 ms. A 0-30.
    "killed": Run(
        "0,0,30,0,1,1\n5,0,20,0,50,1\n",
        {"cluster__nodes": 1, "cluster__memory_mb": 10.0, "cluster__swap_mb": 1.0, "cluster__buffer_in_memory": False,
         "run__until": 100.0},
    ),
    # A user at each of two nodes with two jobs of 1495 ms, one from 0, one from 1 s on; 2 s of thought in between:
    # 0-1495 and 3495-4990; 1000-2495 and 4495-5990.
    "closed": Run(
        "",
        {"cluster__nodes": 2, "workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 2,
         "workload__arrivals__think_s": {"kind": "fixed", "mean": 2.0}, "run__until": 8000.0,
         "workload__cpu_ms": {"kind": "fixed", "mean": 1495.0}},
        frozenset({"closed", "users"}),
    ),
    # A file of 50 MB on one of six nodes in three clusters. A job of 10 ms at each node needs it: five fetch it, one
    # of them from its own cluster, at 100 MB/s in .5 s, four at 10 MB/s in 5 s. Whichever node has the file.
    "data": Run(
        "".join(f"0,{home},10,0,1,1\n" for home in range(6)),
        {"cluster__nodes": 6, "interconnect__kind": "clusters", "interconnect__clusters": 3,
         "interconnect__bandwidth_mbps": 800.0, "interconnect__trunk_bandwidth_mbps": 80.0,
         "interconnect__trunk_latency_ms": 0.0, "data__files": 1, "data__size_mb": {"kind": "fixed", "mean": 50.0},
         "data__copies": 1, "data__files_per_job": {"minimum": 1, "maximum": 1}, "run__until": 6000.0},
        frozenset({"data"}),
    ),
    # First come, first served, on one node: A (95 ms) has it until 95 ms, which is known at 100. B waits from 10 on.
    "held": Run(
        "0,0,95,0,1,1\n10,0,20,0,1,1\n", {"cluster__nodes": 1, "policy__name": "batch-system", "run__until": 200.0}
    ),
    # Two tasks of 18 ms on one core, with a barrier after 9: 0-9 and 9-18; it opens at 20: 20-29 and 29-38. The first
    # waits there for 11 ms, the second for 2, and for the core 9 + 9. Alone, on two nodes, they take 9, to 10, and 9.
    "barrier": Run(
        "0,0,18,0,1,2\n", {"cluster__nodes": 2, "workload__tasks__barrier_ms": 9.0, "run__until": 100.0}
    ),
    # First come, first served, on one node: A (100 ms) runs when the run is cut at 50 ms, B waits to be started, and C
    # is yet to come.
    "cut": Run(
        "0,0,100,0,1,1\n10,0,20,0,1,1\n60,0,20,0,1,1\n",
        {"cluster__nodes": 1, "policy__name": "batch-system", "run__until": 50.0, "cluster__idle_watts": 100.0},
        frozenset({"power"}),
    ),
    # Jobs that are there at 0, and after 10 ms: node 0 has .03 and .02 accesses per ms, node 1 .01; no hits, no faults.
    "initial": Run(
        "",
        {"cluster__nodes": 2, "cluster__buffer_mb": 0.0, "run__until": 10.0, "workload__kind": "none",
         "workload__initial": [
             {"node": node, "cpu_ms": 1000.0, "io_per_ms": rate, "memory_mb": 1.0}
             for node, rate in ((0, 0.03), (0, 0.02), (1, 0.01))
         ]},
        frozenset({"initial"}),
    ),
    # Cut before any job has come, of a user's too.
    "empty": Run("60,0,20,0,1,1\n", {"cluster__nodes": 1, "run__until": 50.0}),
    "no user": Run(
        "",
        {"cluster__nodes": 1, "workload__arrivals__kind": "closed", "workload__cpu_ms": {"kind": "fixed", "mean": 1e3},
         "run__until": 50.0},
        frozenset({"closed", "users"}),
    ),
    # Jobs of 10 s at nodes 0 to 4, from 0, 1, .. 4 ms; then 50 of 10 ms at node 5, one each 20 ms from 100 ms on. They
    # meet 0 1 2 3 4 tasks and then 5: without the first batch of five the others are all the same. Cut at 20 s, when
    # the five have ended too, the last at 10,004 ms.
    "warm-up": Run(
        "".join(f"{k},{k},10000,0,1,1\n" for k in range(5))
        + "".join(f"{100 + 20 * k},5,10,0,1,1\n" for k in range(50)),
        {"cluster__nodes": 6, "run__until": 20000.0, "measure__warmup": "mser"},
        frozenset({"warmup", "mser"}),
    ),
}  # fmt: skip


def begun(name: str, folder: Path, compiled: bool = True, **more: Any) -> ClusterModel:
    """One of the runs, not yet carried out; its files are written into a folder.

    Args:
        name: of RUNS.
        folder: for its files.
        compiled: whether policies decide in compiled code where they can.
        more: overrides.
    """
    run = RUNS[name]
    keys = {**PLAIN, "policy__name": "none", **run.keys, **more}
    if run.rows:
        path = folder / "jobs.csv"
        path.write_text(f"{run.head}\n{run.rows}")
        keys |= {"workload__kind": "trace", "workload__trace__file": str(path)}
    if "name" in run.head:
        programs = folder / "programs.csv"
        programs.write_text(PROGRAMS)
        keys["workload__programs__file"] = str(programs)
    return ClusterModel(scenario(**keys), seed=1, compile_decisions=compiled)


def model_of(name: str, folder: Path) -> ClusterModel:
    """One of the runs, carried out."""
    model = begun(name, folder)
    model.run()
    return model
