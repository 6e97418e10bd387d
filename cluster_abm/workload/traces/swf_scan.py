"""The plain lines of an SWF log, read by compiled code: 18 decimal numbers with blanks between them."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Bytes, Floats, Integers
from cluster_abm.jit import kernel

PLAIN, ODD = 1, 0
# A whole number below 2^53 and a power of ten up to 10^15 are floats without an error, so their quotient is the float
# nearest to the decimal number, as Python's own reader finds it.
MOST_DIGITS = 15
POWERS: Floats = np.power(10.0, np.arange(MOST_DIGITS + 1), dtype=np.float64)
SPACE, TAB, LINE_FEED, RETURN, MINUS, POINT, ZERO, NINE = b" \t\n\r-.09"


@kernel
def scan_lines(
    text: Bytes, value_rows: Integers, fields: int, powers: Floats, values: Floats, begins: Integers, kinds: Bytes
) -> int:
    r"""Find the lines of a block, which end with \n, \r or both, and read those that are plain.

    A line is plain if it has exactly this many fields, each a decimal number of at most 15 digits such as 7, -1 or
    80.25. Any other line (remarks, blank lines, lines cut short, exponents) is odd: only its place is noted.

    Args:
        text: the block, shape (bytes,); its last line need not have an end.
        value_rows: for each field of a line the row of `values` that it goes to, -1 for none, shape (fields,).
        fields: of a plain line.
        powers: POWERS.
        values: for the fields in use, shape (fields in use, at least as many as there are lines).
        begins: for the first byte of each line, shape (at least lines + 1,); behind the last the block's end.
        kinds: for PLAIN or ODD of each line, shape (at least lines,).

    Returns:
        how many lines there are.
    """
    size = len(text)
    at, line = 0, 0
    while at < size:
        begins[line] = at
        field = 0
        is_plain = True
        while at < size and text[at] != LINE_FEED and text[at] != RETURN:
            byte = text[at]
            if byte in (SPACE, TAB):
                at += 1
                continue
            is_negative = byte == MINUS
            if is_negative:
                at += 1
            whole, digits, decimals, points = 0, 0, 0, 0
            while at < size:
                byte = text[at]
                if ZERO <= byte <= NINE:
                    whole = whole * 10 + (int(byte) - ZERO)
                    digits += 1
                    decimals += points
                elif byte == POINT:
                    points += 1
                else:
                    break
                at += 1
            # A number too long wraps around in `whole`, which is not used then.
            ends = at == size or byte in (SPACE, TAB, LINE_FEED, RETURN)
            if not ends or digits == 0 or digits > MOST_DIGITS or points > 1 or field == fields:
                is_plain = False
                break
            if value_rows[field] >= 0:
                value = float(whole)
                if decimals > 0:
                    value /= powers[decimals]
                values[value_rows[field], line] = -value if is_negative else value
            field += 1
        while at < size and text[at] != LINE_FEED and text[at] != RETURN:
            at += 1
        kinds[line] = PLAIN if is_plain and field == fields else ODD
        if at < size:
            at += 2 if text[at] == RETURN and at + 1 < size and text[at + 1] == LINE_FEED else 1
        line += 1
    begins[line] = size
    return line
