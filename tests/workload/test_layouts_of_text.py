"""Tables in text that are no CSV, as their layouts give them: cells by hand, whatever blocks the file comes in."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.traces.layouts.blocks import Source
from cluster_abm.workload.traces.layouts.opening import completed_by

SIZES = (1, 7, 1 << 20)  # bytes of a block


def table(kind, text, needed, size=1 << 20, **layout):
    """The cells of the needed columns, the rows of the file, and the wrong ones by reason."""
    data = text if isinstance(text, bytes) else text.encode()
    source = Source(iter([data[at : at + size] for at in range(0, len(data), size)]), "log")
    found = import_module(f"cluster_abm.workload.traces.layouts.{kind}").read(source, TableLayout(**layout), needed)
    cells = {column: [] for column in needed}
    wrong, rows = Counter(), 0
    for block in found.blocks:
        assert all(len(block.columns[column]) == block.rows - sum(block.wrong.values()) for column in needed)
        for column in needed:
            cells[column] += block.columns[column].to_pylist()
        rows += block.rows
        wrong.update(block.wrong)
    return cells, rows, dict(wrong)


@pytest.mark.parametrize("size", SIZES)
def test_blanks_with_a_header(size):
    cells, rows, wrong = table(
        "blanks", "id  submit\tcores\n\n 1 5.5   2\r\n2\t6\t4\n3 7\n4 8 1 x\n", ("cores", 1), size
    )
    assert cells == {"cores": ["2", "4"], 1: ["1", "2"]}
    assert rows == 4
    assert wrong == {"2 cells where 3 are expected": 1, "4 cells where 3 are expected": 1}


@pytest.mark.parametrize("size", SIZES)
def test_blanks_with_names_and_remarks(size):
    text = "# Version 2\n#id submit\n1 5\n  # later\n2 6"
    cells, rows, wrong = table("blanks", text, ("submit", 1), size, remark="#", header=False, names=["id", "submit"])
    assert cells == {"submit": ["5", "6"], 1: ["1", "2"]}
    assert (rows, wrong) == (2, {})


def test_blanks_without_names_are_asked_for_by_position():
    assert table("blanks", "1 5\n2 6\n", (2,), header=False) == ({2: ["5", "6"]}, 2, {})
    with pytest.raises(InputError, match=r"log: column 3 is not there: allowed 1 to 2"):
        table("blanks", "1 5\n2 6\n", (3,), header=False)
    with pytest.raises(InputError, match=r"log: column 'start' is not there; there are: id, submit"):
        table("blanks", "id submit\n1 2\n", ("start",))


def test_a_table_with_fewer_cells_than_the_map_has_names():
    named = {"header": False, "separator": ",", "names": ["id", "submit", "cores"]}
    assert table("table", "1,5\n2,6\n", ("Submit",), **named) == ({"Submit": ["5", "6"]}, 2, {})
    with pytest.raises(InputError, match=r"log: column 'cores' is number 3: the first row has 2 cells$"):
        table("table", "1,5\n2,6\n", ("cores",), **named)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file(text):
    with pytest.raises(InputError, match=r"log: (empty|only remarks)"):
        table("blanks", text, (1,))


def test_a_file_of_remarks_alone():
    with pytest.raises(InputError, match="log: only remarks: allowed: rows behind them"):
        table("blanks", "# nothing\n#\n", (1,), remark="#")


LISTS = {"header": False, "names": ["kind", "hosts", "host[hosts]", "pairs", "pair[2*pairs]", "end"]}


@pytest.mark.parametrize("size", SIZES)
def test_cells_that_count_others(size):
    text = (
        '"J" 2 "n1" "n2" 1 k v "done"\n'
        "J 0 0 at-once\n"  # both lists are empty
        'J 1 "a ""b""  c" 2 k v "" w late more cells\n'
        "J 1 n3 0\n"  # ends early: an older version
    )
    cells, rows, wrong = table("counted", text, ("host", "pair", "end", 2), size, **LISTS)
    assert cells == {
        "host": ["n1 n2", "", 'a "b"  c', "n3"],
        "pair": ["k v", "", "k v  w", ""],
        "end": ["done", "at-once", "late", None],
        2: ["2", "0", "1", "1"],
    }
    assert (rows, wrong) == (4, {})


def test_rows_whose_counts_are_wrong_are_counted_by_reason():
    text = 'J 0 0 fine\nJ 3 n1 n2\nJ many n1\nJ -1 0 x\n"J 0 0 x\nJ 1 n1\nJ\n'
    cells, rows, wrong = table("counted", text, ("end",), **LISTS)
    assert cells == {"end": ["fine"]}
    assert rows == 7
    assert wrong == {"ends within its lists": 3, "a count that is no number": 2, "a quote that is not closed": 1}


def test_counted_cells_with_a_separator():
    names = {"header": False, "separator": ":", "names": ["a", "b", "c"]}
    # Cells that no row has are null; quotes are plain characters where they enclose nothing.
    cells, rows, _ = table("counted", 'x::z:more\n#\n"p:q"\n', ("b", "c"), quoted=False, remark="#", **names)
    assert cells == {"b": ["", 'q"'], "c": ["z", None]}
    assert rows == 2
    cells, _, _ = table("counted", '"p:q":2:""\n', ("a", "b", "c"), **names)
    assert cells == {"a": ["p:q"], "b": ["2"], "c": [""]}


def test_a_list_needs_a_count_before_it():
    with pytest.raises(InputError, match=r"log: file.names: 'b\[c\]': allowed within \[\]: a name before it"):
        table("counted", "1 2\n", ("a",), header=False, names=["a", "b[c]"])


def test_bytes_of_another_encoding_do_no_harm():
    assert table("counted", b'J 0 0 "caf\xe9"\n', ("kind", "end"), **LISTS)[0] == {"kind": ["J"], "end": ["caf�"]}


@pytest.mark.parametrize("size", SIZES)
def test_pairs_behind_cells(size):
    text = (
        'day 1;E;7;user=ann select=2:cpus=4 note="two words" alone end=9\n'
        "\n"
        "day 1;Q;8;\n"  # no pair
        "day 2;L\n"
        "day 2;E;9;end=1;end=2\n"  # separators in a value
    )
    needed = ("id", "select", "note", "end", 1)
    cells, rows, wrong = table("pairs", text, needed, size, names=["day", "event", "id"])
    assert cells == {
        "id": ["7", "8", "9"],
        "select": ["2:cpus=4", None, None],
        "note": ["two words", None, None],
        "end": ["9", None, "1;end=2"],
        1: ["day 1", "day 1", "day 2"],
    }
    assert rows == 4
    assert wrong == {"2 cells where 4 are expected": 1}


def test_pairs_have_no_positions():
    with pytest.raises(
        InputError, match="log: column 4: allowed: 1 to 3, which the layout names, or the key of a pair"
    ):
        table("pairs", "a;b;c;d=1\n", (4,), names=["x", "y", "z"])


@pytest.mark.parametrize("size", SIZES)
def test_attributes(size):
    text = (
        "-- Schedd: here\n"
        'Id = 7\nCmd = "run \\"it\\" a=b"\nReq = (A == 1)\n'
        "\n\n"
        "id=8\ncmd = undefined\nOn = true\n"
        "*** Offset = 0 Id = 9\n"
        "no attribute\nId = 10\n"
        "\n"
        "Id = 11"
    )
    cells, rows, wrong = table("attributes", text, ("Id", "Cmd", "req", "on"), size)
    assert cells == {
        "Id": ["7", "8", "11"],
        "Cmd": ['run "it" a=b', None, None],
        "req": ["(A == 1)", None, None],
        "on": [None, "true", None],
    }
    assert rows == 4
    assert wrong == {"a line that is not KEY = VALUE": 1}


def test_attributes_have_no_positions():
    with pytest.raises(InputError, match="log: column 1: each row names its columns: allowed: names"):
        table("attributes", "A = 1\n", (1,))


@pytest.mark.parametrize(
    ("kind", "text", "layout", "said"),
    [
        ("blanks", "a b\n1\n2\n1 2 3\n", {}, r"1 cells where 2 are expected \(2\); 3 cells where 2 are expected \(1\)"),
        ("counted", 'a "b\n', {"header": False, "names": ["a"]}, r"a quote that is not closed \(1\)"),
        ("pairs", "no pairs\n", {"names": ["a", "b"]}, r"1 cells where 3 are expected \(1\)"),
        ("attributes", "Dear all,\n\nthis is a letter.\n", {}, r"a line that is not KEY = VALUE \(2\)"),
    ],
)
def test_a_file_of_which_no_row_can_be_read(kind, text, layout, said):
    with pytest.raises(InputError, match=rf"^log: no row can be read: {said}$"):
        table(kind, text, ("a",), **layout)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b'MyType = "Job"\nClusterId = 1\n', "attributes"),
        (b"*** Offset = 0 ClusterId = 1\n", "attributes"),
        (b"id submit\n1 2\n", "blanks"),
        (b"a = b, c\n1,2\n", "attributes"),
        (b"a=b,c\n1,2\n", "table"),
        (b'[{"a": 1}]', "json"),
        (b'{"a": 1}\n{"a": 2}\n', "json-lines"),
        (b'{\n"a": [1]}', "json"),
    ],
)
def test_the_kind_is_told_by_the_first_line(head, kind):
    assert completed_by(head, TableLayout()).kind == kind


def test_no_layout_opens_more_than_a_part_of_the_file_at_a_time():
    # Each block of the file is one block of the table, of this size at most.
    data = b"1 2\n" * 1000
    read = []

    def blocks():
        for at in range(0, len(data), 400):
            read.append(at)
            yield data[at : at + 400]

    found = import_module("cluster_abm.workload.traces.layouts.blanks").read(
        Source(blocks(), "log", Path()), TableLayout(header=False), (1,)
    )
    assert next(iter(found.blocks)).rows == 100
    assert len(read) <= 2
