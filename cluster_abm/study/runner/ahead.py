"""On a machine where nothing is compiled yet: what runs need is compiled by several processes at once, each part once.

Numba keeps what one process compiles on the disk, and the next one loads it in a hundredth of a second. Without this
stage every process would compile the same engine for half a minute.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from cluster_abm.errors import InputError
from cluster_abm.jit import cache_folder, stamp_of, stamp_of_kernels, start_of
from cluster_abm.limits import available_processors
from cluster_abm.policies import Policy, Talking, admit, create, sources_of
from cluster_abm.policy.finding.sources import PolicySource
from cluster_abm.policy.kinds import is_asked_about_heads, migrates_on_arrival
from cluster_abm.progress import Progress
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.study.design.policies import with_own_parameters
from cluster_abm.study.design.policy_sources import policy_version
from cluster_abm.study.runner.executors import BatchExecutor, open_executor
from cluster_abm.study.runner.in_flight import EndedTask, InFlight

Kind = Literal["engine", "detail", "placement", "waiting", "head", "talk", "migration", "policy"]
# The most scenarios whose needs are looked up: a study has few policies, at many points.
MOST_SCENARIOS = 64


class Part(NamedTuple):
    """Something that is compiled on its own."""

    # The engine, what notes what tasks do in a detailed window, the placement of arriving tasks, queues of nodes, the
    # head node's queue, the migration of tasks, or a policy.
    kind: Kind
    scenario: Scenario  # one that needs it
    key: str  # name of the file that says, beside what is compiled, that it is there
    policies: tuple[PolicySource, ...] = ()  # where another process gets the policy


def missing_parts(scenarios: Iterable[Scenario], detail: bool = False) -> list[Part]:
    """What runs of these scenarios need and no process has compiled here, the engine first.

    Empty where nothing that is compiled can be kept.

    Args:
        scenarios: of the runs.
        detail: whether they have a detailed window.
    """
    folder = cache_folder()
    if folder is None:
        return []
    parts: dict[str, Part] = {}
    for scenario, _ in zip(scenarios, range(MOST_SCENARIOS), strict=False):
        for part in [*_parts_of(with_own_parameters(scenario)), *([_kernels("detail", scenario)] if detail else [])]:
            parts.setdefault(part.key, part)
    # The last ones run the engine: they would compile it once more while another process does.
    order = ("engine", "placement", "waiting", "migration", "policy", "head", "talk", "detail")
    missing = [part for part in parts.values() if not _is_there(Path(folder, part.key))]
    return sorted(missing, key=lambda part: order.index(part.kind))


def _is_there(mark: Path) -> bool:
    """Whether a part has been compiled; its mark counts as used now, as its code does when it is loaded."""
    with suppress(OSError):
        os.utime(mark)
    return mark.exists()


def compile_ahead(executor: BatchExecutor, parts: list[Part], quiet: bool, look: Callable[[], None]) -> None:
    """Compile parts on an executor's processes.

    Args:
        executor: processes of this machine.
        parts: of `missing_parts`.
        quiet: no progress bar.
        look: called now and then; what it raises ends the work.
    """
    with Progress(len(parts), "compiling, once", "part", quiet=quiet) as bar:

        def book(_: EndedTask[str]) -> None:
            # What failed, the run that needs it says.
            bar.update()

        with InFlight(executor, book) as flight:
            for part in parts:
                flight.send(part.key, compile_part, part)
            while flight:
                look()
                bar.look()
                flight.book_next()


def compile_here(scenario: Scenario, quiet: bool, look: Callable[[], None]) -> None:
    """Compile what one run needs on processes of its own, where that takes less time than in this one.

    Args:
        scenario: the run's.
        quiet, look: as of `compile_ahead`.
    """
    parts = missing_parts([scenario])
    workers = min(len(parts), available_processors())
    if workers < 2:
        return
    # Where there can be no processes this one compiles when the run begins.
    with suppress(InputError, BrokenExecutor), open_executor("process", workers) as executor:
        compile_ahead(executor, parts, quiet, look)


def compile_part(part: Part) -> None:
    """Compile a part, and note that it is there."""
    with suppress(InputError):
        admit(part.policies)
        _COMPILERS[part.kind](part.scenario)
    folder = cache_folder()
    if folder is not None:
        Path(folder, part.key).touch()


def _parts_of(scenario: Scenario) -> list[Part]:
    parts = [_kernels("engine", scenario)]
    with suppress(InputError):
        policy = create(scenario.policy)
        kind: Kind = "talk" if policy.talks else "placement"
        if policy.holds_jobs:
            kind = "waiting" if is_asked_about_heads(policy) else "head"
        is_compiled = kind != "head" or policy.central
        if policy.acts_on_arrival and is_compiled and not policy.pooled:
            parts.append(_kernels(kind, scenario))
            if migrates_on_arrival(policy):
                parts.append(_kernels("migration", scenario))
            sources = sources_of([scenario.policy.name])
            parts.append(Part("policy", scenario, f"policy-{_digest(scenario, policy)}.compiled", sources))
    return parts


def _kernels(kind: Kind, scenario: Scenario) -> Part:
    return Part(kind, scenario, f"{kind}.{stamp_of_kernels(*_KERNELS[kind])}.compiled")


def _digest(scenario: Scenario, policy: Policy) -> str:
    name = scenario.policy.name
    kinds = {parameter: type(value).__name__ for parameter, value in policy.parameters}
    shipped = [of for of in type(policy).__mro__ if str(of.__module__).startswith("cluster_abm.")]
    code = stamp_of("cluster_abm.compiling.entries:compiled_policy", *map(start_of, shipped))
    text = f"{name} {policy_version(name)} {kinds} {_has_files(scenario)} {_is_unlike(scenario)} {code}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _has_files(scenario: Scenario) -> bool:
    return scenario.data.has_files


def _is_unlike(scenario: Scenario) -> bool:
    return bool(scenario.cluster.group)


def _engine(_: Scenario) -> None:
    from cluster_abm.model import ClusterModel

    ClusterModel(_small()).run()


def _detail(_: Scenario) -> None:
    from cluster_abm.model import ClusterModel
    from cluster_abm.model.detailing import DetailedRun, window_of

    DetailedRun(ClusterModel(_small()), window_of((0.5, 1.0))).run()


def _placement(_: Scenario) -> None:
    from cluster_abm.model import ClusterModel
    from cluster_abm.model.deciding.compiled.negotiation import compiled_placement

    compiled_placement(ClusterModel(_small()).engine)


def _waiting(_: Scenario) -> None:
    from cluster_abm.model import ClusterModel
    from cluster_abm.model.waiting.compiled_queues import compiled_release

    compiled_release(ClusterModel(_small()).engine)


def _head(_: Scenario) -> None:
    from cluster_abm.model import ClusterModel
    from cluster_abm.model.deciding.compiled.head_node import compiled_start

    # A run, for who holds which cores is counted in Python, too.
    ClusterModel(_small("batch-system")).run()
    ClusterModel(_small("batch-system"), compile_decisions=False).run()
    compiled_start(ClusterModel(_small()).engine)


def _talk(_: Scenario) -> None:
    from cluster_abm.model import ClusterModel

    ClusterModel(_small("jiq")).run()


def _migration(_: Scenario) -> None:
    from cluster_abm.model import ClusterModel
    from cluster_abm.model.deciding.compiled.inputs import compiled_migration

    engine = ClusterModel(_small()).engine
    engine.address_of_migrate()
    compiled_migration(engine)


def _policy(scenario: Scenario) -> None:
    from cluster_abm.compiling.entries import compiled_policy
    from cluster_abm.compiling.talking.entries import compiled_talk
    from cluster_abm.compiling.translating import NotCompilable

    policy = create(scenario.policy)
    is_unlike = policy.parameters.heterogeneous and _is_unlike(scenario)
    # Then its managers decide in Python.
    with suppress(NotCompilable):
        if isinstance(policy, Talking):
            compiled_talk(policy, is_unlike)
            return
        compiled_policy(policy, _has_files(scenario), is_unlike)


def _small(policy: str = "none") -> Scenario:
    """A run that is over at once, and needs the engine."""
    return load_scenario("cpu-bound", {"cluster.nodes": 2, "workload.duration_s": 2.0, "policy.name": policy})


# In which modules the kernels of a part are.
_KERNELS: dict[Kind, tuple[str, ...]] = {
    "engine": ("cluster_abm.engine", "cluster_abm.formulas", "cluster_abm.model.knowing.knowledge"),
    "detail": ("cluster_abm.engine", "cluster_abm.formulas", "cluster_abm.model.knowing.knowledge"),
    "placement": ("cluster_abm.model.deciding.compiled",),
    "waiting": ("cluster_abm.model.deciding.compiled",),
    "head": ("cluster_abm.model.deciding.compiled", "cluster_abm.model.waiting"),
    "talk": ("cluster_abm.model.talking.compiled", "cluster_abm.compiling.talking", "cluster_abm.policies.jiq"),
    "migration": ("cluster_abm.model.deciding.compiled", "cluster_abm.engine.migration"),
}
_COMPILERS: dict[Kind, Callable[[Scenario], None]] = {
    "engine": _engine,
    "detail": _detail,
    "placement": _placement,
    "waiting": _waiting,
    "head": _head,
    "talk": _talk,
    "migration": _migration,
    "policy": _policy,
}
