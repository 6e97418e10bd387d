"""`trace fit` of logs with few distinct values, tiny and huge ones, and spoilt ones."""

from __future__ import annotations

from collections.abc import Callable

from case import Case, Random
from scenario_files import FILES
from trace_samples import SAMPLES
from traces import spoilt_table

# Instants of so many jobs [ms], and values of a column in the order of the jobs, about a middle one.
INSTANTS: dict[str, Callable[[Random, int], list[float]]] = {
    "two": lambda random, jobs: (
        [0.0] * (jobs // 2) + [random.choice((1e-6, 1.0, 1000.0, 5e5, 1e12))] * (jobs - jobs // 2)
    ),
    "one late": lambda random, jobs: [0.0] * (jobs - 1) + [random.choice((0.5, 5000.0, 1e12))],
    "late": lambda random, jobs: [1e12 - 1] * (jobs // 2) + [1e12] * (jobs - jobs // 2),
    "one": lambda random, jobs: [7.0] * jobs,
    "even": lambda random, jobs: [1000.0 * job for job in range(jobs)],
    "tight": lambda random, jobs: [0.1 * job for job in range(jobs)],
    "days": lambda random, jobs: [86_400_000.0 * (job // 3) for job in range(jobs)],
    "ever longer": lambda random, jobs: [min(1.2**job, 1e12) for job in range(jobs)],
    "drawn": lambda random, jobs: sorted(random.random() * 1e6 for _ in range(jobs)),
}
VALUES: dict[str, Callable[[Random, int, float], list[float]]] = {
    "equal": lambda random, jobs, middle: [middle] * jobs,
    "two": lambda random, jobs, middle: [random.choice((middle, 3 * middle)) for _ in range(jobs)],
    "one else": lambda random, jobs, middle: [middle] * (jobs - 1) + [random.choice((2 * middle, 50 * middle))],
    "next": lambda random, jobs, middle: [middle] * (jobs - 1) + [middle * (1 + 2**-52)],
    "zeros": lambda random, jobs, middle: [0.0] * jobs,
    "one not 0": lambda random, jobs, middle: [0.0] * (jobs - 1) + [middle],
    "least": lambda random, jobs, middle: [random.choice((5e-324, 1e-323)) for _ in range(jobs)],
    "tiny": lambda random, jobs, middle: [1e-300 * (job + 1) for job in range(jobs)],
    "tiny and huge": lambda random, jobs, middle: [random.choice((1e-300, 1e11)) for _ in range(jobs)],
    "huge": lambda random, jobs, middle: [random.choice((1e12, 1e13, 1e300, 1e308))] * jobs,
    "wide": lambda random, jobs, middle: [min(middle * random.lognormvariate(0, 6), 1e12) for _ in range(jobs)],
    "growing": lambda random, jobs, middle: [middle * (job + 1) for job in range(jobs)],
}
MIDDLES = {
    "cpu_ms": 100.0, "memory_mb": 5.0, "io_per_ms": 0.05, "disk_mb": 3.0, "request_kb": 64.0, "initial_data_mb": 2.0,
    "requested_ms": 300.0, "write_share": 0.5, "tasks": 2.0, "home": 1.0,
}  # fmt: skip
# Users of many sessions, of one each, some of no one, one: which of them is the user of a job.
USERS: dict[str, Callable[[int], str]] = {
    "many": lambda job: f"u{job % 40}", "of one job": str, "half": lambda job: "" if job % 2 else f"u{job % 7}",
    "one": lambda job: "u",
}  # fmt: skip
# Scenarios that a log may be put into: sessions of users who react, jobs that are there at 0.
BASES = {
    "react.toml": b"""\
name = "react"
cluster.nodes = 3
[workload]
kind = "sessions"
users = "react"
duration_s = 1000.0
jobs_per_s = 0.1
[[workload.sessions.group]]
jobs.mean = 3.0
work_s.mean = 5.0
after_end = 0.5
""",
    "initial.toml": b"""\
name = "initial"
cluster.nodes = 3
[workload]
kind = "none"
initial = [{ node = 0, cpu_ms = 5.0 }, { node = 2, cpu_ms = 50.0, tasks = 2 }]
""",
}
POSITIVE = ("cpu_ms", "request_kb", "requested_ms")
WHOLE = {"tasks": 1, "home": 0}
# Of what can be fitted, mostly: what is refused is refused early.
USUAL = ("equal", "two", "one else", "next", "growing")


def _log(random: Random, is_long: bool) -> tuple[bytes, list[str]]:
    """A CSV of ours, and which kinds of columns it has.

    Args:
        random: draws it.
        is_long: whether it lasts for months: of others no half can be held back.
    """
    jobs = random.choice((300, 300, 300, 1200) if is_long else (20, 50, 60, 60, 300))
    how = "days" if is_long else random.choice(sorted(INSTANTS))
    columns: dict[str, list[str]] = {"arrival_ms": [repr(at) for at in INSTANTS[how](random, jobs)]}
    changes = [f"{jobs} jobs, {how}"]
    for name, middle in MIDDLES.items():
        if name != "cpu_ms" and random.random() < 0.75:
            continue
        if name == "disk_mb" and "io_per_ms" in columns and random.random() < 0.9:
            continue
        how = random.choice((*sorted(VALUES), *USUAL * 3))
        if name in POSITIVE and "0" in how.replace("zeros", "0") and random.random() < 0.9:
            how = "equal"
        values = VALUES[how](random, jobs, middle)
        if name == "write_share" and random.random() < 0.9:
            values = [min(value, 1.0) for value in values]
        if name in WHOLE:
            cells = [str(int(min(max(value, WHOLE[name]), random.choice((8, 8, 8, 2**31 - 1))))) for value in values]
        else:
            cells = [repr(value) for value in values]
        if random.random() < 0.2:
            kept = random.choice((1, 2, jobs // 2))
            cells = [cell if place < kept or name == "cpu_ms" else "" for place, cell in enumerate(cells)]
            how += f", {kept} of them"
        columns[name] = cells
        changes.append(f"{name}: {how}")
    if random.random() < 0.3:
        how = random.choice(sorted(USERS))
        columns["user"] = [USERS[how](job) for job in range(jobs)]
        changes.append(f"user: {how}")
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode(), changes


def fit_case(random: Random) -> Case:
    """`trace fit` of a log that is degenerate, spoilt, or both."""
    name, is_held_back = "log.csv", random.random() < 0.3
    if random.random() < 0.15:
        # Any format, in which a few rows stand for many jobs.
        name, data, between = SAMPLES[random.choice([kind for kind in sorted(SAMPLES) if SAMPLES[kind].between])]
        head, *rows = data.splitlines(keepends=True)
        data, changes = head + b"".join(rows) * 20, ["sample x 20"]
    else:
        data, changes = _log(random, is_held_back)
        between = b","
    if random.random() < 0.1:
        data, more = spoilt_table(random, data, between, 1)
        changes += more
    out = random.choice(("f.toml", "no/f.toml", "no/deep/f.toml"))
    if random.random() < 0.1:
        out = random.choice(("f.txt", name, f"{name}/f.toml", ".toml"))
    words = ["trace", "fit", name, "--out", out, "--seeds", "2", *random.choice(([], ["--json"]))]
    words += ["--hold-back"] if is_held_back else []
    words += random.choice((["--no-judge"], ["--draws", "2", "--workers", "1"]))
    if random.random() < 0.2:
        words += ["--scenario", random.choice(sorted(BASES))]
    if random.random() < 0.1:
        words += ["--set", "workload.initial=[{node=0,cpu_ms=5.0}]"]
    if random.random() < 0.6:
        words += ["--set", random.choice(("cluster.nodes=40", "cluster.context_switch_ms=0", "cluster.cpu_speed=1e9"))]
    if random.random() < 0.1:
        words += ["--set", random.choice(("workload.trace.duration_s=1e9", "workload.trace.keep_share=0.5"))]
    return Case("fit", words, {name: data, **BASES, **FILES}, changes)
