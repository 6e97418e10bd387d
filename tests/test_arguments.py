"""Arguments of a caller: the values that each kind accepts, and how a message shows a wrong value."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from cluster_abm.arguments import (
    CALLABLE_OR_NONE,
    COUNT,
    FLAG,
    NUMBER,
    PATH,
    TABLE,
    TEXT,
    TIME_OR_NONE,
    check_arguments,
    from_on,
    of_class,
    or_none,
    shortened,
    whole_number,
)
from cluster_abm.errors import InputError


@pytest.mark.parametrize(("value", "number"), [
    (3, 3), (-3, -3), (0, 0), (np.int64(7), 7), (True, None), (False, None), (3.0, None), ("3", None), (None, None),
])  # fmt: skip
def test_a_whole_number(value, number):
    assert whole_number(value) == number


@pytest.mark.parametrize(("kind", "fits", "does_not"), [
    (COUNT, [1, 2, np.int32(1)], [0, -1, True, 1.0, None, "1"]),
    (from_on(0), [0, 5], [-1, False, None]),
    (FLAG, [True, False], [0, 1, None, "True"]),
    (TEXT, ["", "a"], [b"a", Path("a"), None]),
    # pathlib takes the empty text for the current folder; a user does not mean a file by it.
    (PATH, ["a", Path("a"), "a/b"], ["", "a\0b", b"a", "\ud800", None, 3]),
    (NUMBER, [0, 2.5, math.nan, -math.inf, np.float32(1), np.int8(3)], ["2.5", b"2", True, None, [1], 1j, 10**400]),
    (TABLE, [{}, {"a": 1}], [[("a", 1)], "a", None]),
    (of_class(int, str), [3, "a"], [2.5, None, b"a"]),
    (or_none(COUNT), [None, 1], [0, "1"]),
    (CALLABLE_OR_NONE, [None, len, str], [3, "len"]),
    (TIME_OR_NONE, [None, 0, 0.0, 1e300], [-0.001, math.inf, math.nan, "5", True]),
])  # fmt: skip
def test_the_values_of_a_kind(kind, fits, does_not):
    assert [value for value in fits if not kind.fits(value)] == []
    assert [value for value in does_not if kind.fits(value)] == []


def test_the_words_of_kinds():
    assert from_on(3).words == "a whole number from 3 on"
    assert or_none(COUNT).words == "a whole number from 1 on or None"
    assert of_class(int, str).words == "a int or a str"


def test_all_wrong_arguments_are_reported_at_once():
    check_arguments(seeds=(8, COUNT), quiet=(False, FLAG))
    with pytest.raises(InputError) as caught:
        check_arguments(seeds=("8", or_none(COUNT)), quiet=(False, FLAG), name=(3, TEXT))
    assert caught.value.problems == [
        "seeds = '8': a whole number from 1 on or None is needed", "name = 3: a text is needed"
    ]  # fmt: skip


class Unwritable:
    def __repr__(self):
        raise ZeroDivisionError


@pytest.mark.parametrize(("value", "quote", "text"), [
    ("a", "'", "'a'"), ("a", "", "a"), (3, "", "3"), (None, "'", "None"),
    # Several lines become one, in a text and in an array.
    ("a\n  b", "", "a b"), (np.array([[1], [2]]), "'", "array([[1], [2]])"),
    (Unwritable(), "'", "a Unwritable that cannot be written"),
])  # fmt: skip
def test_a_value_in_a_message(value, quote, text):
    assert shortened(value, quote) == text


@pytest.mark.parametrize(("letters", "text"), [
    # Up to 120 letters are shown. A longer text has its first 108 letters, " ... ", and its last 6.
    (120, "a" + "b" * 118 + "c"), (121, "a" + "b" * 107 + " ... " + "b" * 5 + "c"),
])  # fmt: skip
def test_a_long_value_has_its_middle_left_out(letters, text):
    assert shortened("a" + "b" * (letters - 2) + "c", "") == text
