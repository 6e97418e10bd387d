"""Values as a command line gives them."""

from __future__ import annotations

import tomllib

from cluster_abm.errors import InputError
from cluster_abm.scenario.filling.toml_file import too_much


def value_of(text: str) -> object:
    """A value as TOML writes it; what is none is a string. Raises InputError for nesting and numbers without end."""
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    except (RecursionError, ValueError) as problem:
        # ValueError: Python does not read an integer with too many digits.
        raise InputError(f"{text[:40]!r} ...: cannot be read as a TOML value: {too_much(problem)}") from None
    return parsed["value"] if list(parsed) == ["value"] else text
