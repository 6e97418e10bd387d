"""JSON of this package: values that JSON does not have, indentation, and letters outside ASCII."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from cluster_abm.json_text import json_line, json_value, to_json


@pytest.mark.parametrize(("value", "written"), [
    (None, None), (True, True), (3, 3), ("a", "a"), (2.5, 2.5), (0.0, 0.0),
    (math.inf, "inf"), (-math.inf, "-inf"), (math.nan, None),
    ((1, 2), [1, 2]), ({7}, [7]), ([], []), ({3: {"a": (math.inf,)}}, {"3": {"a": ["inf"]}}),
    (np.float64(2.5), 2.5), (np.float32(math.inf), "inf"), (np.array([1.0, math.nan]), [1.0, None]),
    (np.bool_(True), True), (Path("a/b"), "a/b"),
])  # fmt: skip
def test_the_json_of_a_value(value, written):
    found = json_value(value)
    assert found == written
    assert isinstance(found, type(written))


def test_a_document_is_indented_and_ends_with_a_line_break():
    assert to_json({"a": [1], "b": "\u00e9"}) == '{\n  "a": [\n    1\n  ],\n  "b": "\u00e9"\n}\n'


def test_a_line_is_one_line():
    assert json_line({"a": [1, 2], "b": "\u00e9\n"}) == '{"a": [1, 2], "b": "\u00e9\\n"}'


@pytest.mark.parametrize("write", [to_json, json_line])
@pytest.mark.parametrize("number", [0xD800, 0xDCFF, 0xDFFF])
def test_surrogates_are_escaped(write, number):
    text = write([f"a{chr(number)}"])
    assert f"\\u{number:x}" in text
    text.encode("utf-8")
    assert json.loads(text) == [f"a{chr(number)}"]
