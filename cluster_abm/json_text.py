"""JSON as every document of this package is written: one writer, at the bottom of the layers so that all may use it.

JSON has no word for numbers that are not finite. Infinity is written as scenarios take it, "inf"; what is not a number
is null.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

# Texts of the system's, such as names of files, may hold bytes that are no UTF-8; JSON can write them as escapes.
_NO_UTF8 = re.compile("[\ud800-\udfff]")


def to_json(document: object) -> str:
    """A document as JSON text, indented, that ends with a newline."""
    return _escaped(json.dumps(json_value(document), indent=2, allow_nan=False, ensure_ascii=False)) + "\n"


def json_line(value: object) -> str:
    """A value as JSON text in one line."""
    return _escaped(json.dumps(json_value(value), allow_nan=False, ensure_ascii=False))


def json_value(value: Any) -> Any:
    """A value as JSON holds it: tables, lists, texts, numbers, true, false, null.

    >>> json_value({"quantum_ms": math.inf, "mean": math.nan, "nodes": (1, 2)})
    {'quantum_ms': 'inf', 'mean': None, 'nodes': [1, 2]}
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, Mapping):
        return {str(name): json_value(entry) for name, entry in value.items()}
    if isinstance(value, Sequence | Set):
        return [json_value(entry) for entry in value]
    if hasattr(value, "tolist"):
        # numpy's scalars and arrays.
        return json_value(value.tolist())
    # Paths, and the dates and times that TOML has.
    return str(value)


def _escaped(text: str) -> str:
    return _NO_UTF8.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
