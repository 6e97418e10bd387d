"""Columns `job` and `after` in our CSV: jobs that come after others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import Trace, read_trace, trace_info
from cluster_abm.workload.traces.dependence import parents_of


def read(folder: Path, rows: str, head: str = "arrival_ms,cpu_ms,job,after") -> Trace:
    path = folder / "jobs.csv"
    path.write_text(f"{head}\n{rows}")
    return read_trace(path)


def test_parents_are_rows_of_the_table(tmp_path: Path) -> None:
    # A job may come after one that stands below it, and name one twice.
    trace = read(tmp_path, "0,10,a,\n0,20,b,a  c a\n5,30,c,\n5,40,,b c\n")
    assert trace.parents is not None
    assert trace.parents.first.tolist() == [0, 0, 2, 2, 4]
    assert trace.parents.parent.tolist() == [0, 2, 1, 2]
    # c, b and the job without an id: 30 + 20 + 40 ms.
    assert trace_info(trace)["dependence"] == {
        "jobs_with_parents": 2, "dependences": 4, "depth": 3, "critical_path_s": pytest.approx(0.09),
    }  # fmt: skip


def test_the_critical_path_is_a_job_alone_where_it_is_the_longest(tmp_path: Path) -> None:
    trace = read(tmp_path, "0,10,a,\n0,20,b,a\n0,500,c,\n")
    assert trace_info(trace)["dependence"]["critical_path_s"] == 0.5


def test_ids_without_dependences_are_only_checked(tmp_path: Path) -> None:
    assert read(tmp_path, "0,10,a,\n0,20,b, \n").parents is None
    assert read(tmp_path, "0,10,a\n0,20, b \n", "arrival_ms,cpu_ms,job").jobs["job"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("0,1,a,\n0,1,a,\n", "line 3: job = 'a': line 2 has it too: allowed: each id once"),
        ("0,1,a b,\n", "line 2: job = 'a b': allowed: an id without spaces"),
        ("0,1,a,b\n", "line 2: after = 'b': no job has this id"),
        ("0,1,a,a\n", "line 2: after = 'a': a job cannot come after itself"),
        (
            "0,1,x,\n0,1,a,c\n0,1,b,a\n0,1,c,b x\n",
            "jobs that wait for each other (3 in a cycle): line 3, line 4, line 5",
        ),
    ],
)
def test_what_is_refused_is_named_by_line(tmp_path: Path, rows: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, rows)
    assert words in caught.value.problems[0]


def test_after_needs_job_and_disk_mb_stands_alone(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column 'job' is missing"):
        read(tmp_path, "0,1,\n", "arrival_ms,cpu_ms,after")
    with pytest.raises(InputError, match=r"line 3: io_per_ms and disk_mb: allowed: one of both"):
        read(tmp_path, "0,1,,5\n0,1,0.1,5\n0,1,0.1,\n", "arrival_ms,cpu_ms,io_per_ms,disk_mb")


@pytest.mark.slow
@given(st.lists(st.sets(st.integers(0, 30)), min_size=1, max_size=30), st.randoms())
def test_a_graph_without_a_cycle_comes_back_and_one_more_edge_makes_one(parents: list[set[int]], random) -> None:
    """Rows in any order: each job after some of lower number, under shuffled rows."""
    jobs = len(parents)
    before = [sorted(number for number in numbers if number < row) for row, numbers in enumerate(parents)]
    order = list(range(jobs))
    random.shuffle(order)
    place = {number: row for row, number in enumerate(order)}
    job = np.array([f"j{number}" for number in order], object)
    after = np.array([" ".join(f"j{parent}" for parent in before[number]) for number in order], object)
    found = parents_of(job, after, "made", range(jobs))
    edges = {(place[parent], place[row]) for row, some in enumerate(before) for parent in some}
    if found is None:
        assert not edges
        return
    children = np.repeat(np.arange(jobs), np.diff(found.first))
    assert set(zip(found.parent.tolist(), children.tolist(), strict=True)) == edges
    parent, child = min(edges)
    after[parent] = f"{after[parent]} {job[child]}"
    with pytest.raises(InputError, match="wait for each other"):
        parents_of(job, after, "made", range(jobs))
