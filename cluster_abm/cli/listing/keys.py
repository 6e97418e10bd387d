"""`scenarios --keys`: every key by its section; what a distribution is, once."""

from __future__ import annotations

import inspect
import re
from typing import Any

from cluster_abm.cli.listing.lines import columns, echo_entries, echo_text
from cluster_abm.cli.output import echo
from cluster_abm.errors import InputError
from cluster_abm.json_text import json_line

IS_DRAWN = " (a distribution)"


def list_keys(wanted: str, as_json: bool) -> None:
    """Print the keys that have a text in their name or meaning. Raises InputError if none has."""
    from cluster_abm.scenario import nearest, scenario_keys
    from cluster_abm.scenario.wording.keys import keys_with

    words = wanted.strip().lower()
    found = keys_with(words)
    if not found:
        parts = sorted({part for entry in scenario_keys() for part in entry["key"].split(".")})
        hint = nearest(words[:100], parts)
        hint = hint if hint.startswith("did") else "--keys without a text lists all"
        raise InputError(f"--keys {wanted[:100]!r}: no key has this in its name or meaning; {hint}")
    if as_json:
        from cluster_abm.json_text import to_json

        echo(to_json(found), nl=False)
        return
    _show(found)


def _show(found: list[dict[str, Any]]) -> None:
    from cluster_abm.scenario.wording.keys import distributions, section_meanings

    drawn, meanings = distributions(), section_meanings()
    own = {f"{key}.{name}" for key, one in drawn.items() for name in ("kind", *one.PARAMETERS)}
    shown: dict[str, list[tuple[str, str]]] = {}
    for entry in found:
        key = entry["key"]
        base = key.rpartition(".")[0]
        section = key.partition(".")[0] if "." in key else "(top level)"
        entries = shown.setdefault(section, [])
        if key in own:
            line = (f"{base} = {_drawn(drawn[base])}", meanings[base] + IS_DRAWN)
            if line not in entries:
                entries.append(line)
        else:
            # The meaning of the section that the key is in follows in brackets, in the list for programs.
            meaning = entry["meaning"].split(f" ({base}: ")[0]
            entries.append((f"{key} = {_default(entry['default'])}", meaning + _allowed(entry["allowed"])))
    for section, entries in shown.items():
        echo(f"[{section}]" if section[0] != "(" else section)
        for shown_line, said in entries:
            echo(f"  {shown_line}"[: columns()])
            echo_text(said, 6)
        if section == "policy":
            echo("  policy.PARAMETER\n      parameters of the policy: cluster-abm policies NAME")
        echo()
    if any(meaning.endswith(IS_DRAWN) for entries in shown.values() for _, meaning in entries):
        _explain_distributions()


def _explain_distributions() -> None:
    from cluster_abm.scenario.distributions import Distribution

    echo("distributions: KEY.kind is one of these, and KEY.PARAMETER its parameters, in the unit of the key")
    text = inspect.getdoc(Distribution) or ""
    kinds = {
        name: " ".join(words.split())
        for name, words in re.findall(
            r"^  (\w+)  +(\S[\s\S]*?)(?=^  \w|\Z)", text.partition("kind:\n")[2], re.MULTILINE
        )
    }
    echo_entries([(f"{kind} ({', '.join(uses)})", kinds.get(kind, "")) for kind, uses in Distribution.USES.items()])
    fields = Distribution.model_fields
    echo_entries([(name, fields[name].description or "") for name in Distribution.PARAMETERS])
    echo("  e.g. --set workload.cpu_ms.kind=gamma --set workload.cpu_ms.mean=500 --set workload.cpu_ms.sd=900")


def _drawn(found: Any) -> str:
    """A distribution in a line."""
    given = [f"{name} {_default(getattr(found, name))}" for name in found.USES[found.kind]]
    return f"{found.kind}, {', '.join(given)}"


def _default(value: Any) -> str:
    return "not set" if value is None else json_line(value)


def _allowed(values: list[Any]) -> str:
    return f" [{' | '.join(map(str, values))}]" if values else ""
