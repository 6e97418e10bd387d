"""Lines of a log that compiled code reads hold the numbers that Python reads in them, bit by bit."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.swf_lines import FIELDS, USED, VALUE_ROWS, read_log
from cluster_abm.workload.traces.swf_scan import PLAIN, POWERS, scan_lines

decimals = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: f"{value:.6f}"),
    st.floats(0, 1e8).map(repr),
    st.from_regex(r"-?[0-9]{1,8}(\.[0-9]{0,7})?", fullmatch=True),
)
# What is no plain number: other readers' spellings, marks, too many digits.
odd_cells = st.sampled_from(
    ["1e3", "+7", "1." + "9" * 16, "0." + "1" * 16, "00000000000000000001", "-0", ".5", "5.", "1E2"]
)
gaps = st.sampled_from([" ", "  ", "\t", " \t ", "\v"])
ends = st.sampled_from(["\n", "\r\n", "\r", " \n", " ; a remark\n"])
cells_of_a_line = st.lists(st.one_of(decimals, decimals, decimals, odd_cells), min_size=FIELDS, max_size=FIELDS + 2)
whole_numbers = [place for name, place in USED.items() if name.endswith("processors")]


@st.composite
def log_lines(draw: st.DrawFn) -> tuple[list[list[str]], str]:
    """Cells of some lines, and the lines as they may be written."""
    rows, text = [], ""
    for _ in range(draw(st.integers(1, 6))):
        cells = draw(cells_of_a_line)
        for place in whole_numbers:
            cells[place] = str(draw(st.integers(-1, 2**31 - 1)))
        rows.append(cells)
        text += draw(st.sampled_from(["", " ", "; remark\n", "\n"]))
        text += draw(gaps).join(cells) + draw(ends)
    return rows, text


def bits(value: float) -> bytes:
    return struct.pack("d", value)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(log_lines())
@example(([["-0"] * FIELDS], " ".join(["-0"] * FIELDS)))
def test_every_number_is_pythons_to_the_last_bit(drawn: tuple[list[list[str]], str]) -> None:
    rows, text = drawn
    log = read_log(Lines([text.encode()], "a.swf"))
    for name, place in USED.items():
        assert list(map(bits, log.columns[name].tolist())) == [bits(float(cells[place])) for cells in rows]
    assert log.longer == sum(len(cells) > FIELDS for cells in rows)


@pytest.mark.parametrize(
    ("line", "is_plain"),
    [
        ("1 " * 18, True),
        ("\t-1.25 " * 18, True),
        ("1 " * 17, False),
        ("1 " * 19, False),
        ("1 " * 17 + "1;", False),
        ("; " + "1 " * 18, False),
        ("1 " * 17 + "1e5", False),
        ("1 " * 17 + "-", False),
        ("1 " * 17 + ".", False),
        ("1 " * 17 + "1.2.3", False),
        ("1 " * 17 + "1-2", False),
        ("1 " * 17 + "1234567890123456", False),
        ("1 " * 17 + "123456789.012345", True),
        ("", False),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
def test_which_lines_are_plain(line: str, is_plain: bool, end: str) -> None:
    text = np.frombuffer(f"7\n{line}{end}".encode(), np.uint8)
    values, begins, kinds = np.full((len(USED), 5), math.nan), np.zeros(6, np.int64), np.zeros(5, np.uint8)
    count = scan_lines(text, VALUE_ROWS, FIELDS, POWERS, values, begins, kinds)
    assert count == (2 if line or end else 1)
    assert begins[:2].tolist() == [0, 2]
    assert begins[count] == len(text)
    assert (kinds[1] == PLAIN) == is_plain
    assert kinds[0] != PLAIN
    assert not np.isnan(values[:, 1]).any() or not is_plain
