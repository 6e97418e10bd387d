"""`trace info`, `trace convert` and `run --trace` on foreign formats: recognised, accounted for, converted."""

from __future__ import annotations

import gzip
import json
import lzma

import pytest

NEXTFLOW = (
    "task_id\tname\tstatus\tsubmit\trealtime\t%cpu\tcpus\tpeak_rss\tread_bytes\twrite_bytes\n"
    "1\tA (1)\tCOMPLETED\t2023-03-29 10:00:00.000\t2s\t150.0%\t2\t300 MB\t1 MB\t3 MB\n"
    "2\tB\tCACHED\t2023-03-29 10:00:01.000\t1s\t100.0%\t1\t1 MB\t0\t0\n"
    "3\tB\tCOMPLETED\t2023-03-29 10:00:03.000\t500ms\t100.0%\t1\t-\t0\t0\n"
)
SACCT = (
    "JobID|State|Submit|ElapsedRaw|NCPUS|TotalCPU|MaxRSS\n"
    "7|COMPLETED|2023-05-01T10:00:00|10|2|00:15|\n"
    "7.batch|COMPLETED|2023-05-01T10:00:00|10|2|00:15|100M\n"
    "8|PENDING|2023-05-01T10:00:01|0|1|00:00:00|\n"
    "9|COMPLETED|2023-05-01T10:00:02|4|1|00:04|\n"
)
SWIM = "job0\t0\t0\t6000000\t3000000\t1000000\njob1\t2\t2\t1000000\t0\t0\njob2\t3\t1\t-1\t0\t0\n"
WFFORMAT = json.dumps(
    {
        "workflow": {
            "specification": {"tasks": [{"id": "a", "parents": []}, {"id": "b", "parents": ["a"]}]},
            "execution": {
                "tasks": [
                    {"id": "a", "runtimeInSeconds": 2, "avgCPU": 100.0, "readBytes": 1e7},
                    {"id": "b", "runtimeInSeconds": 1, "avgCPU": 100.0},
                ]
            },
        }
    }
)
GWA = (
    "Timestamp [ms];\tCPU cores;\tCPU usage [%];\tMemory usage [KB];\tDisk read throughput [KB/s];\t"
    "Disk write throughput [KB/s]\n"
    "1375308000;\t1;\t50;\t2000;\t64;\t0\n1375308001;\t1;\t25;\t4000;\t0;\t64\n1375308002;\t1;\t-1;\t4000;\t0;\t64\n"
)
# Text, rows, jobs, skipped, mean CPU time per task [s].
FORMATS = {
    "nextflow": (NEXTFLOW, 3, 2, {"cached: did not run": 1}, 1.0),
    "sacct": (SACCT, 4, 2, {"step of a job, counted with it": 1, "had not started": 1}, 5.75),
    "swim": (SWIM, 3, 2, {"negative bytes": 1}, None),
    "wfformat": (WFFORMAT, 2, 2, {}, 1.5),
    "gwa": (GWA, 3, 1, {"negative value": 1}, 0.75),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_info_recognises_a_format_by_its_content_and_accounts_for_its_rows(cli, tmp_path, kind):
    text, rows, jobs, skipped, cpu_s = FORMATS[kind]
    for name, pack in (("log", bytes), ("log.gz", gzip.compress), ("a.csv", lzma.compress)):
        (tmp_path / name).write_bytes(pack(text.encode()))
        code, out, _ = cli("trace", "info", name, "--json")
        assert code == 0
        found = json.loads(out)
        assert (found["format"], found["rows"], found["jobs"]) == (kind, rows, jobs)
        assert found["skipped"] == skipped
        assert found["rows"] == found["used"] + sum(skipped.values())
        assert found["cpu_s"]["mean"] == (cpu_s if cpu_s is None else pytest.approx(cpu_s))
        assert found["filled"]["home"] == "in no row: by workload.home"
    assert (found["dependence"] is not None) == (kind == "wfformat")


def test_info_for_people_says_what_is_missing_and_how_jobs_depend(cli, tmp_path):
    (tmp_path / "w").write_text(WFFORMAT)
    code, out, _ = cli("trace", "info", "w")
    assert code == 0
    assert "dependence:\n  jobs_with_parents: 1\n  dependences: 1\n  depth: 2\n  critical_path_s: 3\n" in out
    assert "  disk_mb: bytes of calls, not of the disk: 0.1 x readBytes" in out


@pytest.mark.slow
@pytest.mark.parametrize("output", ["o.csv", "o.parquet"])
@pytest.mark.parametrize("kind", FORMATS)
def test_convert_gives_the_same_jobs(cli, tmp_path, kind, output):
    (tmp_path / "log").write_text(FORMATS[kind][0])
    options = ("--cpu-ms-per-mb", 100) if kind == "swim" else ()
    code, out, err = cli("trace", "convert", "log", output, *options)
    assert (code, out) == (0, "")
    assert f"{FORMATS[kind][2]} jobs written to {output}" in err
    assert ("o.profiles.csv: read by --set workload.programs.file=o.profiles.csv" in err) == (kind == "gwa")
    before, after = (json.loads(cli("trace", "info", name, "--json")[1]) for name in ("log", output))
    for key in ("jobs", "fields", "span_s", "dependence"):
        if kind != "swim" or key != "fields":
            assert after[key] == before[key]
    if kind == "swim":
        assert after["cpu_s"] == {"mean": 0.55, "max": 1.0}


def test_convert_takes_the_choices_of_a_scenario(cli, tmp_path):
    """Without CPU in it the second row is a job only by its run time; a preceding job becomes a column."""
    (tmp_path / "t").write_text("name\tstatus\trealtime\t%cpu\na\tCOMPLETED\t2s\t50%\nb\tCOMPLETED\t3s\t0%\n")
    for options, runs in (((), ["2000.0"]), (("--cpu-time", "run"), ["2000.0", "3000.0"])):
        assert cli("trace", "convert", "t", "o.csv", *options)[0] == 0
        names, *rows = (line.split(",") for line in (tmp_path / "o.csv").read_text().splitlines())
        assert [row[names.index("recorded_run_ms")] for row in rows] == runs
    (tmp_path / "l.swf").write_text(
        "1 0 0 9 1 9 -1 1 9 -1 1 1 1 1 1 -1 -1 -1\n2 5 0 9 1 9 -1 1 9 -1 1 1 1 1 1 -1 1 7\n"
    )
    assert cli("trace", "convert", "l.swf", "o.csv", "--dependences")[0] == 0
    names, _, row = (line.split(",") for line in (tmp_path / "o.csv").read_text().splitlines())
    assert [row[names.index(name)] for name in ("job", "after", "think_ms")] == ["2", "1", "7000.0"]
    code, _, err = cli("trace", "convert", "o.csv", "p.csv", "--dependences")
    assert code == 2
    assert "workload.trace.dependences = true: allowed for these formats alone: swf" in err


def test_convert_refuses_what_says_no_cpu_times(cli, tmp_path):
    (tmp_path / "log").write_text(SWIM)
    code, out, err = cli("trace", "convert", "log", "o.csv")
    assert (code, out) == (2, "")
    assert "our columns need CPU times: make them of its bytes by --cpu-ms-per-mb" in err
    assert not (tmp_path / "o.csv").exists()
    code, _, err = cli("trace", "convert", "log", "o.csv", "--disk-read-share", 0.5)
    assert code == 2
    assert "workload.trace.disk_read_share = 0.5: allowed for these formats alone: nextflow, sacct, wfformat" in err


def test_convert_says_what_to_do_with_counts_of_invocations(cli, tmp_path):
    (tmp_path / "counts.csv").write_text("name,1,2\nf,2,0\n")
    (tmp_path / "m.toml").write_text('name = "name"\n[spread]\nfirst = "1"\nlast = "2"\neach_s = 60\n')
    code, out, err = cli("trace", "convert", "counts.csv", "o.csv", "--map", "m.toml")
    assert (code, out) == (2, "")
    assert "counts.csv: says no CPU times, and our columns need CPU times: run it as it is, with workload.cpu_ms" in err
    assert "SWIM" not in err
    assert "--cpu-ms-per-mb" not in err
    assert not (tmp_path / "o.csv").exists()


# By default a log of sacct has another bound than a table that was made of it, if its jobs take seconds.
BOUND = ("--set", "measure.bound_ms=1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "settings"), [("nextflow", ()), ("sacct", ()), ("wfformat", ()), ("gwa", ()),
                           ("swim", ("--set", "workload.trace.cpu_ms_per_mb=100", "--set", "workload.trace.task_mb=4"))]
)  # fmt: skip
def test_a_run_takes_them_all_and_a_converted_one_is_the_same_run(cli, tmp_path, kind, settings):
    (tmp_path / "log").write_text(FORMATS[kind][0])
    code, first, _ = cli("run", "replay-io", "--trace", "log", *settings, *BOUND, "--json")
    assert code == 0
    jobs = json.loads(first)["jobs"]
    assert (jobs["submitted"], jobs["finished"]) == (FORMATS[kind][2], FORMATS[kind][2])
    options = ("--cpu-ms-per-mb", 100, "--task-mb", 4) if kind == "swim" else ()
    assert cli("trace", "convert", "log", "o.parquet", *options)[0] == 0
    profiles = ("--set", "workload.programs.file=o.profiles.csv") if kind == "gwa" else ()
    code, second, _ = cli("run", "replay-io", "--trace", "o.parquet", *profiles, *BOUND, "--json")
    assert code == 0
    assert second == first


def test_a_folder_of_machines_is_a_trace(cli, tmp_path):
    (tmp_path / "vms").mkdir()
    for name in ("1.csv", "2.csv.gz"):
        (tmp_path / "vms" / name).write_bytes(gzip.compress(GWA.encode()) if name.endswith("gz") else GWA.encode())
    found = json.loads(cli("trace", "info", "vms", "--json")[1])
    assert (found["rows"], found["used"], found["jobs"]) == (6, 4, 2)
    code, out, _ = cli("run", "replay", "--trace", "vms", "--json")
    assert code == 0
    assert json.loads(out)["jobs"]["finished"] == 2


def test_what_is_not_recognised_gets_one_line(cli, tmp_path):
    (tmp_path / "log").write_text("once upon a time\n")
    code, out, err = cli("trace", "info", "log")
    assert (code, out) == (2, "")
    assert "format not recognised: it begins with 'once upon a time'; what is read: docs/reference/traces.md" in err
    assert err.count("\n") == 1
