"""Pages of the reference that are made from the package itself while the site is built, so that they cannot rot.

A page of docs/reference is hand-written Markdown. A line of its own such as

    % generated: keys

is replaced by the Markdown that the function of that name in PARTS returns; words after the name are its arguments.
Nothing is written to disk. A name that there is not is an error, so that no page stays empty unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import commands, formulas, keys, maps, policies, scenarios, scenes, tables

if TYPE_CHECKING:
    from sphinx.application import Sphinx

MARK = re.compile(r"^% generated: (?P<part>[a-z-]+)(?P<arguments>( [\w.-]+)*)$", re.MULTILINE)

PARTS: Mapping[str, Callable[..., str]] = {
    "keys": keys.all_keys,
    "distributions": keys.distributions,
    "commands": commands.all_commands,
    "metrics": tables.metrics,
    "columns": tables.columns,
    "summary": tables.summary,
    "load-indices": tables.load_indices,
    "old-names": tables.old_names,
    "trace-formats": tables.trace_formats,
    "map-keys": maps.keys_of,
    "maps": maps.of_shipped,
    "maps-tried": maps.tried,
    "policies": policies.overview,
    "policies-of": policies.of_family,
    "policy-rule": policies.rule_of,
    "formulas": formulas.overview,
    "formulas-of-modules": formulas.of_module,
    "python-surface": formulas.surface,
    "scenarios": scenarios.scenarios,
    "networks": scenarios.networks,
    "hardware": scenarios.hardware,
    "programs": scenarios.programs,
    "studies": scenarios.studies,
    "reproductions": scenarios.reproductions,
    "scene-keys": scenes.keys_of,
    "scene-placeholders": scenes.placeholders,
}


def filled(text: str) -> str:
    """The text of a page with its generated parts."""
    return MARK.sub(lambda mark: PARTS[mark["part"]](*mark["arguments"].split()), text)


def _fill(_app: Sphinx, _page: str, source: list[str]) -> None:
    source[0] = filled(source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx fill the pages. Pages that are made from the package are read anew at each build."""
    app.connect("source-read", _fill)
    app.connect("env-get-outdated", _generated_pages)
    app.connect("autodoc-skip-member", _is_no_news)
    # After napoleon, which has the usual priority.
    app.connect("autodoc-process-docstring", _keep_names_together, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _is_no_news(_app: Sphinx, _what: str, _name: str, value: Any, _skip: bool, _options: Any) -> bool | None:
    """Leave out fields of named tuples, which the list of attributes describes."""
    return True if str(getattr(value, "__doc__", "")).startswith("Alias for field number") else None


def _keep_names_together(_app: Sphinx, _what: str, _name: str, _value: Any, _options: Any, lines: list[str]) -> None:
    """Of attributes that are described together, Sphinx would take all names but the last for a type."""
    lines[:] = [re.sub(r"^:ivar ([^:]+):", lambda names: names[0].replace(", ", ","), line) for line in lines]


def _generated_pages(app: Sphinx, *_: Any) -> list[str]:
    return [
        page for page in app.env.found_docs
        if (path := app.env.doc2path(page)).suffix == ".md" and MARK.search(path.read_text(encoding="utf-8"))
    ]  # fmt: skip
