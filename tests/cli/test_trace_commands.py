"""`trace info`, `trace convert` and `--trace`, on small traces of each format: from the file to the numbers."""

from __future__ import annotations

import gzip
import json
import lzma
import subprocess
import sys

import pandas as pd
import pytest

CSV = """arrival_ms,home,cpu_ms,io_per_ms,memory_mb,name
0,3,100,0.05,4,sh
2.5,0,7.25,,1.5,"a, b"
1002.5,1,1e3,0,,
"""
# Fields: number, submit, wait, run, allocated, CPU, memory, requested, requested time, requested memory, status, ...
SWF = """; Version: 2.2
; MaxRecords: 6
1 0 5 100 4 80.5 2500 4 200 -1 1 1 1 1 1 1 -1 -1
2 10 0 -1 -1 -1 -1 4 200 -1 5 1 1 1 1 1 -1 -1
3 20 0 30 2 0 -1 2 200 -1 1 1 1 1 1 1 -1 -1
4 30 0 7 2 -1 -1 2 200 -1 1 1 1 1 1 1 -1 -1
5 40 0 0 2 -1 -1 2 200 -1 5 1 1 1 1 1 -1 -1
6 50 0 9 -1 9 -1 -1 200 -1 1 1 1 1 1 1 -1 -1
"""
HBD = """run,host,submit_s,cpu_s,prog
0,5,0.5,0.09,make
0,3,0.7,0.005,stty
4,1,0.2,2,sed
4,0,9.3,2.01,csh
4,2,9.3,3.5,sim
"""
FORMATS = {"csv": ("jobs.csv", CSV), "swf": ("log.swf", SWF), "hbd": ("two.csv", HBD)}
PACKED = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}

INFO_KEYS = ["file", "format", "rows", "jobs", "skipped", "fields", "span_s", "cpu_s"]
ALL_COLUMNS = {
    "arrival_ms", "home", "cpu_ms", "io_per_ms", "memory_mb", "tasks", "request_kb", "initial_data_mb", "write_share",
    "reaccess_rate", "requested_ms", "disk_mb", "recorded_wait_ms", "name", "job", "after", "files", "user", "group",
    "partition", "resources", "recorded_run_ms", "think_ms",
}  # fmt: skip


@pytest.fixture
def write(tmp_path):
    """One of the traces above as a file; `replaced` is (old, new) text in it."""

    def to(kind, packing="", replaced=("", "")):
        name, text = FORMATS[kind]
        path = tmp_path / f"{name}{packing}"
        path.write_bytes(PACKED[packing](text.replace(*replaced).encode()))
        return path

    return to


def info_of(cli, *arguments):
    code, out, _ = cli("trace", "info", *arguments, "--json")
    assert code == 0
    return json.loads(out)


@pytest.mark.slow
@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "csv",
            {
                "format": "csv", "rows": 3, "jobs": 3, "skipped": {}, "span_s": 1.0025,
                "cpu_s": {"mean": pytest.approx(1.10725 / 3), "max": 1.0},
            },
        ),
        (
            "swf",
            {
                "format": "swf", "rows": 6, "jobs": 2, "span_s": 30.0, "cpu_s": {"mean": 43.75, "max": 80.5},
                "skipped": {"cancelled before it ran": 2, "zero CPU time": 1, "no processors": 1},
            },
        ),
        (
            "hbd",
            {
                "format": "hbd", "rows": 5, "jobs": 5, "skipped": {}, "span_s": pytest.approx(9.1),
                "cpu_s": {"mean": pytest.approx(7.605 / 5), "max": 3.5},
            },
        ),
    ],
)  # fmt: skip
def test_info_says_what_was_found_and_what_was_skipped_and_why(cli, write, kind, packing, expected):
    path = write(kind, packing)
    document = info_of(cli, path)
    assert {key: document[key] for key in expected} == expected
    assert document["file"] == str(path)
    assert document["rows"] == document["jobs"] + sum(document["skipped"].values())
    assert set(document["fields"]) == ALL_COLUMNS


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_info_has_the_promised_keys_in_their_order_and_its_own_behind_them(cli, write, kind):
    keys = list(info_of(cli, write(kind)))
    assert keys[: len(INFO_KEYS)] == INFO_KEYS
    assert set(keys) - set(INFO_KEYS) == {
        "arrivals_s",
        "noted",
        "kept_busy",
        "filled",
        "dependence",
        "used",
        "recorded_wait_s",
        "resources",
        "run_time",
        "sample",
    } | ({"runs"} if kind == "hbd" else set())


def test_info_gives_the_share_of_jobs_that_have_a_field(cli, write):
    fields = info_of(cli, write("csv"))["fields"]
    there = {"arrival_ms": 1.0, "home": 1.0, "cpu_ms": 1.0, **dict.fromkeys(("io_per_ms", "memory_mb", "name"), 2 / 3)}
    assert fields == dict.fromkeys(ALL_COLUMNS, 0.0) | {name: pytest.approx(share) for name, share in there.items()}
    told_by_swf = {"arrival_ms", "cpu_ms", "tasks", "memory_mb", "requested_ms", "recorded_wait_ms", "user", "group"}
    swf = info_of(cli, write("swf"))["fields"]
    assert {name for name, share in swf.items() if share} == told_by_swf
    assert swf["memory_mb"] == 0.5


def test_info_gives_the_waits_of_a_log(cli, write):
    """The two jobs that are used waited 5 and 0 s; the CSV says nothing of waits."""
    found = info_of(cli, write("swf"))["recorded_wait_s"]
    # Of four tasks, and of two.
    waits = {"jobs": 2, "mean": 2.5, "median": 2.5, "p95": 4.75}
    assert found == waits | {"max": 5.0, "by_width": {"2-4": waits}, "by_hour": None}
    assert info_of(cli, write("csv"))["recorded_wait_s"] is None


def test_info_prints_waits_by_width_and_by_hour_as_tables(cli, write):
    """The log begins at 10:30 in Rome; its jobs of four and of two tasks come in the same hour."""
    header = "; UnixStartTime: 1000024200\n; TimeZoneString: Europe/Rome\n"
    path = write("swf")
    path.write_text(header + path.read_text())
    code, out, _ = cli("trace", "info", path)
    assert code == 0
    cells = [line.split() for line in out.splitlines()]
    assert ["2-4", "2", "2.5", "s", "2.5", "s", "4.75", "s"] in cells
    assert ["10", "2", "2.5", "s", "2.5", "s", "4.75", "s"] in cells
    assert "by_width" not in out


def test_info_of_one_run_counts_the_others_as_skipped(cli, write):
    both = info_of(cli, write("hbd"))
    assert {number: run["jobs"] for number, run in both["runs"].items()} == {"0": 2, "4": 3}
    one = info_of(cli, write("hbd"), "--run", 4)
    assert (one["jobs"], one["skipped"]) == (3, {"belongs to another run": 2})
    assert "runs" not in one


def test_info_says_how_many_cores_and_how_much_memory_the_jobs_keep_busy(cli, write):
    # 1,107.25 ms of CPU in 1,002.5 ms; 4 MB for 100 ms and 1.5 MB for 7.25 ms.
    assert info_of(cli, write("csv"))["kept_busy"] == {
        "cores": pytest.approx(1107.25 / 1002.5), "memory_mb": pytest.approx((400 + 1.5 * 7.25) / 1002.5),
    }  # fmt: skip
    # Four tasks of 80.5 s and 2.5 MB, two of 7 s, in 30 s.
    assert info_of(cli, write("swf"))["kept_busy"] == {
        "cores": pytest.approx((4 * 80.5 + 2 * 7) / 30), "memory_mb": pytest.approx(4 * 80.5 * 2.5 / 30),
    }  # fmt: skip


def test_info_of_several_runs_says_what_each_keeps_busy(cli, write):
    both = info_of(cli, write("hbd"))
    assert both["kept_busy"] is None
    assert both["runs"]["4"]["kept_busy"] == {"cores": pytest.approx(7.51 / 9.1), "memory_mb": None}
    assert info_of(cli, write("hbd"), "--run", 4)["kept_busy"] == both["runs"]["4"]["kept_busy"]


def test_info_of_jobs_that_come_all_at_once_has_no_span_to_keep_anything_busy_over(cli, write):
    path = write("swf", replaced=("4 30 0 7", "4 0 0 7"))
    assert info_of(cli, path)["kept_busy"] is None
    assert info_of(cli, path, "--scenario", "replay")["offered_load"] is None
    code, out, _ = cli("trace", "info", path, "--scenario", "replay")
    assert code == 0
    assert "kept_busy: none\n" in out
    assert "offered_load: none\n" in out


@pytest.mark.parametrize(
    ("kind", "options", "for_run"),
    [
        ("csv", (), ()),
        ("swf", (), ("--set", "cluster.hardware=hdd-2015")),
        ("swf", (), ("--set", "cluster.nodes=2", "--set", "cluster.cores=3", "--set", "run.seed=7")),
        ("hbd", ("--run", 4), ("--trace-run", 4)),
    ],
)
def test_the_load_on_a_scenario_is_that_of_its_run(cli, write, kind, options, for_run):
    path = write(kind)
    settings = for_run if for_run[:1] == ("--set",) else ()
    document = info_of(cli, path, *options, "--scenario", "replay-io", *settings)
    code, out, _ = cli("run", "replay-io", "--trace", path, *for_run, "--json")
    assert code == 0
    assert document["offered_load"] == json.loads(out)["offered_load"]
    assert (document["scenario"], document["hardware"]) == (
        "replay-io", "nodes hdd-2015" if "cluster.hardware=hdd-2015" in settings else None,
    )  # fmt: skip


def test_of_nodes_of_one_core_of_speed_1_the_load_is_the_cores_kept_busy_over_their_number(cli, write):
    document = info_of(cli, write("swf"), "--scenario", "replay", "--set", "cluster.nodes=20")
    assert document["offered_load"]["cpu"] == pytest.approx(document["kept_busy"]["cores"] / 20)


def test_a_load_above_the_nodes_is_said_on_stderr_and_the_table_names_the_scenario(cli, write):
    code, out, err = cli("trace", "info", write("swf"), "--scenario", "replay", "--set", "cluster.nodes=2")
    assert code == 0
    assert "offered load: CPU 5.6: the queue grows as long as jobs come, results depend on the trace's length" in err
    assert "scenario: replay\nhardware: none\noffered_load:  # of these nodes; 1 is all that they can do\n" in out
    assert "\n  cpu: 5.6\n" in out


def test_the_columns_that_a_log_has_are_printed_as_shares_of_its_jobs(cli, tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms,memory_mb\n0,1,\n1,1,\n2,1,4\n")
    code, out, _ = cli("trace", "info", str(path))
    assert code == 0
    lines = out.splitlines()
    fields = lines[lines.index("fields:  # share of the jobs that have a value") + 1 :]
    assert fields[:3] == ["  arrival_ms: 100 %", "  cpu_ms: 100 %", "  memory_mb: 33.3 %"]
    assert fields[3].startswith("  in no job: home, io_per_ms, tasks, ")
    assert lines[2:5] == ["rows: 3", "used: 3", "jobs: 3"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--set", "cluster.nodes=2"), "--set: sets keys of a scenario; give --scenario too"),
        (("--scenario", "repley"), "did you mean 'replay'?"),
        (("--scenario", "replay", "--set", "cluster.cores=0"), "cluster.cores"),
        (("--scenario", "replay", "--set", "cluster.nodes=3"), "allowed 0..2 (cluster.nodes = 3)"),
        (("--scenario", "replay", "--set", "workload.trace.file=other.csv"), "--trace sets this key too"),
    ],
)
def test_a_scenario_that_does_not_fit_is_exit_2_without_a_table(cli, write, options, words):
    code, out, err = cli("trace", "info", write("csv"), *options, "--json")
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize("kind", FORMATS)
def test_info_without_json_is_for_people_and_says_the_same(cli, write, kind):
    path = write(kind)
    code, out, _ = cli("trace", "info", path)
    assert code == 0
    document = info_of(cli, path)
    assert f"jobs: {document['jobs']}\n" in out
    for reason, count in document["skipped"].items():
        assert f"{reason}: {count}\n" in out


@pytest.mark.parametrize("kind", FORMATS)
def test_the_content_tells_a_format_where_the_name_does_not_and_it_can_be_told(cli, write, tmp_path, kind):
    write(kind).rename(tmp_path / "trace.txt")
    assert info_of(cli, "trace.txt", "--format", kind)["format"] == kind
    assert info_of(cli, "trace.txt")["format"] == kind


@pytest.mark.slow
@pytest.mark.parametrize("packing", PACKED)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_converted_trace_gives_the_same_run(cli, write, kind, packing):
    path = write(kind, packing)
    jobs = {"csv": 3, "swf": 2, "hbd": 3}[kind]
    chosen, for_run = (("--run", 4), ("--trace-run", 4)) if kind == "hbd" else ((), ())
    code, out, err = cli("trace", "convert", path, "OUT.csv", *chosen)
    assert (code, out) == (0, "")
    assert f"{jobs} jobs written to OUT.csv" in err
    for reason, count in info_of(cli, path, *chosen)["skipped"].items():
        assert f"skipped {count}: {reason}" in err
    original = cli("run", "replay", "--trace", path, *for_run, "--json")
    converted = cli("run", "replay", "--trace", "OUT.csv", "--json")
    assert original[0] == converted[0] == 0
    assert original[1] == converted[1]
    assert json.loads(original[1])["jobs"]["finished"] == jobs


@pytest.mark.parametrize("packing", [".gz", ".xz"])
def test_convert_compresses_if_the_name_says_so(cli, write, tmp_path, packing):
    for name in ("plain.csv", f"packed.csv{packing}"):
        assert cli("trace", "convert", write("swf"), name)[0] == 0
    unpack = {".gz": gzip.decompress, ".xz": lzma.decompress}[packing]
    assert unpack((tmp_path / f"packed.csv{packing}").read_bytes()) == (tmp_path / "plain.csv").read_bytes()


@pytest.mark.slow
def test_the_run_is_the_traces(cli, write, tmp_path):
    assert cli("run", "replay", "--trace", write("csv"), "--out", "out", "--json")[0] == 0
    jobs = pd.read_parquet(tmp_path / "out" / "jobs.parquet").sort_values("arrival_ms")
    assert jobs["arrival_ms"].tolist() == [0.0, 2.5, 1002.5]
    assert jobs["cpu_ms"].tolist() == [100.0, 7.25, 1000.0]
    assert jobs["home"].tolist() == jobs["node"].tolist() == [3, 0, 1]


@pytest.mark.slow
def test_compare_on_a_trace(cli, write):
    code, out, _ = cli(
        "compare", "replay-io", "--trace", write("hbd"), "--trace-run", 4, "--seeds", 2, "--workers", 1, "--json"
    )
    assert code == 0
    document = json.loads(out)
    assert document["seeds"] == [1, 2]
    assert list(document["policies"]) == ["none", "random", "jsq", "clb", "mlb", "iolb", "pooled", "srpt-pool"]
    # A bound has no slowdown, and no tasks.
    del document["policies"]["srpt-pool"]
    assert all(policy["mean_slowdown"] >= 1 for policy in document["policies"].values())
    # The work of 2 + 2.01 + 3.5 s is the trace's under every policy.
    work_ms = [policy["breakdown_ms"]["cpu"] for policy in document["policies"].values()]
    assert work_ms == pytest.approx([7510 / 3] * 7)


@pytest.mark.slow
def test_what_the_trace_does_not_say_is_drawn_from_the_seed(cli, write, tmp_path):
    """An SWF log tells neither homes nor I/O: equal seeds draw them equally, others differently, and it stays fixed
    what the log does tell."""
    path = write("swf")
    for folder, seed in (("first", 1), ("again", 1), ("other", 2)):
        assert cli("run", "replay-io", "--trace", path, "--seed", seed, "--out", folder, "--json")[0] == 0
    for name in ("jobs.parquet", "nodes.parquet", "decisions.parquet", "summary.json"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name
    first, other = (pd.read_parquet(tmp_path / folder / "jobs.parquet") for folder in ("first", "other"))
    for told in ("job", "arrival_ms", "cpu_ms"):
        assert sorted(first[told]) == sorted(other[told]), told
    assert sorted(first["home"]) != sorted(other["home"])
    assert sorted(first["io_requests"]) != sorted(other["io_requests"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "replaced", "expected"),
    [
        ("csv", ("7.25", "-7.25"), ["line 3: cpu_ms = '-7.25'", "allowed: a number above 0"]),
        ("csv", ("7.25", "nan"), ["line 3: cpu_ms = 'nan'", "allowed: a number above 0"]),
        ("csv", ("0,3,100", "-1,3,100"), ["line 2: arrival_ms = '-1'", "allowed: a number from 0"]),
        ("csv", ("1002.5", "1.5"), ["line 4: arrival_ms = 1.5 goes back", "allowed: rows sorted by arrival"]),
        ("csv", ("1002.5,1,", "1002.5,0.5,"), ["line 4: home = '0.5'", "allowed: a whole number from 0"]),
        ("csv", (",1e3,0,,", ",1e3"), ["line 4: 3 values where the header names 6 columns (cut off?)"]),
        ("csv", ("cpu_ms", "cpu_sm"), ["unknown column 'cpu_sm' (did you mean 'cpu_ms'?)", "'cpu_ms' is missing"]),
        ("csv", (CSV, ""), ["empty"]),
        ("csv", (CSV, "arrival_ms,cpu_ms\n"), ["no job, only a header line"]),
        ("swf", ("80.5", "x"), ["line 3: average CPU time = 'x'", "allowed: a number"]),
        ("swf", ("1 1 -1 -1\n2", "1 1\n2"), ["line 3: 16 fields (cut off?): allowed: 18 numbers"]),
        ("hbd", ("0,5,0.5", "0,-5,0.5"), ["line 2: host = '-5'", "allowed: a whole number from 0"]),
        ("hbd", ("9.3,2.01", "0.1,2.01"), ["line 5: submit_s = 0.1 goes back", "allowed: rows sorted by arrival"]),
    ],
)
@pytest.mark.parametrize("command", ["info", "convert", "run", "compare"])
def test_bad_traces_are_exit_2_naming_place_field_value_and_what_is_allowed(
    cli, write, tmp_path, command, kind, replaced, expected
):
    path = write(kind, replaced=replaced)
    arguments = {
        "info": ("trace", "info", path, "--json"),
        "convert": ("trace", "convert", path, "OUT.csv"),
        "run": ("run", "replay", "--trace", path, "--json"),
        "compare": ("compare", "replay-io", "--trace", path, "--seeds", 1, "--workers", 1, "--json"),
    }[command]
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    for part in [str(path), *expected]:
        assert part in err
    assert "Traceback" not in err
    assert not (tmp_path / "OUT.csv").exists()


def test_several_bad_lines_are_listed_at_once(cli, write):
    path = write("csv", replaced=("100,0.05", "-100,x"))
    _, _, err = cli("run", "replay", "--trace", path)
    assert err.count("error:") == 2


def test_a_run_that_is_not_chosen_or_not_there_lists_those_that_are(cli, write):
    path = write("hbd")
    for arguments in (
        ("trace", "convert", path, "OUT.csv"),
        ("trace", "convert", path, "OUT.csv", "--run", 3),
        ("run", "replay", "--trace", path),
        ("run", "replay", "--trace", path, "--trace-run", 3),
    ):
        code, _, err = cli(*arguments)
        assert code == 2
        assert "allowed 0 (2 jobs), 4 (3 jobs)" in err


def test_a_home_outside_the_cluster_and_a_folder_that_is_not_there(cli, write):
    code, _, err = cli("run", "replay", "--trace", write("csv"), "--set", "cluster.nodes=3")
    assert code == 2
    assert "home = 3 of the job at 0 ms" in err
    assert "allowed 0..2 (cluster.nodes = 3)" in err
    code, _, err = cli("trace", "convert", write("csv"), "none/OUT.csv")
    assert code == 2
    assert "none/OUT.csv: cannot be written" in err


LONG = "arrival_ms,cpu_ms\n" + "".join(f"{row},1\n" for row in range(150_000))


@pytest.mark.slow
@pytest.mark.parametrize("packing", PACKED)
def test_a_limit_that_options_and_a_key_raise(cli, tmp_path, packing):
    path = tmp_path / f"a.csv{packing}"
    path.write_bytes(PACKED[packing](LONG.encode()))
    for arguments in (("info", path), ("convert", path, "OUT.csv")):
        code, _, err = cli("trace", *arguments, "--max-mb", 1)
        assert code == 2
        assert f"{path}: more than 1 MB, unpacked: allowed up to 1 MB (--max-mb" in err
        assert cli("trace", *arguments, "--max-mb", 2)[0] == 0
    key = ("--set", "workload.trace.duration_s=1", "--set", "workload.trace.max_mb=1")
    code, _, err = cli("run", "replay", "--trace", path, *key)
    assert code == 2
    assert "workload.trace.max_mb" in err
    for wrong in (0, 100_001, "x"):
        assert cli("trace", "info", path, "--max-mb", wrong)[0] == 2


@pytest.mark.slow
@pytest.mark.parametrize("command", ["info", "convert"])
def test_a_pipe_is_read(tmp_path, command):
    """`<(zcat jobs.csv.gz)` of a shell is a pipe."""
    out = ["OUT.csv"] if command == "convert" else []
    for kind, (_, text) in FORMATS.items():
        run = ["--run", "4"] if kind == "hbd" else []
        done = subprocess.run(
            [sys.executable, "-m", "cluster_abm", "trace", command, "/dev/stdin", *out, "--format", kind, *run],
            input=gzip.compress(text.encode()), capture_output=True, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told = (tmp_path / "OUT.csv").read_bytes() if out else done.stdout
        assert b"csv" in told or b"arrival_ms" in told or kind.encode() in told


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", ".", "x" * 5000])
def test_what_is_no_file_is_exit_2(cli, path):
    for arguments in (
        ("trace", "info", path, "--format", "csv"),
        ("trace", "convert", path, "OUT.csv", "--format", "swf"),
        ("run", "replay", "--trace", path, "--set", "workload.trace.format=csv"),
    ):
        code, out, err = cli(*arguments)
        assert (code, out) == (2, "")
        assert "cannot be read" in err
        assert "Traceback" not in err


def test_convert_writes_over_what_it_reads_and_keeps_links(cli, write, tmp_path):
    path = write("csv")
    (tmp_path / "link.csv").symlink_to(path)
    assert cli("trace", "convert", path, "link.csv")[0] == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert info_of(cli, path)["jobs"] == 3
