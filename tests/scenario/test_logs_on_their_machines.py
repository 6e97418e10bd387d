"""The script that holds simulated waits against recorded ones counts what the log says, and every job twice."""

from __future__ import annotations

import runpy
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.workload.traces import LogReading, read_trace

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scenarios" / "logs_on_their_machines.py"))
DAY_S = 86_400


def write(path: Path, *rows: tuple[int, int, int, int, int]) -> Path:
    """A log of rows (submit, wait, run, processors, CPU time)."""
    text = "".join(
        f"{number} {submit} {wait} {run} {tasks} {cpu} -1 -1 -1 -1 1 1 1 1 1 1 -1 -1\n"
        for number, (submit, wait, run, tasks, cpu) in enumerate(rows, 1)
    )
    path.write_text("; MaxProcs: 240\n" + text)
    return path


@pytest.mark.parametrize("cpu_time", ["used", "run"])
def test_it_reads_the_jobs_that_the_simulator_reads(tmp_path: Path, cpu_time: str) -> None:
    rows = (
        (30, 1, 9, 2, -1),
        (10, -1, 9, 2, 5),
        (20, 0, 9, 3, 12),
        (20, 4, 0, 1, 3),
        (40, 4, 0, 1, 0),
        (50, 4, 7, 1, 0),
    )
    path = write(tmp_path / "log.swf", *rows)
    found = SCRIPT["recorded"](path, cpu_time, 0.0, 100.0)
    expected = read_trace(path, reading=LogReading(cpu_time=cpu_time)).jobs
    assert found["submit_s"].tolist() == (expected["arrival_ms"] / 1000.0).tolist()
    assert found["task_s"].tolist() == (expected["cpu_ms"] / 1000.0).tolist()
    assert found["tasks"].tolist() == expected["tasks"].tolist()


def test_what_is_held_in_a_window_is_cut_to_it() -> None:
    start, end = pd.Series([0.0, 5.0, 30.0]), pd.Series([12.0, 15.0, 40.0])
    # From 10 to 20 s: 2 s of 3 processors, 5 s of one, nothing.
    assert SCRIPT["held"](start, end, pd.Series([3, 1, 9]), 10.0, 10.0) == 11.0


def test_the_share_of_the_time_with_more_processors_than_there_are() -> None:
    start, end = pd.Series([0.0, 1.0, 3.0]), pd.Series([2.0, 4.0, 5.0])
    # Two and three from 1 to 2 s, three and three from 3 to 4 s.
    share = SCRIPT["share_overfull"](start, end, pd.Series([2, 3, 3]), 4, 0.0)
    assert share * SCRIPT["COUNTED_S"] == pytest.approx(2.0)


def test_jobs_that_found_the_machine_full_wait_as_long_as_first_come_first_served_has_it(tmp_path: Path) -> None:
    # 240 processors: the second waits for the first, the third, which would fit beside the first, for the second.
    begin = 8 * DAY_S
    path = write(
        tmp_path / "log.swf", (begin, 0, 1000, 200, 900), (begin + 10, 7, 500, 100, 400), (begin + 20, 0, 50, 40, 9)
    )
    as_recorded, as_simulated = SCRIPT["stretch"]("replay-hpc2n", path, 8)
    assert as_recorded["jobs"] == as_simulated["jobs"] == 3
    assert as_recorded["mean_wait_h"] == pytest.approx(7 / 3 / 3600)
    assert as_simulated["mean_wait_h"] == pytest.approx((990 + 980) / 3 / 3600, abs=2 / 3600)
    seconds = 200 * 1000 + 100 * 500 + 40 * 50
    for one in (as_recorded, as_simulated):
        assert one["held"] == pytest.approx(seconds / 240 / (28 * DAY_S))
        assert one["offered"] == pytest.approx(seconds / 240 / (28 * DAY_S))
    assert as_simulated["mean_slowdown"] == pytest.approx((1 + 1490 / 500 + 1030 / 50) / 3, rel=0.01)
