"""What several test modules share: small scenarios in one line, finished models, and ears for Ctrl-C."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cluster_abm import ClusterModel, Scenario
from cluster_abm.testing.subject import BUSY, needed_by, scenario_of

# The shipped policies that decide in compiled code.
COMPILED = [
    "clb", "cm-pm", "cm-re", "cpu-based", "data-access", "data-class", "data-majority", "disk-io-score", "hbd", "io-pm",
    "io-re", "iocm-pm", "iocm-re", "iolb", "iolb-net", "iolb-pm", "jsq", "learned", "load-class", "load-risk",
    "low-load", "memory-based", "mlb", "power-of-d", "queue-length", "random", "round-robin", "sita-e", "target-load",
    "wal-pm", "wal-re",
]  # fmt: skip

BREAKDOWN = ("cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier", "blocked")

# Policies that tell long tasks from short ones: they refuse tasks that all announce the same demand.
BY_SIZE = ("eagle", "hawk", "sita-e")
# Policies of several kinds: where a test is over all of them, the fast suite has these.
SAMPLE = ("none", "jsq", "power-of-d", "iolb", "wal-pm", "age", "easy", "prequal")
# One of each kind of loop: these decide in compiled code in the fast suite too.
COMPILED_IN_ALL = ("jsq", "power-of-d", "age", "easy")


def mostly_slow(values: Iterable[str], fast: Collection[str] = SAMPLE) -> list[Any]:
    """Parameters of a test, of which the fast suite has some and the slow one the others."""
    return [pytest.param(value, marks=[] if value in fast else pytest.mark.slow) for value in values]


def pairs(first: Iterable[str], second: Iterable[str], every: int = 3) -> list[tuple[str, str]]:
    """Each n-th of all pairs: every value stands beside an n-th of the others, neighbours beside different ones.

    A fault of one policy shows in several situations, and one of a situation under several policies: not every pair is
    needed to find it.
    """
    others = list(second)
    return [(one, others[at]) for place, one in enumerate(first) for at in range(place % every, len(others), every)]


def scenario(**overrides: Any) -> Scenario:
    """A scenario of nothing but what is set here; `__` stands for the dot."""
    return scenario_of("test", overrides)


def finished(seed: int = 1, **overrides: Any) -> ClusterModel:
    """A model of that scenario, run to its end."""
    model = ClusterModel(scenario(**overrides), seed=seed)
    model.run()
    return model


def run_within(model: ClusterModel, limit_ms: float) -> None:
    """Run a model to its end, which comes by this time: a run that stands still, or goes on, fails instead."""
    before_ms = -1.0

    def look(_: float) -> None:
        nonlocal before_ms
        assert before_ms < model.now_ms <= limit_ms
        before_ms = model.now_ms

    model.run(progress=look)


# Nodes without any cost of their own, on which tasks of one core run to their end.
PLAIN = {
    "cluster__context_switch_ms": 0.0, "cluster__quantum_ms": "inf", "interconnect__latency_ms": 0.0,
    "negotiation__remote_execution_ms": 0.0,
}  # fmt: skip


def traced_model(tmp_path: Path, policy: str, rows: Iterable[str], **more: Any) -> ClusterModel:
    """A model of a trace (arrival_ms,home,cpu_ms,tasks), without I/O."""
    path = tmp_path / "jobs.csv"
    lines = [",".join([*row.split(",")[:3], "0", "1", row.split(",")[3]]) for row in rows]
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks\n" + "\n".join(lines) + "\n")
    given = {**PLAIN, "workload__kind": "trace", "workload__trace__file": str(path), "policy__name": policy, **more}
    return ClusterModel(scenario(**given), seed=1)


def traced(tmp_path: Path, policy: str, rows: Iterable[str], **more: Any) -> ClusterModel:
    """The same, run to its end."""
    model = traced_model(tmp_path, policy, rows, **more)
    model.run()
    return model


def act_at(model: ClusterModel, *acts: tuple[float, int, str]) -> None:
    """Run a model up to each of these times [ms], and call a method of a node's agent then: (time, node, method)."""
    for at_ms, node, act in acts:
        model.run(until_ms=at_ms)
        getattr(model.node_agents[node], act)()


def busy(**overrides: Any) -> dict[str, Any]:
    """Overrides of a small cluster on which everything happens: I/O, faults, hits, parallel jobs, remote starts."""
    name = overrides.get("policy__name", "iolb")
    return {**BUSY, "policy__name": name, **needed_by(name), **overrides}


def same_records(first: ClusterModel, second: ClusterModel) -> bool:
    """Whether two runs left the same bytes."""
    one, other = first.engine.sorted_records(), second.engine.sorted_records()
    # Field by field: what lies between the fields of a row means nothing.
    return all(one[name].tobytes() == other[name].tobytes() for name in one.dtype.names)


def breakdown_sum_ns(records: Any) -> np.ndarray:
    """Sum of the parts of each task's wall time, shape (tasks,)."""
    return np.asarray(sum(records[f"{part}_ns"] for part in BREAKDOWN))


def install_policies(folder: Path, module: str, source: str) -> None:
    """Install a module of policies in a folder, as a package: each class by its name in small letters."""
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    package = folder / f"{module}-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    classes = re.findall(r"^class (\w+)", source, re.MULTILINE)
    entries = "".join(f"{name.lower()} = {module}:{name}\n" for name in classes)
    (package / "entry_points.txt").write_text(f"[cluster_abm.policies]\n{entries}", encoding="utf-8")


@contextmanager
def hearing_ctrl_c() -> Iterator[None]:
    """Python's own handler of SIGINT, whatever this process was started with.

    What a shell without job control starts in its background ignores SIGINT, and so do the processes that it starts. A
    handler, on the other hand, becomes the default in what is started.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def steps_with_reports(model, until_ms, index="cpu_ms"):
    """Step a model; after each step, what each true load was at each report so far, by the report's time [ms]."""
    nodes = range(len(model.load_managers))
    reported = {0: [model.true_loads(node)[index] for node in nodes]}
    while model.now_ms < until_ms:
        model.step()
        if model.now_ms % 1000 == 0:
            reported[model.now_ms] = [model.true_loads(node)[index] for node in nodes]
        yield reported
