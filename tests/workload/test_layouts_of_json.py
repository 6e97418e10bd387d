"""Tables in JSON: one document, or an object a line; paths, lists, and what is no JSON."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.traces.layouts import json as document
from cluster_abm.workload.traces.layouts import json_lines, text_rows
from cluster_abm.workload.traces.layouts.blocks import Source
from cluster_abm.workload.traces.layouts.json_paths import steps_of


def blocks_of(module, text, needed, size=1 << 20, **layout):
    data = text if isinstance(text, bytes) else text.encode()
    source = Source(iter([data[at : at + size] for at in range(0, len(data), size)]), "log")
    return list(module.read(source, TableLayout(**layout), needed).blocks)


def one(module, text, needed, **layout):
    """The only block: its columns as lists, its rows, the wrong ones."""
    (block,) = blocks_of(module, text, needed, **layout)
    return {name: cells.to_pylist() for name, cells in block.columns.items()}, block.rows, dict(block.wrong)


DOCUMENT = json.dumps(
    {
        "meta": {"jobs": [{"id": 5}]},
        "jobs": [
            {"id": 1, "time": {"start": 10.5}, "steps": [{"n": "a b"}, {"n": "c"}], "kind": "short", "x.y": 3},
            "no object",
            {"id": 2, "time": {}, "steps": [], "kind": "none such", "ok": True, "x": {"y": 4}},
        ],
        "kinds": {"short": {"length": {"s": 20}}},
    }
)


def test_paths_in_a_document():
    needed = ("id", "time.start", "steps[0].n", "steps[-1].n", "steps[*].n", "ok", "kind.length.s", "kind", "x.y")
    cells, rows, wrong = one(document, DOCUMENT, needed, rows="jobs", lookups={"kind": "kinds"})
    assert cells == {
        "id": [1, 2],
        "time.start": [10.5, None],
        "steps[0].n": ["a b", None],
        "steps[-1].n": ["c", None],
        # Blanks stand between the entries, so none may stand within one.
        "steps[*].n": ["a_b c", ""],
        "ok": [None, "true"],
        # What the column names, in the object elsewhere.
        "kind.length.s": [20, None],
        "kind": ["short", "none such"],
        # A key that is spelled like a path comes first.
        "x.y": [3, 4],
    }
    assert rows == 3
    assert wrong == {"no object": 1}


def test_rows_lie_at_a_path_or_are_the_document():
    assert one(document, DOCUMENT, ("id",), rows="meta.jobs")[0] == {"id": [5]}
    assert one(document, '[{"id": 1}, {"id": "b"}]', ("id",))[0] == {"id": ["1", "b"]}
    nested = '{"c": [{"jobs": [{"id": 1}]}, {"jobs": [{"id": 2}, {"id": 3}]}]}'
    assert one(document, nested, ("id",), rows="c[*].jobs[*]")[0] == {"id": [1, 2, 3]}


@pytest.mark.parametrize(
    ("text", "layout", "said"),
    [
        (
            DOCUMENT,
            {},
            r"log: no list as the document \(file.rows says where the rows are\); there are lists at 'jobs'",
        ),
        (DOCUMENT, {"rows": "kinds"}, "log: no list at 'kinds'"),
        (DOCUMENT, {"rows": "jobs", "lookups": {"kind": "sorts"}}, "log: file.lookups: no object at 'sorts'"),
        ('{"jobs":\n [1 2]}', {}, r"log, line 2: not JSON: Expecting ',' delimiter$"),
        ('{"jobs": [1\n', {}, r"log, line 2: not JSON: Expecting ',' delimiter \(cut off\?\)"),
        ("[" * 100_000, {}, "log: not JSON: nested too deeply"),
        ("[" + "9" * 5000 + "]", {}, "log: not JSON: Exceeds the limit"),
        (b"[\xff]", {}, "log: not JSON: no UTF-8 text"),
        (" \n", {}, "log: empty"),
        ("[1, 2]", {}, r"log: no row can be read: no object \(2\)"),
        ("[]", {}, "log: no row can be read: there is none"),
    ],
)
def test_a_document_that_is_no_table(text, layout, said):
    with pytest.raises(InputError, match=said):
        blocks_of(document, text, ("kind.a",), **layout)


@pytest.mark.parametrize("path", ["a..b", "a[", "a[x]", "[1", ".", "a.", "a]"])
def test_what_is_no_path(path):
    with pytest.raises(InputError, match=r"no path of JSON: allowed: names with \. between"):
        steps_of(path, "log")


def test_numbers_without_a_value_are_not_known():
    cells, _, _ = one(document, '[{"a": NaN, "b": 1}, {"a": 2.5, "b": 1e400}]', ("a", "b"))
    assert cells == {"a": [None, 2.5], "b": [1.0, float("inf")]}


LINES = '{"id": 1, "t": {"s": 0.5}, "u": "x"}\n\n{"id": 2, "t": {"s": 1.5}, "extra": [1]}\r\n{"id": 3}\n'


def test_lines_of_objects():
    cells, rows, wrong = one(json_lines, LINES, ("id", "t.s", "u", "never"))
    assert cells == {"id": [1, 2, 3], "t.s": [0.5, 1.5, None], "u": ["x", None, None], "never": [None] * 3}
    assert (rows, wrong) == (3, {})


def test_lines_that_are_no_object_are_counted():
    cells, rows, wrong = one(json_lines, LINES + '{"id": 4\n[5]\n"six"\n{"id": 7}\n', ("id",))
    assert cells == {"id": [1, 2, 3, 7]}
    assert rows == 7
    assert wrong == {"no JSON": 1, "no object": 2}


def test_a_column_of_several_kinds_is_text():
    assert one(json_lines, '{"a": 1}\n{"a": "b"}\n{"a": [1, 2]}\n{"a": null}\n', ("a",))[0] == {
        "a": ["1", "b", "1 2", None]
    }


def test_a_kind_that_changes_behind_the_first_lines():
    text = '{"a": 1, "b": "x"}\n' * 60 + '{"a": 2.5, "b": 7}\n'
    cells, _, _ = one(json_lines, text, ("a", "b"))
    assert cells == {"a": [1.0] * 60 + [2.5], "b": ["x"] * 60 + ["7"]}


def test_texts_stay_as_they_stand():
    # Pyarrow alone would make times of them.
    assert one(json_lines, '{"t": "2024-05-01 10:00:00"}\n', ("t",))[0] == {"t": ["2024-05-01 10:00:00"]}


def test_a_column_by_its_position():
    for module in (document, json_lines):
        with pytest.raises(InputError, match="log: column 2: each row names its columns: allowed: names"):
            blocks_of(module, '[{"a": 1}]', (2,))


def test_no_line_is_an_object():
    with pytest.raises(InputError, match=r"log: no row can be read: no JSON \(2\)"):
        blocks_of(json_lines, "submit,run\n1,2\n", ("submit",))


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5), st.lists(st.integers(0, 9), max_size=3), st.dictionaries(st.just("b"), st.integers(0, 9)),
)  # fmt: skip
ROWS = st.lists(st.dictionaries(st.sampled_from(["a", "a.b", "c"]), VALUES, max_size=3), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.integers(20, 60))
@pytest.mark.slow
def test_lines_give_what_a_document_gives(rows, size):
    # Whatever pyarrow reads, and in whatever blocks: as texts, the cells are those of the document.
    needed = ("a", "a.b", "c")
    text = "".join(json.dumps(row) + "\n" for row in rows)

    def cells(module, text, size):
        found = {name: [] for name in needed}
        for block in blocks_of(module, text, needed, size):
            for name, column in block.columns.items():
                found[name] += [as_text(value) for value in column.cast(pa.string()).to_pylist()]
        return found

    def as_text(value):
        # 1 in a column of numbers with decimals is 1.0.
        try:
            return float(value)
        except (TypeError, ValueError):
            return value

    assert cells(json_lines, text, size) == cells(document, json.dumps(rows), 1 << 20)


def test_a_file_without_a_row_that_can_be_read_is_given_up_early(monkeypatch):
    monkeypatch.setattr(text_rows, "IN_VAIN", 3)

    def blocks():
        yield b"-\n-\n"
        yield b"-\n-\n"
        pytest.fail("read on behind four rows in vain")

    table = json_lines.read(Source(blocks(), "log"), TableLayout(kind="json-lines"), ("a",))
    with pytest.raises(InputError, match=r"log: no row can be read: no JSON \(4\)"):
        list(table.blocks)


def test_rows_that_can_be_read_behind_many_that_cannot_are_read(monkeypatch):
    monkeypatch.setattr(text_rows, "IN_VAIN", 3)
    blocks = iter([b"-\n-\n", b'{"a": 1}\n', b"-\n-\n", b'{"a": 2}\n'])
    table = json_lines.read(Source(blocks, "log"), TableLayout(kind="json-lines"), ("a",))
    assert sum(len(block.columns["a"]) for block in table.blocks) == 2
