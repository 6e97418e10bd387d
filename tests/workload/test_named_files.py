"""The column `files` of a trace: what jobs name, how it is written, and what is refused."""

from __future__ import annotations

import pandas as pd
import pytest

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.data import names_of_files
from cluster_abm.workload import work_of
from cluster_abm.workload.traces import read_trace, trace_info, write_trace

TEXT = "arrival_ms,home,cpu_ms,files\n0,0,10,maps;images\n5,1,10,\n9,0,10, images ; maps\n20,1,10,maps\n"
FILES = [{"name": name, "size_mb": 4.0, "at": [1]} for name in ("maps", "images")]


def of_trace(path, **more):
    keys = {
        "cluster": {"nodes": 2}, "workload": {"kind": "trace", "trace": {"file": str(path), **more}},
        "data": {"file": FILES},
    }  # fmt: skip
    return scenario_from(keys, "test")


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(TEXT)
    return path


def test_what_jobs_name_is_read_whatever_part_of_the_trace_is_taken(trace):
    work = work_of(of_trace(trace), 1)
    assert [work.files.file[a:b].tolist() for a, b in zip(work.files.first, work.files.first[1:], strict=False)] == [
        [0, 1], [], [0, 1], [0],
    ]  # fmt: skip
    later = work_of(of_trace(trace, start_s=0.006), 1).files
    assert (later.first.tolist(), later.file.tolist()) == ([0, 2, 3], [0, 1, 0])
    assert work_of(of_trace(trace, start_s=0.005, duration_s=0.001), 1).files is None


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_written_and_read_it_is_the_same(trace, tmp_path, ending):
    read = read_trace(trace)
    assert read.jobs["files"].tolist() == ["maps;images", "", "images;maps", "maps"]
    assert trace_info(read)["fields"]["files"] == 0.75
    write_trace(read, tmp_path / f"again{ending}")
    pd.testing.assert_frame_equal(read_trace(tmp_path / f"again{ending}").jobs, read.jobs, check_exact=True)


def test_a_name_that_no_file_has_is_refused_with_its_row(trace):
    trace.write_text(TEXT.replace("images ; maps", "images;mpas"))
    with pytest.raises(InputError, match=r"jobs\.csv, row 3: files = 'images;mpas': no \[\[data\.file\]\] 'mpas'; did"):
        ClusterModel(of_trace(trace))
    # Rows are those of the file, not of the part that is taken.
    with pytest.raises(InputError, match=r"row 3: "):
        ClusterModel(of_trace(trace, start_s=0.004))
    ClusterModel(of_trace(trace, start_s=0.015))


@pytest.mark.parametrize("cell", ["maps;", "maps;;images", ";", "maps;maps", "maps; maps"])
def test_cells_that_are_no_list_of_names(trace, cell):
    trace.write_text(TEXT.replace("maps;images", cell))
    with pytest.raises(InputError, match=r'line 2: files = .*: allowed: names of files, ";" between them, each once'):
        read_trace(trace)
    with pytest.raises(ValueError, match="each once"):
        names_of_files(cell)
