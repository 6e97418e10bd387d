"""Below which time slowdowns are bounded, where a scenario does not say it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import scenario

from cluster_abm import Scenario
from cluster_abm.workload import bound_ms

# A job of 100 s, as each format has it.
SWF = "1 0 0 100 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"
SACCT = "JobID|State|Submit|ElapsedRaw|NCPUS\n1|COMPLETED|2023-05-01T10:00:00|100|1\n"
PBS = "01/02/2023 10:00:00;E;1;ctime=5 start=5 end=105 exec_host=n1/0\n"
CSV = "arrival_ms,cpu_ms,io_per_ms\n0,100000,0\n"


def replay(folder: Path, name: str, text: str, **more: object) -> Scenario:
    path = folder / name
    path.write_text(text)
    return scenario(workload__kind="trace", workload__trace__file=str(path), **more)


@pytest.mark.parametrize(("name", "text"), [("log.swf", SWF), ("log.txt", SACCT), ("20230102", PBS)])
def test_the_log_of_a_batch_system_has_10_s(tmp_path: Path, name: str, text: str) -> None:
    assert bound_ms(replay(tmp_path, name, text)) == 10_000.0
    assert bound_ms(replay(tmp_path, name, text, measure__bound_ms=60.0)) == 60.0


def test_a_table_that_a_map_of_the_user_reads_is_no_such_log(tmp_path: Path) -> None:
    """1 % of 100 s."""
    columns = {"submit": "queued", "run": "elapsed"}
    setup = replay(tmp_path, "jobs.csv", "queued,elapsed\n0,100\n", workload__trace__columns=columns)
    assert bound_ms(setup) == pytest.approx(1000.0)


def test_a_table_made_of_such_a_log_has_10_s_too(tmp_path: Path) -> None:
    """Its jobs have waited in a log, and take 100 s; of queries of 5 s that have waited the bound is at most .5 s."""
    waited = "arrival_ms,cpu_ms,io_per_ms,recorded_wait_ms\n0,{},0,3\n"
    assert bound_ms(replay(tmp_path, "jobs.csv", waited.format(100_000))) == 10_000.0
    queries = replay(tmp_path, "queries.csv", waited.format(5000), negotiation__remote_execution_ms=1e6)
    assert bound_ms(queries) == pytest.approx(500.0)


@pytest.mark.parametrize(("remote_ms", "bound"), [(5.0, 1000.0), (3000.0, 3000.0), (50_000.0, 10_000.0)])
def test_other_work_has_the_cost_of_a_remote_start(tmp_path: Path, remote_ms: float, bound: float) -> None:
    """At least 1 % and at most 10 % of 100 s."""
    setup = replay(tmp_path, "jobs.csv", CSV, negotiation__remote_execution_ms=remote_ms)
    assert bound_ms(setup) == pytest.approx(bound)


def test_a_log_without_cpu_times_has_the_bound_of_those_that_are_drawn(tmp_path: Path) -> None:
    """SWIM: 1 % of a mean of 100 s, whatever the bytes."""
    law = {"workload__cpu_ms__kind": "fixed", "workload__cpu_ms__mean": 100_000.0}
    setup = replay(tmp_path, "log.tsv", "job0\t0\t0\t6\t3\t1\n", workload__trace__format="swim",
                   workload__io_per_ms__mean=0.0, negotiation__remote_execution_ms=5.0, **law)  # fmt: skip
    assert bound_ms(setup) == pytest.approx(1000.0)
