"""The columns `partition` and `resources`: what is read, written, counted and refused; and Slurm's own words."""

from __future__ import annotations

import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import read_trace, trace_info, write_trace
from cluster_abm.workload.traces.parts.resources import resources_in, resources_text
from cluster_abm.workload.traces.slurm.tres import resources_of

TEXT = (
    "arrival_ms,cpu_ms,partition,resources\n0,1,short,gpu:2\n5,1,,\n9,1,long, gpu:1 ; licence:0.5\n20,1,short,gpu:2\n"
)


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(TEXT)
    return path


def test_they_are_counted(trace):
    info = trace_info(read_trace(trace))
    assert (info["fields"]["partition"], info["fields"]["resources"]) == (0.75, 0.75)
    # 2 + 1 + 2 GPUs of three jobs, half a licence of one.
    assert info["resources"] == {"gpu": {"jobs": 3, "total": 5.0}, "licence": {"jobs": 1, "total": 0.5}}


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_written_and_read_they_are_the_same(trace, tmp_path, ending):
    read = read_trace(trace)
    assert read.jobs["partition"].tolist() == ["short", "", "long", "short"]
    assert read.jobs["resources"].tolist() == ["gpu:2", "", "gpu:1;licence:0.5", "gpu:2"]
    write_trace(read, tmp_path / f"again{ending}")
    pd.testing.assert_frame_equal(read_trace(tmp_path / f"again{ending}").jobs, read.jobs, check_exact=True)


@pytest.mark.parametrize(
    "cell",
    [
        "gpu",
        "gpu:",
        "gpu:0",
        "gpu:-1",
        "gpu:nan",
        "gpu:1e3",
        "gpu:2;gpu:1",
        "gpu:2;;x:1",
        ":2",
        "2:2",
        "gpu:3000000000",
    ],
)
def test_a_cell_that_cannot_be_is_refused_with_its_line(trace, cell):
    trace.write_text(TEXT.replace(" gpu:1 ; licence:0.5", cell))
    with pytest.raises(InputError, match=rf"jobs\.csv, line 4: resources = '{cell}': allowed: names and amounts"):
        read_trace(trace)


@pytest.mark.parametrize(
    "amounts", [{"gpu": 2.0}, {"gpu:a100": 1.0, "x.y": 0.25}, {"gpu": 0.001}, {"a": 2.0**31 - 1}, {}]
)
def test_what_is_written_is_read(amounts):
    assert resources_in(resources_text(amounts)) == amounts


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("billing=4,cpu=4,mem=8G,node=1", ""),
        ("billing=4,cpu=4,gres/gpu=2,mem=8G,node=1", "gpu:2"),
        # Those with a type are part of those without; where they stand alone they are all there are.
        ("cpu=4,gres/gpu:a100=2,gres/gpu=2", "gpu:2"),
        ("cpu=4,gres/gpu:a100=2,gres/gpu:v100=1", "gpu:3"),
        ("gres/gpu=1,license/matlab=3", "gpu:1;matlab:3"),
        # AllocGRES and ReqGRES of older ones.
        ("gpu:2", "gpu:2"),
        ("gpu:a100:2(IDX:0-1)", "gpu:2"),
        ("gres:gpu:1", "gpu:1"),
        ("gres/gpu=0", ""),
        ("gres/gpu", ""),
        ("nonsense", ""),
    ],
)
def test_resources_of_slurm(text, cell):
    assert resources_of(text) == cell


def test_partition_and_resources_of_sacct(tmp_path):
    day, path = "2023-05-01T10:00:0", tmp_path / "jobs.txt"
    path.write_text(
        "JobID|State|Submit|ElapsedRaw|NCPUS|Partition|ReqTRES|AllocTRES\n"
        f"1|COMPLETED|{day}0|5|1|gpu|cpu=1,gres/gpu=4|cpu=1,gres/gpu=2\n"
        f"1.0|COMPLETED|{day}0|5|1|||cpu=1,gres/gpu=2\n"
        f"2|COMPLETED|{day}1|5|1|cpu||cpu=1\n"
        f"3|COMPLETED|{day}2|5|1|gpu|gres/gpu=1|\n"
    )
    trace = read_trace(path)
    assert trace.jobs["partition"].tolist() == ["gpu", "cpu", "gpu"]
    # What was allocated, else what was asked for; steps count with their job.
    assert trace.jobs["resources"].tolist() == ["gpu:2", "", "gpu:1"]
    assert trace_info(trace)["resources"] == {"gpu": {"jobs": 2, "total": 3.0}}
