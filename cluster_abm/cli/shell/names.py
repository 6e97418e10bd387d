"""Names that the shell completes.

Found without an import of the policies or of the model, which take longer than one waits for a completion: names of
policies, of their parameters and of metrics are read off the sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from cluster_abm.found_modules import TRACE_MAPS

PACKAGE = Path(__file__).parents[2]
NAME = re.compile(r'^    name(?:: ClassVar\[str\])? = "([a-z0-9-]+)"$', re.MULTILINE)
SUMMARY = re.compile(r'^    summary(?:: ClassVar\[str\])? = "(.+)"$', re.MULTILINE)
PARAMETER = re.compile(r"^        ([a-z_]+): .*= (?:Field\(|\S)", re.MULTILINE)
METRIC = re.compile(r'Metric\(\s*"(\w+)"')

Items = list[CompletionItem]


def scenarios(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Shipped scenarios, and TOML files of the current folder; else any file."""
    own = [path.name for path in Path().glob("*.toml")]
    return _matching(incomplete, [*_shipped("", "toml"), *sorted(own)]) or _files(incomplete)


def trace_maps(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Maps of columns, and TOML files of the current folder; else any file."""
    own = [path.name for path in Path().glob("*.toml")]
    return _matching(incomplete, [*TRACE_MAPS, *sorted(own)]) or _files(incomplete)


def scenes(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Shipped guided scenes, and TOML files of the current folder; else any file."""
    own = [path.name for path in Path().glob("*.toml")]
    return _matching(incomplete, [*_shipped("scenes", "toml"), *sorted(own)]) or _files(incomplete)


def studies(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Shipped studies; else any file."""
    return _matching(incomplete, _shipped("studies", "toml")) or _files(incomplete)


def reproductions(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """The papers' tables and figures."""
    return _matching(incomplete, ["all", *_shipped("reproduce", "toml")])


def hardware_presets(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Presets of nodes and networks; else any file."""
    return _matching(incomplete, _shipped("hardware", "toml")) or _files(incomplete)


def policies(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Policies; else any file, which may hold one."""
    known = policy_summaries()
    return [CompletionItem(name, help=known[name]) for name in known if name.startswith(incomplete)] or _files(
        incomplete
    )


def policy_list(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Comma-separated policies: the last of them, of those that are not there yet."""
    before, comma, last = incomplete.rpartition(",")
    given = set(before.split(","))
    found = [name for name in policy_summaries() if name not in given]
    return _matching(last, found, before + comma) or ([] if comma else _files(incomplete))


def settings(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """KEY=VALUE: keys of a scenario, and after `=` the values of one that takes one of a few."""
    key, equals, value = incomplete.partition("=")
    if equals:
        return _matching(value, _values_of(key), f"{key}=")
    return [
        CompletionItem(f"{name}=", help=meaning) for name, meaning in _keys().items() if name.startswith(incomplete)
    ]


def keys(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Keys of a scenario."""
    return [CompletionItem(name, help=meaning) for name, meaning in _keys().items() if name.startswith(incomplete)]


def ranges(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """KEY=LOW:HIGH: the key."""
    return [] if "=" in incomplete else settings(ctx, param, incomplete)


def metrics(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Metrics of a run."""
    return _matching(incomplete, metric_names())


@cache
def policy_summaries() -> dict[str, str]:
    """The policies that there are by name, those of other packages too, each with its summary; sorted."""
    found = {}
    for text in _sources():
        # A file may hold several, each with its name before its summary.
        names = list(NAME.finditer(text))
        ends = [one.start() for one in names[1:]] + [len(text)] * bool(names)
        for one, end in zip(names, ends, strict=True):
            summary = SUMMARY.search(text, one.end(), end)
            found[one[1]] = "" if summary is None else summary[1]
    for entry in entry_points(group="cluster_abm.policies"):
        found.setdefault(entry.name, "")
    return dict(sorted(found.items()))


@cache
def parameter_names() -> list[str]:
    """The parameters that policies have, sorted."""
    found: set[str] = set()
    for text in _sources():
        for block in re.findall(r"^    class Parameters\([^)]*\):\n((?:        .*\n|\n)*)", text, re.MULTILINE):
            found.update(PARAMETER.findall(block))
    return sorted(found)


@cache
def metric_names() -> list[str]:
    """The metrics of a run, in the order of its summary."""
    return list(dict.fromkeys(METRIC.findall((PACKAGE / "results" / "metrics.py").read_text(encoding="utf-8"))))


def _sources() -> Iterator[str]:
    for room in ("policy", "policies"):
        for path in sorted((PACKAGE / room).rglob("*.py")):
            yield path.read_text(encoding="utf-8")


@cache
def _keys() -> dict[str, str]:
    from cluster_abm.scenario import scenario_keys

    found = {entry["key"]: entry["meaning"] for entry in scenario_keys()}
    return found | {f"policy.{name}": "a parameter of policies" for name in parameter_names()}


def _values_of(key: str) -> list[str]:
    """The values that a key takes, where they are few."""
    from cluster_abm.scenario import scenario_keys

    if key == "policy.name":
        return list(policy_summaries())
    shipped = {
        "cluster.hardware": ("hardware", "toml"),
        "interconnect.hardware": ("hardware", "toml"),
        "interconnect.file": ("networks", "json"),
        "workload.programs.file": ("programs", "csv"),
        "workload.trace.file": ("traces", "csv"),
    }
    if key in shipped:
        return _shipped(*shipped[key])
    for entry in scenario_keys():
        if entry["key"] == key:
            return ["true", "false"] if isinstance(entry["default"], bool) else [str(one) for one in entry["allowed"]]
    return []


def _shipped(folder: str, suffix: str) -> list[str]:
    # As scenario.shipped.shipped_path, whose import takes half a second.
    inside = PACKAGE / "shipped" / "scenarios"
    root = inside if inside.is_dir() else PACKAGE.parent / "scenarios"
    return sorted(path.stem for path in (root / folder).glob(f"*.{suffix}"))


def _matching(incomplete: str, names: Iterable[str], before: str = "") -> Items:
    return [CompletionItem(before + name) for name in names if name.startswith(incomplete)]


def _files(incomplete: str) -> Items:
    return [CompletionItem(incomplete, type="file")]
