"""A proposed map as a TOML file, with a comment for each field: how sure it is, and by what."""

from __future__ import annotations

from typing import Any

import tomli_w

from cluster_abm.workload.traces.guessing.proposal import THRESHOLD, Guess


def map_text(proposed: Guess, where: str, known: str = "") -> str:
    """The TOML of a map; read by `--map`.

    Args:
        proposed: the map.
        where: the name of the file that it was guessed for.
        known: the shipped map that it is, if it was not guessed.
    """
    lines = [
        f"# Proposed for {where!r} by names and values: check it before you use it.",
        "# Behind each field: how sure the guess is (0 to 1), and by what.",
    ]
    if known:
        lines = [f"# The shipped map {known}, by which {where!r} is read without an option."]
    entries = {_key(key): (value, key) for key, value in proposed.map.items() if key != "resources"}
    for key, value in proposed.map.get("resources", {}).items():
        entries[f"resources.{_key(key)}"] = value, f"resources.{key}"
    for key, (value, name) in entries.items():
        said = f"  # {proposed.sure[name]:.2f}: {proposed.why[name]}" if name in proposed.sure and not known else ""
        lines.append(f"{key} = {_inline(value)}{said}")
    if proposed.unsure:
        lines.append(f"# Left empty, because the guess is less sure than {THRESHOLD}:")
        lines += [f"# {key}: {words}" for key, words in proposed.unsure.items()]
    if proposed.missing:
        lines.append("# Missing: submit, or start, or end and run. Without one of them no row is a job.")
    return "\n".join(lines) + "\n"


def _inline(value: Any) -> str:
    """A value in one line of TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_inline(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_inline(entry) for entry in value) + "]"
    return tomli_w.dumps({"value": value}).partition("=")[2].strip()


def _key(key: str) -> str:
    return tomli_w.dumps({key: 0}).partition(" =")[0]
