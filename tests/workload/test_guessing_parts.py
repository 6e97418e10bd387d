"""Parts of the guess, each by hand: layouts, what columns hold, what names mean, how columns go together."""

from __future__ import annotations

import io
import json
import tomllib

import numpy as np
import pytest

from cluster_abm.errors import InputError
from cluster_abm.found_modules import TRACE_MAPS
from cluster_abm.scenario.columns import ColumnMap, TableLayout
from cluster_abm.workload.traces.guessing.cells import ColumnContent
from cluster_abm.workload.traces.guessing.cores import guessed_cores, parts
from cluster_abm.workload.traces.guessing.durations import guessed_durations, is_code, is_counter
from cluster_abm.workload.traces.guessing.files import guess_of_known
from cluster_abm.workload.traces.guessing.names import meanings, says_nothing
from cluster_abm.workload.traces.guessing.proposal import Guess
from cluster_abm.workload.traces.guessing.relations import Difference, differences, share_in_order
from cluster_abm.workload.traces.guessing.sample import SampledTable, sample_of
from cluster_abm.workload.traces.guessing.states import left_out
from cluster_abm.workload.traces.guessing.writing import map_text
from cluster_abm.workload.traces.mapping.maps import shipped_maps


def sampled(text: str | bytes) -> SampledTable:
    data = text.encode() if isinstance(text, str) else text
    # In small blocks, as a slow pipe gives them.
    return sample_of(
        iter([data[at : at + 7] for at in range(0, len(data), 7)] if data[:1] not in b"[{P" else [data]), "f"
    )


def content(*cells: object) -> ColumnContent:
    return ColumnContent(tuple(str(cell) for cell in cells))


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", ":"])
def test_separators(separator):
    rows = [["job", "submit", "cores"], ["1", "0", "2"], ["2", "10", "4"]]
    found = sampled("".join(separator.join(row) + "\n" for row in rows))
    assert found.layout == {"kind": "table", "separator": separator}
    assert (found.names, found.columns[1]) == (("job", "submit", "cores"), ("0", "10"))


@pytest.mark.parametrize(
    ("text", "layout", "names", "first"),
    [
        ("job submit\n1   5\n 2  6\n", {"kind": "blanks"}, ("job", "submit"), ("1", "2")),
        ("1,5\n2,6\n", {"kind": "table", "separator": ",", "header": False}, ("", ""), ("1", "2")),
        # A colon within times is no separator where commas are.
        ("a,b\n1,10:00:05\n2,10:01:05\n", {"kind": "table", "separator": ","}, ("a", "b"), ("1", "2")),
        ('a,b\n"x, y",1\n"z, w",2\n', {"kind": "table", "separator": ","}, ("a", "b"), ("x, y", "z, w")),
        ("a, b\r\n1, 2\r\n", {"kind": "table", "separator": ","}, ("a", "b"), ("1",)),
        (
            "# remark\n1,2\n# more\n3,4\n",
            {"kind": "table", "separator": ",", "header": False, "remark": "#"},
            ("", ""),
            ("1", "3"),
        ),
        ("\ufeffa,b\n1,2\n", {"kind": "table", "separator": ","}, ("a", "b"), ("1",)),
        # Rows of another width are left out of the sample.
        ("a,b\n" + "1,2\n" * 30 + "1,2,3\n", {"kind": "table", "separator": ","}, ("a", "b"), ("1",) * 30),
    ],
)
def test_layouts_of_text(text, layout, names, first):
    found = sampled(text)
    assert (found.layout, found.names, found.columns[0]) == (layout, names, first)
    TableLayout.model_validate(found.layout)


def test_layouts_of_json():
    rows = [{"id": 1, "time": {"submit": 5}}, {"id": 2, "time": {"submit": 6}, "tags": ["a", "b"]}]
    as_lines = sampled("".join(json.dumps(row) + "\n" for row in rows))
    document = sampled(json.dumps({"meta": {"x": 1}, "jobs": rows}))
    plain = sampled(json.dumps(rows))
    assert [one.layout for one in (as_lines, document, plain)] == [
        {"kind": "json-lines"},
        {"kind": "json", "rows": "jobs"},
        {"kind": "json"},
    ]
    for one in (as_lines, document, plain):
        assert one.names == ("id", "time.submit", "tags")
        assert one.columns == (("1", "2"), ("5", "6"), ("", "a b"))


def test_layout_of_parquet():
    import pyarrow as pa
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(pa.table({"submit": pa.array([0, 1_000_000], pa.timestamp("us")), "n": [1, None]}), file)
    found = sampled(file.getvalue())
    assert found.layout == {"kind": "parquet"}
    assert found.columns == (("1970-01-01T00:00:00", "1970-01-01T00:00:01"), ("1", ""))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"one word\nand three more words\n", "no table recognised"),
        (b"\xff\xfe\x00,1\n2,3\n", "no text in UTF-8 at byte 0"),
        (b'{"a": [1, 2', "is none that can be read"),
        (b"[1, 2, 3]", "no list of objects"),
        (b"PAR1 and no more", "Parquet file damaged"),
    ],
)
def test_files_that_are_no_table(data, words):
    with pytest.raises(InputError, match=words):
        sampled(data)


def test_names_that_are_there_twice_or_are_too_long_are_positions():
    found = sampled(f"a,a,b,{'x' * 301}\n1,2,3,4\n")
    assert [found.column(at) for at in range(4)] == [1, 2, "b", 4]


@pytest.mark.parametrize(
    ("cells", "kind", "seconds"),
    [
        (("1", "2.5", "", "1e3"), "number", [1, 2.5, np.nan, 1000]),
        (("1970-01-02 00:00:00", "1970-01-01T00:00:01.5Z"), "iso", [86_400, 1.5]),
        (("01:00", "1-00:00:01", "02:03:04"), "clock", [60, 86_401, 7384]),
        (("1.5G", "300M"), "size", [np.nan, np.nan]),
        (("12/31/1970 00:00:00", "01/02/1970 00:00:00"), "date", [364 * 86_400, 86_400]),
        (("x", "1"), "text", [np.nan, np.nan]),
        (("", "NULL", "Unknown"), "nothing", [np.nan] * 3),
        # 2001-09-09 in milliseconds.
        (("1000000000000",), "number", [1e9]),
    ],
)
def test_what_columns_hold(cells, kind, seconds):
    found = content(*cells)
    assert found.kind == kind
    np.testing.assert_allclose(found.seconds, seconds)


def test_day_and_month_that_cannot_be_told_apart_have_no_form():
    assert content("01/02/2020 10:00:00", "03/04/2020 10:00:00").form == ""
    assert content("01/02/2020 10:00:00", "03/14/2020 10:00:00").form == "%m/%d/%Y %H:%M:%S"


def test_minus_one_is_not_known_only_if_nothing_else_is_below_0():
    np.testing.assert_array_equal(content(-1, 5).numbers, [np.nan, 5])
    np.testing.assert_array_equal(content(-1, -2, 5).numbers, [-1, -2, 5])


@pytest.mark.parametrize(
    ("name", "field", "unit"),
    [
        ("submit_time", "submit", ""),
        ("Submit", "submit", ""),
        ("QUEUED_TIMESTAMP", "submit", ""),
        ("gmt_create", "submit", ""),
        ("qtime", "submit", ""),
        ("arrival_ms", "submit", "ms"),
        ("scheduled_time", "start", ""),
        ("time_start", "start", ""),
        ("deletion_time", "end", ""),
        ("stop_s", "end", "s"),
        ("RUNTIME_SECONDS", "run", "s"),
        ("ElapsedRaw", "run", ""),
        ("exec_time_seconds", "run", "s"),
        ("Timelimit", "requested", ""),
        ("wallclock_req", "requested", ""),
        ("cpu_s", "cpu", "s"),
        ("TotalCPU", "cpu", ""),
        ("cpu_milli", "cores", "milli"),
        ("NCPUS", "cores", ""),
        ("requested_number_of_processors", "cores", ""),
        ("CORES_USED", "cores", ""),
        ("num_replicas", "tasks", ""),
        ("memory_mib", "memory", "MiB"),
        ("MaxRSS", "memory", ""),
        ("read_bytes", "disk_read", "B"),
        ("wchar", "disk_written", "B"),
        ("JobIDRaw", "job", ""),
        ("USERNAME_GENID", "user", ""),
        ("groupId", "group", ""),
        ("Partition", "partition", ""),
        ("dependencies", "parents", ""),
        ("num_gpu", "resources.gpu", ""),
        ("pod_phase", "state", ""),
        # Capitals with the s of a plural are one word.
        ("NCPUs", "cores", ""),
        ("CPUs", "cores", ""),
        ("ReqCPUs", "cores", ""),
        ("ReqCPUS", "cores", ""),
        ("CPUsUsed", "cores", ""),
        ("vCPUs", "cores", ""),
        ("NCPU", "cores", ""),
        ("GPUs", "resources.gpu", ""),
        ("NumGPUs", "resources.gpu", ""),
        ("CPUtime", "cpu", ""),
        ("CPUTimeSecs", "cpu", "s"),
        ("QTime", "submit", ""),
        ("SubmitTime", "submit", ""),
        ("EndTimeMs", "end", "ms"),
        ("MemGB", "memory", "GB"),
    ],
)
def test_names(name, field, unit):
    found = meanings(name)
    assert (found[0].field, found[0].unit) == (field, unit)


@pytest.mark.parametrize(
    "name", ["gpu_time", "gpu_spec", "priority", "stretch", "waiting_time", "think", "location", "avgcpu"]
)
def test_names_that_mean_none_of_the_fields(name):
    assert not {one.field for one in meanings(name)} & {"submit", "start", "end", "run", "cores", "resources.gpu"}


@pytest.mark.parametrize("name", ["c1", "col12", "_c0", "Unnamed: 0", "7", ""])
def test_names_that_only_count(name):
    assert says_nothing(name)
    assert meanings(name) == ()


def test_differences_with_their_unit():
    submit = np.arange(0.0, 1000.0, 10.0)
    run = 30.0 + np.arange(100) % 7 * 60.0
    end = submit + run
    assert differences({0: submit, 1: end}, {2: run}) == [Difference(1, 0, 2, 1.0)]
    assert differences({0: submit, 1: end}, {2: run * 1000.0}) == [Difference(1, 0, 2, 1e-3)]
    assert differences({0: submit, 1: end}, {2: run / 60.0}) == [Difference(1, 0, 2, 60.0)]
    # Ten rows of a hundred differ: no rule that holds.
    assert differences({0: submit, 1: end}, {2: np.where(np.arange(100) % 8 == 0, 5000.0, run)}) == []
    assert differences({0: submit, 1: end}, {2: np.full(100, 30.0)}) == []


def test_share_in_order_is_of_the_rows_that_have_both():
    first = np.array([1.0, 2.0, 3.0, np.nan, 5.0, 6.0])
    assert share_in_order(first, np.array([1.0, 1.0, 4.0, 0.0, 6.0, 7.0])) == 0.8
    assert share_in_order(first[:4], first[:4]) == 0.0  # three rows are too few


def test_row_numbers_and_codes():
    assert is_counter(content(*range(5, 50)))
    assert is_counter(content(*range(0, 500, 10)))
    assert not is_counter(content(*(at * at for at in range(50))))
    assert is_code(content(*(at * 7 % 12 for at in range(100))))
    assert not is_code(content(*(at * at % 1009 for at in range(100))))


def test_run_time_request_and_cpu_time():
    rng = np.random.default_rng(5)
    run = np.floor(rng.lognormal(6, 1.5, 400)) + 1
    asked = np.ceil(run * (1 + rng.random(400)) / 600) * 600
    cpu = np.round(run * 0.8, 2)
    wait = np.floor(rng.lognormal(4, 2, 400))
    columns = {at: content(*values) for at, values in enumerate((wait, run, cpu, asked))}
    found = guessed_durations(columns, {})
    assert (found.run, found.requested, found.cpu) == (1, 3, 2)
    # Without the request nothing tells run time and wait apart.
    assert guessed_durations({at: columns[at] for at in (0, 1)}, {}).run is None


def test_a_run_time_by_its_product_with_cores():
    rng = np.random.default_rng(6)
    run, cores = np.floor(rng.lognormal(6, 1.5, 300)) + 1, rng.choice([1, 2, 8], 300)
    columns = {0: content(*run), 2: content(*(run * cores))}
    found = guessed_durations(columns, {1: content(*cores)})
    assert (found.run, found.cores) == (0, 1)


def test_cores_among_other_whole_numbers():
    rng = np.random.default_rng(7)
    cores = rng.choice([1, 2, 4, 8, 16, 64], 300)
    nodes = np.maximum(1, cores // 16)
    users = rng.integers(1, 40, 300)
    columns = {0: content(*users), 1: content(*nodes), 2: content(*cores)}
    assert guessed_cores(columns).at == 2
    assert guessed_cores({0: columns[0]}).at is None
    hosts = [" ".join(f"n{at}" for at in range(one)) for one in nodes]
    assert guessed_cores({**columns, 3: content(*hosts)}).at == 1


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ([4000, 8000, 3152, 12_000, 500, 1000] * 20, "milli"),
        ([50, 100, 100, 200, 600] * 20, "percent"),
        ([1, 2, 4, 64] * 20, ""),
        ([8192, 16_384, 32_768, 1024] * 20, ""),  # memory
    ],
)
def test_parts_of_a_core(values, unit):
    assert parts(np.array(values, float)) == unit


def test_states():
    assert left_out(["COMPLETED", "Pending", "Waiting", "PENDING", "Running", "Failed"]) == (
        "PENDING",
        "Pending",
        "Waiting",
    )


@pytest.mark.parametrize("name", TRACE_MAPS)
def test_shipped_maps_are_written_as_they_are(name):
    found = guess_of_known(name)
    text = map_text(found, "file", name)
    assert tomllib.loads(text) == found.map
    assert ColumnMap.model_validate(tomllib.loads(text)).fields == shipped_maps()[name].fields
    assert set(found.sure) == set(shipped_maps()[name].fields)


def test_odd_names_are_written_so_that_they_are_read_back():
    odd = 'a"b\\c\u2028\x7f\t`'
    found = Guess(
        {"file": {"kind": "table"}, "submit": {"column": odd}, "resources": {"gpu:a 100": {"column": 3}}},
        {"submit": 0.5},
        {"submit": "name"},
    )
    assert tomllib.loads(map_text(found, odd)) == found.map
