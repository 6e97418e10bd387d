"""Settings in the page's address: `?policy=jsq&nodes=64`, of what differs from the scenario's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from urllib.parse import parse_qsl, urlencode

from viz.controls import CHOICES, FIELDS, chosen, plain
from viz.settings import Settings

MOST = 8000


def query_of(settings: Settings, first: Settings) -> str:
    """The query of settings, without "?"; `first` are those that need none."""
    was = asdict(first)
    changed = {name: value for name, value in asdict(settings).items() if value != was[name]}
    return urlencode({name: value if isinstance(value, str) else plain(value) for name, value in changed.items()})


def texts_of(query: object, offered: Mapping[str, list[str]]) -> tuple[dict[str, str], dict[str, str]]:
    """What a query says: choices by name, as the settings have them, and texts of numbers by name.

    What is no control, and what no list offers, is left out; a query that is none says nothing.

    Args:
        query: from the browser, with "?" or without.
        offered: the values of each list.
    """
    if not isinstance(query, str) or len(query) > MOST:
        return {}, {}
    try:
        given = dict(parse_qsl(query.removeprefix("?"), keep_blank_values=True, max_num_fields=40))
    except ValueError:
        return {}, {}
    choices = {"script": given["script"]} if "script" in given else {}
    choices |= {
        name: chosen(name, value)
        for name in CHOICES
        if (value := given.get(name)) is not None and (value in offered[name] or (value == "" and name != "policy"))
    }
    return choices, {name: text for name, text in given.items() if name in FIELDS}
