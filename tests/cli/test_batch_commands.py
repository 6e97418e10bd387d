"""`batch run`, `batch status`, `batch report` as a user meets them."""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "study"))
from studies import study_path


@pytest.mark.slow
def test_run_and_status_say_the_same(cli, tmp_path):
    path = study_path(tmp_path)
    code, out, err = cli("batch", "run", path, "--out", "out", "--executor", "inline")
    assert code == 0
    assert "tiny: 12 of 12 runs finished" in out
    assert "error" not in err
    code, out, _ = cli("batch", "status", "out")
    assert (code, out) == (0, "tiny: 12 of 12 runs finished\n")


@pytest.mark.slow
def test_json_is_one_document(cli, tmp_path):
    path = study_path(tmp_path)
    code, out, _ = cli("batch", "run", path, "--out", "out", "--workers", 1, "--json")
    document = json.loads(out)
    assert code == 0
    assert (document["expected"], document["finished"], document["made"], document["failed"]) == (12, 12, 12, 0)
    again = json.loads(cli("batch", "run", path, "--out", "out", "--workers", 1, "--json")[1])
    assert (again["finished"], again["made"]) == (12, 0)
    status = json.loads(cli("batch", "status", "out", "--json")[1])
    assert {name: again[name] for name in status} == status


def test_a_failed_run_is_told_and_the_exit_code_says_so(cli, tmp_path):
    # A trace whose second job starts on a node that this cluster does not have: found when the run is set up.
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n0,0,5,0,1\n5,7,5,0,1\n", encoding="utf-8")
    overrides = {"workload.kind": "trace", "workload.trace.file": str(trace)}
    path = study_path(tmp_path, overrides=overrides, grid={"cluster.nodes": [8, 2]}, replications=1)
    code, out, err = cli("batch", "run", path, "--out", "out", "--executor", "inline")
    assert code == 1
    assert "2 of 4 runs finished, 2 failed" in out
    assert err.count("failed: point 1, policy") == 2
    assert "home" in err


@pytest.mark.slow
def test_a_report_is_files_and_their_names(cli, tmp_path):
    cli("batch", "run", study_path(tmp_path), "--out", "out", "--executor", "inline")
    code, out, _ = cli("batch", "report", "out", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["study"] == "tiny"
    files = [Path(name) for name in document["files"]]
    assert {".png", ".svg", ".csv", ".md"} <= {path.suffix for path in files}
    assert all(path.stat().st_size > 0 and path.parent == Path("out", "report") for path in files)


@pytest.mark.slow
def test_what_was_mended_is_a_count_and_what_is_damaged_is_named(cli, tmp_path):
    path = study_path(tmp_path)
    cli("batch", "run", path, "--out", "out", "--executor", "inline")
    runs = sorted(Path("out", "runs").iterdir())
    for broken in runs[:2]:
        broken.write_bytes(b"")
    said = cli("batch", "status", "out")[2].splitlines()
    assert said == [f"damaged: {broken}: its checksum is wrong" for broken in runs[:2]]
    code, _, err = cli("batch", "run", path, "--out", "out", "--executor", "inline")
    assert code == 0
    assert err.count("set aside in out/damaged, what it held is run again") == 2
    code, _, err = cli("batch", "status", "out")
    assert (code, err.splitlines()) == (0, ["set aside as damaged, in out/damaged: 2 files"])


def test_changed_code_is_told(cli, tmp_path, monkeypatch):
    from cluster_abm.study.design import fingerprint

    cli("batch", "run", study_path(tmp_path), "--out", "out", "--executor", "inline")
    assert "code" not in cli("batch", "status", "out")[1]
    monkeypatch.setattr(fingerprint, "result_version", lambda: "0.9.0-cafe")
    assert (
        "the code has changed since (0.9.0-cafe now): the next `batch run` starts anew"
        in (cli("batch", "status", "out")[1])
    )


def test_the_users_own_files_are_not_written_over(cli, tmp_path):
    path = study_path(tmp_path)
    own = path.rename(tmp_path / "study.toml")
    before = own.read_bytes()
    code, out, err = cli("batch", "run", own, "--out", tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("error: --out ")
    assert own.read_bytes() == before
    assert not (tmp_path / "runs").exists()


def test_a_disk_that_cannot_be_read_is_not_said_to_be_one_that_cannot_be_written(cli, tmp_path, monkeypatch):
    cli("batch", "run", study_path(tmp_path), "--out", "out", "--executor", "inline")
    from cluster_abm.study.store import store

    def broken(*_):
        raise OSError(errno.EIO, "Input/output error", "out/parts")

    monkeypatch.setattr(store.Store, "_segment_files", broken)
    code, out, err = cli("batch", "status", "out")
    assert (code, out) == (2, "")
    assert err == "error: out/parts could not be read or written: Input/output error\n"


MISTAKES = [
    ({"replications": 0}, "replications = 0"),
    ({"policies": ["jqs"]}, "did you mean 'jsq'"),
    ({"measure": ["mean_slowdwn"]}, "measure = 'mean_slowdwn': no such metric; did you mean 'mean_slowdown'"),
    ({"grid": {"cluster.nodes": [2, -1]}}, "point 1 (cluster.nodes = -1): cluster.nodes = -1"),
]


@pytest.mark.parametrize(("changes", "said"), MISTAKES)
def test_a_mistake_is_one_message_and_exit_code_2(cli, tmp_path, changes, said):
    code, out, err = cli("batch", "run", study_path(tmp_path, **changes), "--out", "out")
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    assert said in line


@pytest.mark.parametrize("command", ["status", "report"])
def test_a_folder_without_a_study(cli, tmp_path, command):
    code, out, err = cli("batch", command, tmp_path)
    assert (code, out) == (2, "")
    assert "no results of a study" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--dask", "tcp://10.0.0.1:8786"], "`--dask` needs `--executor dask`; the executor is 'process'"),
        (["--executor", "slurm", "--dask", "tcp://10.0.0.1:8786"], "`--dask` needs `--executor dask`"),
        (["--slurm", "partition=short"], "`--slurm` needs `--executor slurm`; the executor is 'process'"),
        (["--executor", "inline", "--workers", 4], "workers = 4: the executor 'inline' has one"),
        (["--executor", "dask", "--dask", "tcp://10.0.0.1:8786", "--workers", 4], "workers = 4: the executor 'dask'"),
    ],
)
def test_options_that_mean_nothing_to_the_executor_are_refused(cli, tmp_path, options, said):
    code, out, err = cli("batch", "run", study_path(tmp_path), "--out", "out", *options)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert said in line
    assert not (tmp_path / "out" / "runs").exists()


def test_parameters_of_slurm_are_keys_and_values(cli, tmp_path):
    code, _, err = cli("batch", "run", study_path(tmp_path), "--out", "out", "--executor", "slurm", "--slurm", "short")
    assert code == 2
    assert "--slurm 'short': allowed is KEY=VALUE, e.g. partition=short" in err
