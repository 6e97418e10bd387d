"""What a result depends on, as short names: the code, and all that a run is given."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from cluster_abm._version import __version__
from cluster_abm.bounded_files import Limit, digest, opened, shown
from cluster_abm.errors import InputError
from cluster_abm.found_modules import TRACE_MAPS
from cluster_abm.policies import create
from cluster_abm.policy.finding.files import digest_of
from cluster_abm.scenario import Scenario, shipped_network, shipped_path, shipped_trace
from cluster_abm.scenario.policy_names import plain_name
from cluster_abm.scenario.trace import TraceChoice
from cluster_abm.study.design.policy_sources import MISSING, policy_version
from cluster_abm.study.design.unread import drop, unread_keys
from cluster_abm.workload.traces.formats.gwa import machine_files
from cluster_abm.workload.traces.mapping.folders import parts_of
from cluster_abm.workload.traces.reading import limit_of

# What shows, stores and plans runs changes none of their numbers; of these packages only the named modules make any.
WITHOUT_EFFECT = (
    "cli/", "gym/", "shipped/", "study/", "testing/", "validation/", "results/", "model/observing/watching.py",
    "model/run_display.py", "displays.py", "whole_files.py", "progress.py", "recording/", "engine/detail/",
    "model/detailing.py", "model/recorded.py", "model/record_run.py",
)  # fmt: skip
WITH_EFFECT = (
    "study/runner/measuring.py", "results/asked.py", "results/frames.py", "results/metrics.py", "results/outcomes.py",
    "results/shares/by_", "results/summary.py", "results/sums.py", "results/totals.py", "results/vertices.py",
)  # fmt: skip
# Sections and keys of a scenario that no result of a run in a study depends on.
UNUSED: Any = {"name": True, "summary": True, "compare": True, "measure": {"period_ms"}}


@cache
def result_version() -> str:
    """The version and a hash of every source, and shipped table, that a result can depend on, e.g. "0.1.0-1f0c...".

    An edited command or picture leaves it as it is; an edited kernel, policy or metric does not.
    """
    digest = hashlib.sha256()
    for name, path in _sources():
        digest.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return f"{__version__}-{digest.hexdigest()[:16]}"


def code_of(policies: Iterable[str], files: Mapping[str, str] | None = None) -> str:
    """The code version, and that of each of these policies that comes from elsewhere: "0.1.0-1f0c...+mine-5e...".

    Args:
        policies: names, or labels.
        files: the files of those that came from one; they are read, and none is imported.

    Raises InputError: a policy's source cannot be read.
    """
    names = dict.fromkeys(map(plain_name, policies))
    foreign = [f"{name}-{version[:8]}" for name in names if (version := _version(name, files or {}))]
    return "+".join([result_version(), *foreign])


def _version(name: str, files: Mapping[str, str]) -> str:
    version = policy_version(name)
    if version == MISSING and name in files:
        with suppress(InputError):
            return digest_of(Path(files[name]))
    return version


def cell_key(scenario: Scenario) -> str:
    """The name of a point under a policy: 24 hexadecimal digits of all that its runs depend on but the seed.

    Files of the user count by name and content, wherever they lie.

    Raises InputError: a file that the scenario names cannot be read.
    """
    resolved = scenario.model_dump(mode="json", exclude=UNUSED)
    del resolved["run"]["seed"]
    # Parameters that the policy does not know, for others to compare it with, change no run of its own.
    policy = create(scenario.policy)
    resolved["policy"] = {"name": scenario.policy.name, **policy.parameters.model_dump(mode="json")}
    # How much a file may hold is no part of what it holds.
    work = resolved["workload"]
    named = (work["trace"], work["programs"], resolved["interconnect"], resolved["failures"])
    for section in named:
        del section["max_mb"]
    files = _input_files(scenario)
    for section in named:
        # The name, since its ending may give the format; of a folder also those in it, which name programs.
        path = None if section["file"] is None else Path(section["file"])
        if path in files:
            section["file"] = path.name
        elif path is not None and section is resolved["workload"]["trace"] and shipped_trace(section["file"]) is None:
            section["file"] = [path.name, *(inside.name for inside in _files(scenario.workload.trace))]
    for key in unread_keys(scenario):
        drop(resolved, key)
    # A policy's file has its name among the parameters.
    digests = [_digest(path, limit) for path, limit in (*files.items(), *policy.input_files)]
    document = [resolved, digests, result_version(), policy_version(scenario.policy.name)]
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:24]


def _sources() -> Iterator[tuple[str, Path]]:
    package = Path(__file__).resolve().parents[2]
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name.startswith(WITH_EFFECT) or not name.startswith(WITHOUT_EFFECT):
            yield name, path
    for path in sorted([*package.glob("workload/traces/maps/*.toml"), *package.glob("workload/outages/maps/*.toml")]):
        yield path.relative_to(package).as_posix(), path
    shipped = shipped_path()
    for pattern in ("*.csv", "programs/*", "networks/*", "traces/*"):
        for path in sorted(shipped.glob(pattern)):
            yield path.relative_to(shipped).as_posix(), path


def _input_files(scenario: Scenario) -> dict[Path, Limit]:
    """Files of the user that the scenario takes numbers from, and how much each may hold; shipped ones are part of the
    code version."""
    trace, programs, network = scenario.workload.trace, scenario.workload.programs, scenario.interconnect
    named: dict[str, Limit] = {}
    if trace.file is not None and shipped_trace(trace.file) is None:
        named |= {str(path): _limit(path, trace) for path in _files(trace)}
    if network.file is not None and shipped_network(network.file) is None:
        named[network.file] = Limit(network.max_mb, "interconnect.max_mb")
    if scenario.failures.file is not None:
        named[scenario.failures.file] = Limit(scenario.failures.max_mb, "failures.max_mb")
    if programs.file is not None and os.path.isfile(programs.file):
        named[programs.file] = Limit(programs.max_mb, "workload.programs.max_mb")
    return {Path(name): limit for name, limit in named.items()}


def _files(trace: TraceChoice) -> list[Path]:
    """The file itself; of a folder the parts of a table, or those that are virtual machines."""
    path = Path(str(trace.file))
    if not os.path.isdir(path):
        return [path]
    return parts_of(path)[0] if trace.chosen in TRACE_MAPS or trace.columns is not None else machine_files(path)[0]


def _limit(path: Path, trace: TraceChoice) -> Limit:
    """How much a file of a trace may hold."""
    with opened(path) as file:
        return limit_of(file, path, trace.chosen, trace.columns is not None, trace.max_mb)


def _digest(path: Path, limit: Limit) -> str:
    try:
        found = path.stat()
        return _digest_of(path, limit, found.st_mtime_ns, found.st_size)
    except (OSError, ValueError) as problem:
        raise InputError(f"{shown(path)}: cannot be read ({getattr(problem, 'strerror', None) or problem})") from None


@cache
def _digest_of(path: Path, limit: Limit, _modified_ns: int, _size: int) -> str:
    # Of a regular file: a device has no end, and of a pipe nothing would be left for the run.
    with opened(path) as file:
        return digest(file, path, limit)
