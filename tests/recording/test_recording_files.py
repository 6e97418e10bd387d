"""The file of a recording: the same bytes for the same run, and one line for whatever is wrong with it."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
import tracemalloc
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import recording_of, scenario_of_case
from support import busy, scenario

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.recording import load_recordings, save_recordings
from cluster_abm.recording.arrow_streams import stream_of
from cluster_abm.recording.container import MAGIC, MOST_BYTES, VERSION

BEGIN = struct.Struct("<8sIIQ")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A small recording's bytes."""
    path = tmp_path_factory.mktemp("recordings") / "run.rec"
    recording_of("migrations").save(path)
    return path.read_bytes()


def parts_of(data):
    """Header and frames of a file's bytes."""
    _, _, size, _ = BEGIN.unpack_from(data)
    first = BEGIN.size + 32
    header, at, frames = json.loads(data[first : first + size]), first + size, {}
    for name, length, *_ in header[0]["tables"]:
        frames[name] = data[at : at + length]
        at += length
    return header, frames


def made(header, frames):
    """A file's bytes by hand: its lengths and its checksum are right, whatever is in it."""
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    body = text + b"".join(frames)
    begin = BEGIN.pack(MAGIC, VERSION, len(text), BEGIN.size + 32 + len(body))
    return begin + hashlib.sha256(begin + body).digest() + body


def refused(tmp_path, data):
    """The one line that says what is wrong with a file of these bytes."""
    path = tmp_path / "bad.rec"
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        ca.load_recording(path)
    (line,) = caught.value.problems
    assert line.startswith(str(path))
    assert "\n" not in line
    return line.removeprefix(str(path))


def with_table(data, name, table, rows=None, stream=None):
    """The bytes of a file with another table in the place of one."""
    header, frames = parts_of(data)
    stream = stream_of(table) if stream is None else stream
    frames[name] = pa.Codec("zstd").compress(stream, asbytes=True)
    for row in header[0]["tables"]:
        if row[0] == name:
            row[1:] = [len(frames[name]), len(stream), table.num_rows if rows is None else rows]
    return made(header, frames.values())


def with_column(data, table, name, values):
    """The bytes of a file with other values in one column."""
    found = recording_of("migrations").tables[table]
    place = found.column_names.index(name)
    values = values if isinstance(values, pa.Array) else pa.array(values, found.schema.field(name).type)
    return with_table(data, table, found.set_column(place, name, values))


def changed(table, name, place, value):
    column = recording_of("migrations").tables[table][name].to_pylist()
    column[place] = value
    return column


def test_it_is_read_as_it_was_saved(saved, tmp_path):
    recording = recording_of("migrations")
    path = tmp_path / "run.rec"
    path.write_bytes(saved)
    again = ca.load_recording(path)
    assert again.meta == recording.meta
    assert repr(again) == repr(recording)
    again.save(tmp_path / "again.rec")
    assert (tmp_path / "again.rec").read_bytes() == saved
    for name in ("jobs_frame", "nodes_frame", "decisions_frame", "segments_frame"):
        assert getattr(again, name)().equals(getattr(recording, name)())


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", ["migrations", pytest.param("failures", marks=pytest.mark.slow), "talk",
             *(pytest.param(name, marks=pytest.mark.slow) for name in ("contended links", "held jobs", "barriers"))]
)  # fmt: skip
def test_the_same_bytes_however_it_runs(case, tmp_path):
    """By run and by step, agents stepping or not, decisions compiled or in Python, keys given in another way."""
    setup, found = scenario_of_case(case), set()
    for steps, agents_step, compiled in product((False, True), (False, True), (False, True)):
        if agents_step and not steps:
            continue
        model = ca.ClusterModel(
            setup, seed=3, record=True, agents_step=agents_step, compile_decisions=compiled,
            overrides={} if compiled else {"run.seed": 5},
        )  # fmt: skip
        while steps and model.running:
            model.step()
        model.run()
        model.recording().save(tmp_path / "run.rec")
        found.add((tmp_path / "run.rec").read_bytes())
    recording_of(case).save(tmp_path / "run.rec")
    assert found == {(tmp_path / "run.rec").read_bytes()}


def test_the_order_of_keys_does_not_show(tmp_path):
    keys = busy(policy__name="wal-pm", workload__duration_s=1.0)
    files = []
    for given_keys in (keys, dict(reversed(keys.items()))):
        files.append(tmp_path / f"{len(files)}.rec")
        ca.record(scenario(**given_keys), seed=3).save(files[-1])
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.slow
def test_the_same_bytes_from_another_process(saved, tmp_path):
    code = (
        "import sys; from runs import recording_of; recording_of('migrations').save(sys.argv[1]); "
        "assert 'pickle' not in repr(sys.argv)"
    )
    for seed in ("1", "2"):
        path = tmp_path / f"{seed}.rec"
        where = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": where}
        subprocess.run([sys.executable, "-c", code, path], env=environment, check=True, cwd=tmp_path)
        assert path.read_bytes() == saved


def test_it_is_written_whole_or_not_at_all(saved, tmp_path, monkeypatch):
    path = tmp_path / "run.rec"
    path.write_bytes(b"before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(InputError, match="cannot be written"):
        recording_of("migrations").save(path)
    assert path.read_bytes() == b"before"
    assert [*tmp_path.iterdir()] == [path]


def test_two_in_one_file(tmp_path):
    path = tmp_path / "two.rec"
    save_recordings(path, [recording_of("no policy"), recording_of("migrations")])
    assert [one.meta["policy"]["name"] for one in load_recordings(path)] == ["none", "wal-pm"]
    assert ca.load_recording(path, "wal-pm").title == recording_of("migrations").title
    with pytest.raises(InputError, match=r"it has recordings of 'none' and 'wal-pm', and no policy is given"):
        ca.load_recording(path)
    with pytest.raises(InputError, match=r"and policy = 'jsq'"):
        ca.load_recording(path, "jsq")


def test_what_is_no_file(tmp_path):
    for path, words in ((tmp_path, "a folder"), (tmp_path / "no.rec", "No such file"), ("/dev/zero", "a device")):
        with pytest.raises(InputError, match=words):
            ca.load_recording(path)
    with pytest.raises(InputError, match="path = 3: a path"):
        ca.load_recording(3)


@pytest.mark.parametrize("size", [0, 1, 8, 40, 55])
def test_cut_off_in_its_first_bytes(saved, tmp_path, size):
    line = refused(tmp_path, saved[:size])
    assert line == ": no recording: it does not begin with 'cabm-rec'" if size == 0 else "cut off" in line


def test_cut_off_longer_another_version_damaged(saved, tmp_path):
    assert f"cut off: it has {len(saved) - 1:,} bytes, and says that it has {len(saved):,}" in refused(
        tmp_path, saved[:-1]
    )
    assert "longer than it was written" in refused(tmp_path, saved + b"\0")
    assert refused(tmp_path, b"\x93NUMPY" + saved) == ": no recording: it does not begin with 'cabm-rec'"
    later = saved[:8] + struct.pack("<I", 7) + saved[12:]
    assert refused(tmp_path, later) == ": a recording of version 7: this package reads version 1"
    flipped = bytearray(saved)
    flipped[len(saved) // 2] ^= 1
    assert refused(tmp_path, bytes(flipped)) == ": damaged: its checksum does not fit its bytes"


def test_a_length_beyond_all_limits_is_refused_before_memory_is_taken(tmp_path):
    """A file with a hole of 3 GB."""
    path = tmp_path / "huge.rec"
    length = MOST_BYTES + 1
    path.write_bytes(BEGIN.pack(MAGIC, VERSION, 10, length) + bytes(32))
    os.truncate(path, length)
    tracemalloc.start()
    with pytest.raises(InputError, match="allowed are 2,147,483,648"):
        ca.load_recording(path)
    assert tracemalloc.get_traced_memory()[1] < 2e6
    tracemalloc.stop()


HEADERS = {
    "no JSON": (b"\xff\xfe", "its header is no JSON"),
    "a number that is none": (b"[NaN]", "its header is no JSON: NaN is no number"),
    "nested": (b"[" * 100_000, "its header is no JSON: it is nested too deeply"),
    "no list": (b"{}", "lists no recordings: allowed is a list of 1 to 2"),
    "three": (b"[1, 2, 3]", "lists no recordings"),
    "no table": (b"[4]", "each recording has 'meta', a table, and 'tables', a list"),
    "no list of tables": (b'[{"meta": {}, "tables": 5}]', "'tables' is a list"),
    "a flag": (b'[{"meta": {}, "tables": [["nodes", true, 1, 1]]}]', "[name, bytes, bytes unpacked, rows]"),
    "negative": (b'[{"meta": {}, "tables": [["nodes", -1, 1, 1]]}]', "[name, bytes, bytes unpacked, rows]"),
    "more than there is": (b'[{"meta": {}, "tables": [["nodes", 9, 1, 1]]}]', "tables of 9 bytes: in the file are 0"),
    "a bomb": (
        b'[{"meta": {}, "tables": [["a", 0, 2000000000, 1], ["b", 0, 2000000000, 1]]}]',
        "unpacked: allowed are",
    ),
    "no meta": (b'[{"meta": {}, "tables": []}]', "meta.version: Field required"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_headers_made_by_hand(tmp_path, name):
    text, words = HEADERS[name]
    assert words in refused(tmp_path, made(text, []))


META = {
    "version": 3, "policy": {"name": "x"}, "seed": -1, "slice_ns": 0, "end_ns": 1.5, "is_over": 1, "programs": [1],
    "vertices": ["a"], "loads_not_taken": ["x"], "rules": {"a": ["b"]}, "kept": {}, "detail": [1, 2], "summary": 1,
    "toml": None, "telling_index": "x",
}  # fmt: skip


@pytest.mark.parametrize("name", META)
def test_meta_made_by_hand(saved, tmp_path, name):
    header, frames = parts_of(saved)
    header[0]["meta"][name] = META[name]
    assert f"meta.{name}" in refused(tmp_path, made(header, frames.values())) or name == "telling_index"


def test_tables_that_are_others(saved, tmp_path):
    header, frames = parts_of(saved)
    header[0]["tables"][0][0] = "<script>"
    assert "tables <script>, links" in refused(tmp_path, made(header, frames.values()))
    header, frames = parts_of(saved)
    header[0]["tables"].pop()
    assert "allowed are nodes, links, jobs" in refused(tmp_path, made(header, [*frames.values()][:-1]))
    nodes = recording_of("migrations").tables["nodes"]
    assert "columns vertex, cluster" in refused(tmp_path, with_table(saved, "nodes", nodes.drop_columns(["node"])))
    floats = nodes.set_column(0, "node", nodes["node"].cast(pa.float64()))
    assert "column 'node' has type double: allowed is int32" in refused(tmp_path, with_table(saved, "nodes", floats))
    assert ": 4 rows: 3 are allowed, as the header says" in refused(tmp_path, with_table(saved, "nodes", nodes, 3))


VALUES = {
    ("segments", "from_ns", 0, -5): "column from_ns: -5: allowed is 0 to",
    ("segments", "node", 0, 4): "column node: 4: allowed is 0 to 3",
    ("segments", "what", 0, 9): "column what: 9: allowed is 0 to 8",
    ("segments", "decision", 0, 10**6): "there is no such row of table decisions",
    ("segments", "task", 0, 10**6): "column task: a task that is not in table tasks",
    ("segments", "cpu_ns", 0, None): "column cpu_ns: a value is missing",
    ("segments", "to_ns", 0, 2**63 - 1): "column to_ns: 9,223,372,036,854,775,807: allowed is",
    ("tasks", "job", 0, 10**6): "a job that is not in table jobs",
    ("tasks", "outcome", 0, 3): "column outcome: 3: allowed is -1 to 2",
    ("jobs", "job", 1, 0): "column job: allowed are ascending numbers",
    ("nodes", "x", 0, float("nan")): "column x: a place far outside the unit square",
    ("nodes", "speed", 0, float("inf")): "column speed: a number that is not finite",
    ("nodes", "node", 0, 1): "column node: allowed are 0, 1, 2 and so on",
    ("nodes", "vertex", 0, None): "column vertex: a value is missing",
    ("decisions", "kind", 0, -1): "column kind: -1: allowed is 0 to 3",
    ("decisions", "target", 0, -1): "column target: -1: allowed is 0 to 3",
    ("loads", "at_ns", 0, -1): "column at_ns: -1: allowed is 0 to",
}


@pytest.mark.parametrize("changes", VALUES)
def test_values_that_cannot_be(saved, tmp_path, changes):
    table, name, place, value = changes
    assert VALUES[changes] in refused(tmp_path, with_column(saved, table, name, changed(table, name, place, value)))


def test_segments_that_overlap(saved, tmp_path):
    segments = recording_of("migrations").tables["segments"]
    backwards = segments.take(pa.array(np.arange(segments.num_rows)[::-1]))
    assert "not in the order of task and time" in refused(tmp_path, with_table(saved, "segments", backwards))


def test_places_in_a_dictionary_that_are_not_there(saved, tmp_path):
    """Arrow makes such an array only if it is not looked at."""
    rows = recording_of("migrations").tables["decisions"].num_rows
    bad = pa.DictionaryArray.from_arrays(pa.array([7] * rows, pa.int32()), pa.array(["a"]), safe=False)
    assert "table decisions: no Arrow stream" in refused(tmp_path, with_column(saved, "decisions", "rule", bad))
    missing = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([None], pa.string()))
    assert "column rule: a value is missing" in refused(tmp_path, with_column(saved, "decisions", "rule", missing))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zstd", "lz4"])
def test_a_bomb_inside_an_arrow_buffer_is_not_unpacked(saved, tmp_path, kind):
    """60 MB of zeros are some kilobytes: refused by what the message says, before its buffers are looked at."""
    table = recording_of("migrations").tables["loads"]
    sink = pa.BufferOutputStream()
    zeros = pa.table([pa.nulls(250_000, field.type).fill_null(0) for field in table.schema], schema=table.schema)
    with pa.ipc.new_stream(sink, zeros.schema, options=pa.ipc.IpcWriteOptions(compression=kind)) as writer:
        writer.write_table(zeros, max_chunksize=250_000)
    before = pa.total_allocated_bytes()
    line = refused(tmp_path, with_table(saved, "loads", zeros, stream=bytes(sink.getvalue())))
    assert "table loads: its buffers are compressed one by one: allowed are plain ones" in line
    assert pa.total_allocated_bytes() - before < 1e6


def test_a_frame_that_unpacks_to_another_size(saved, tmp_path):
    for unpacked in (1, 10**8):
        header, frames = parts_of(saved)
        header[0]["tables"][0][2] = unpacked
        words = f": table nodes: damaged, or not {unpacked:,} bytes when it is unpacked"
        assert refused(tmp_path, made(header, frames.values())) == words


def test_names_are_texts_whatever_they_say(saved, tmp_path):
    header, frames = parts_of(saved)
    header[0]["meta"]["scenario"] = header[0]["meta"]["title"] = "<script>alert(1)</script>"
    path = tmp_path / "run.rec"
    path.write_bytes(made(header, frames.values()))
    assert ca.load_recording(path).meta["title"] == "<script>alert(1)</script>"


def check_mutant(data, saved, path):
    path.write_bytes(data)
    try:
        found = ca.load_recording(path)
    except InputError as problem:
        (line,) = problem.problems
        assert line.startswith(str(path))
    else:
        found.save(path)
        again = ca.load_recording(path)
        assert again.tables.keys() == recording_of("migrations").tables.keys()


@settings(max_examples=60)
@given(changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4))
def test_bytes_changed_anywhere(saved, tmp_path_factory, changes):
    data = bytearray(saved)
    for where, value in changes:
        data[int(where * len(data))] = value
    path = tmp_path_factory.getbasetemp() / "mutant.rec"
    path.write_bytes(data)
    if bytes(data) == saved:
        assert ca.load_recording(path).meta == recording_of("migrations").meta
    else:
        with pytest.raises(InputError):
            ca.load_recording(path)


@pytest.mark.slow
@settings(max_examples=80)
@given(
    table=st.sampled_from(["decisions", "nodes", "segments"]),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=6),
    where=st.sampled_from(["head", "whole"]),
)
def test_streams_changed_anywhere_under_a_right_checksum(saved, tmp_path_factory, table, changes, where):
    stream = bytearray(stream_of(recording_of("migrations").tables[table]))
    span = min(2500, len(stream)) if where == "head" else len(stream)
    for place, value in changes:
        stream[int(place * span)] = value
    data = with_table(saved, table, recording_of("migrations").tables[table], stream=bytes(stream))
    check_mutant(data, saved, tmp_path_factory.getbasetemp() / "mutant.rec")
