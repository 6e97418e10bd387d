"""`trace info --guess`: the map that is printed, written and read by, and what is refused."""

from __future__ import annotations

import json
import tomllib

import pytest

# Sixty jobs, one each ten seconds; each waits 5 s and runs 20 s or 40 s on two cores.
ROWS = [(at, at * 10, at * 10 + 5, at * 10 + 25 + 20 * (at % 2), 2) for at in range(60)]
TABLE = "no,queued,began,ended,cores\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
MAP = {
    "file": {"kind": "table", "separator": ","},
    "submit": {"column": "queued", "unit": "s"},
    "start": {"column": "began", "unit": "s"},
    "end": {"column": "ended", "unit": "s"},
    "run": {"expr": "ended - began", "unit": "s"},
    "cores": {"column": "cores"},
}


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table.csv").write_text(TABLE)
    return "table.csv"


def test_the_document_has_the_map_and_how_sure_it_is(cli, table, tmp_path):
    code, out, _ = cli("trace", "info", table, "--guess", "--json", "--out", "found.toml")
    document = json.loads(out)
    assert code == 0
    assert document["map"] == MAP
    assert document["sure"].keys() == MAP.keys() - {"file"}
    assert all(0.5 <= sure <= 1.0 for sure in document["sure"].values())
    assert document["rows"] == document["jobs"] == 60
    # 30 jobs of 20 s and 30 of 40 s, half of it on each of two cores.
    assert document["cpu_s"] == {"mean": 30.0, "max": 40.0}
    assert document["recorded_wait_s"]["mean"] == 5.0
    assert tomllib.loads((tmp_path / "found.toml").read_text()) == MAP


def test_the_map_that_is_written_reads_the_file_alike(cli, table):
    cli("trace", "info", table, "--guess", "--out", "found.toml")
    _, guessed, _ = cli("trace", "info", table, "--guess", "--json")
    code, by_map, _ = cli("trace", "info", table, "--map", "found.toml", "--json")
    without = {key: value for key, value in json.loads(guessed).items() if key not in ("map", "sure")}
    assert (code, json.loads(by_map)) == (0, without)


def test_the_map_is_printed_with_reasons(cli, table):
    code, out, _ = cli("trace", "info", table, "--guess")
    shown, _, document = out.partition("\n\n")
    assert code == 0
    assert tomllib.loads(shown) == MAP
    assert 'submit = { column = "queued", unit = "s" }  # 0.95: name and order of the times' in shown
    assert "rows: 60" in document


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_without_a_time_of_submission_or_start_the_map_is_written_and_the_end_is_2(cli, tmp_path, options):
    (tmp_path / "table.csv").write_text("runtime,cores\n" + "".join(f"{at * 7 % 50 + 1},2\n" for at in range(60)))
    code, out, err = cli("trace", "info", "table.csv", "--guess", "--out", "found.toml", *options)
    assert code == 2
    found = {
        "file": {"kind": "table", "separator": ","},
        "run": {"column": "runtime", "unit": "s"},
        "cores": {"column": "cores"},
    }
    assert tomllib.loads((tmp_path / "found.toml").read_text()) == found
    assert (json.loads(out)["map"] if options else tomllib.loads(out)) == found
    errors = [line for line in err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert "no column of times of submission or start was found" in errors[0]
    assert "run (column 'runtime'), cores (column 'cores')" in errors[0]


def test_content_that_a_format_knows_needs_no_map(cli, tmp_path):
    (tmp_path / "ours.csv").write_text("arrival_ms,cpu_ms\n0,5\n10,6\n")
    code, out, err = cli("trace", "info", "ours.csv", "--guess", "--json", "--out", "found.toml")
    document = json.loads(out)
    assert (code, document["map"], document["sure"]) == (0, {"format": "csv"}, {"format": 1.0})
    assert (document["rows"], document["format"]) == (2, "csv")
    assert "known as csv by its content" in err
    assert not (tmp_path / "found.toml").exists()


def test_content_that_a_shipped_map_knows_has_that_map(cli, tmp_path):
    head = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    times = "2020-04-01 00:00:04,2020-04-01 00:00:10,2020-04-01 00:01:10"
    (tmp_path / "log.csv").write_text(f"{head}1,u1,vc1,0,4,1,COMPLETED,{times},60,6\n")
    code, out, err = cli("trace", "info", "log.csv", "--guess", "--json", "--out", "found.toml")
    document = json.loads(out)
    assert (code, document["format"]) == (0, "helios")
    assert "known as helios" in err
    assert set(document["sure"].values()) == {1.0}
    assert document["map"]["submit"]["column"] == "submit_time"
    assert tomllib.loads((tmp_path / "found.toml").read_text()) == document["map"]
    again, by_map, _ = cli("trace", "info", "log.csv", "--map", "found.toml", "--json")
    assert again == 0
    assert json.loads(by_map)["jobs"] == 1


def test_names_of_ours_in_a_foreign_table_are_no_format(cli, tmp_path):
    # `user` and `tasks` are columns of ours; the table is none of ours.
    rows = "".join(f"{at},{at * 5},{at % 9 + 1},u{at % 3},2\n" for at in range(30))
    (tmp_path / "table.csv").write_text(f"job,submit_s,run_s,user,tasks\n{rows}")
    code, out, _ = cli("trace", "info", "table.csv", "--guess", "--json")
    document = json.loads(out)
    assert (code, document["format"], document["jobs"]) == (0, "map", 30)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--out", "found.toml"), "give --guess too"),
        (("--guess", "--map", "gwf"), "leave --map (or --format) out"),
        (("--guess", "--format", "swf"), "leave --map (or --format) out"),
        (("--guess", "--scenario", "replay"), "leave --scenario out"),
        (("--guess", "--out", "found.csv"), "a file that ends with .toml"),
        (("--guess", "--out", "no/such/found.toml"), "there is no folder 'no/such'"),
    ],
)
def test_options_that_do_not_go_together(cli, table, options, words):
    code, out, err = cli("trace", "info", table, *options)
    assert (code, out) == (2, "")
    assert words in err


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"just some words\nin two lines, of a letter\n", "no table recognised"),
        (b"\x00\xff\xfe binary, no table\n" * 3, "no text in UTF-8"),
        (b'{"jobs": [', "none that can be read"),
    ],
)
def test_files_that_are_no_table(cli, tmp_path, data, words):
    (tmp_path / "file").write_bytes(data)
    code, out, err = cli("trace", "info", "file", "--guess")
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_a_folder_is_not_guessed(cli, tmp_path):
    (tmp_path / "parts").mkdir()
    code, _, err = cli("trace", "info", "parts", "--guess")
    assert code == 2
    assert "a folder" in err
