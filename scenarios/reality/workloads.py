"""The recorded workloads: which files, which windows of them, what is assumed, and on how many nodes.

The rule, written down before anything was run: nodes are the fewest on which, in the mean over the replications, no
resource is offered more than TARGET. Where the log says which of its hosts a job came from (HBD) the nodes are those
hosts, and what the log does not say (I/O), or its CPU times, are scaled instead. Windows are spread evenly over a log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.workload.traces import LogReading, Trace, read_trace, write_csv
from cluster_abm.workload.traces.table import WORD_COLUMNS
from reality.machines import span_of, write_window
from reality.sizing import mean_load, nodes_for, offered, windows
from reality.workflows import write_composed

TARGET = 0.7
DAY_S, HOUR_S, MINUTE_S = 86_400.0, 3600.0, 60.0
Settings = dict[str, object]

# Managers that talk: reports every second, messages of 0.1 ms, as in without_the_oracle.py.
TALKING: Settings = {
    "negotiation.mode": "negotiated", "interconnect.latency_ms": 0.1, "cluster.exchange_period_ms": 1000.0,
    "measure.period_ms": 60_000.0,
}  # fmt: skip
# A share of the demand that does not fit is on disk; 0.05 faults per ms of CPU, as in what_is_left.py.
PAGING: Settings = {"cluster.page_fault_law": "overflow", "cluster.page_fault_rate_per_ms": 0.05}
# Load classes where processes start, as LMIP's Fig. 3 compares them with the queue length.
STARTS_ONLY: Mapping[str, Settings] = {"load-class": {"policy.migration": False}}
# The periods of these policies are for jobs of minutes, where a log's take hours.
SLOW: Mapping[str, Settings] = {name: {"policy.period_ms": 600_000.0} for name in ("combined", "no-ls-blocking")}
# Load classes are averages over seconds: simulated over weeks, second by second, a run takes many minutes.
TOO_SLOW = ("load-class",)


@dataclass(frozen=True)
class Workload:
    """A recorded workload, ready to be run under any policy.

    Attributes:
        name: a short one, for columns of tables.
        real, assumed: what the files say, and what is filled in, in words.
        settings: dotted keys, nodes included.
        windows: of each replication its further keys; its number from 1 on is its seed.
        load: offered, in the mean over replications, by resource.
        loads: the busiest resource's of each replication.
        also: a metric that is compared besides the claims' own.
        of_policy: keys of some policies.
        without: policies that are not run on it.
    """

    name: str
    real: str
    assumed: str
    settings: Settings
    windows: list[Settings]
    load: Mapping[str, float]
    loads: list[float]
    also: str | None = None
    of_policy: Mapping[str, Settings] = field(default_factory=lambda: STARTS_ONLY)
    without: tuple[str, ...] = ()

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(str(self.settings["cluster.nodes"]))


Build = Callable[[list[Path], Path, int], list[Workload]]


@dataclass(frozen=True)
class Source:
    """A workload that can be made from files, if they are there.

    Attributes:
        name: of its workloads, together.
        files: what is looked for in the data folder (a pattern, or a folder's name).
        build: from these files, a folder for what is written, and the number of replications.
    """

    name: str
    files: str
    build: Build

    def found(self, data: Path) -> list[Path]:
        """The files of this source in a folder."""
        return sorted(data.glob(self.files))


def made(
    name: str, real: str, assumed: str, settings: Settings, replications: list[tuple[Settings, float]], **more: object
) -> Workload:
    """A workload on as many nodes as its settings say: what load it offers is found by its jobs."""
    loads = [
        offered(scenario_of({**settings, **window}), 1 + place, length_s)
        for place, (window, length_s) in enumerate(replications)
    ]
    found = [window for window, _ in replications]
    busiest = [max(load.as_dict().values()) for load in loads]
    return Workload(name, real, assumed, settings, found, mean_load(loads), busiest, **more)  # type: ignore[arg-type]


def on_fewest(
    name: str, real: str, assumed: str, settings: Settings, replications: list[tuple[Settings, float]], **more: object
) -> Workload:
    """A workload on the fewest nodes that keep to TARGET."""
    many = 64
    trial = made(name, real, assumed, {**settings, "cluster.nodes": many}, replications)
    nodes = nodes_for(dict(trial.load), many, TARGET)
    return made(name, real, assumed, {**settings, "cluster.nodes": nodes}, replications, **more)


def scenario_of(settings: Mapping[str, object]) -> Scenario:
    """The scenario under these settings."""
    return load_scenario("replay", settings)


def hbd(files: list[Path], _: Path, count: int) -> list[Workload]:
    """Harchol-Balter and Downey's hours: with I/O drawn as WAL-PM drew it, and without any."""
    trace = read_trace(files[0])
    runs = sorted(set(trace.table["run"])) if "run" in trace.table else [None]
    nodes = 1 + int(trace.table["home"].max())
    settings: Settings = {
        **TALKING, **PAGING, "workload.trace.file": str(files[0]), "cluster.nodes": nodes,
        "workload.memory_mb": {"kind": "pareto", "mean": 4.0, "shape": 1.5},
        "workload.request_kb": {"kind": "gamma", "mean": 100.0, "sd": 50.0},
    }  # fmt: skip
    chosen = [runs[place % len(runs)] for place in range(count)]
    half: Settings = {"workload.trace.duration_s": HOUR_S / 2.0}
    hours: list[tuple[Settings, float]] = [
        ({**half, **({} if run is None else {"workload.trace.run": int(run)})}, HOUR_S / 2.0) for run in chosen
    ]
    real = (
        f"CPU times, arrivals and homes of the first half of {len(set(chosen))} hours; {nodes} hosts are {nodes} nodes"
    )
    io: Settings = {"workload.io_per_ms": {"kind": "uniform", "mean": 0.1}}
    trial = made("", "", "", {**settings, **io}, hours)
    rate = 0.1 * TARGET / trial.load["disk"]
    stretch = TARGET / trial.load["cpu"]
    drawn = "memory (Pareto, mean 4 MB) is drawn, papers' nodes"
    return [
        made(
            "HBD + I/O", real, f"I/O is drawn as WAL-PM did: uniform rates, mean {rate:.3g} per ms; {drawn}",
            {**settings, "workload.io_per_ms": {"kind": "uniform", "mean": rate}}, hours,
        ),
        made(
            "HBD", real, f"CPU times are {stretch:.3g} times the recorded ones, no I/O; {drawn}",
            {**settings, "workload.trace.cpu_scale": stretch}, hours,
        ),
    ]  # fmt: skip


def log(name: str, cores: int, memory_mb: float | None, days: float) -> Build:
    """Logs of batch systems, their jobs shared among nodes without one."""

    def build(files: list[Path], _: Path, count: int) -> list[Workload]:
        trace = read_trace(files[0])
        settings: Settings = {
            **TALKING, **PAGING, "workload.trace.file": str(files[0]), "cluster.cores": cores,
            "cluster.buffer_mb": 0.0, "cluster.context_switch_ms": 0.0, "cluster.slice_ms": 1000.0,
            "cluster.quantum_ms": 10_000.0, "cluster.exchange_period_ms": 600_000.0, "measure.period_ms": 86_400_000.0,
            # A hundred pages at a time: the same load of the disk with a hundredth of the events.
            "cluster.page_fault_rate_per_ms": 0.0005, "cluster.fault_service_ms": 800.0,
            "workload.memory_mb": {"kind": "fixed", "mean": 0.0 if memory_mb is None else 409.6},
        }  # fmt: skip
        if memory_mb is not None:
            settings["cluster.memory_mb"] = memory_mb
        span_s = float(trace.table["arrival_ms"].max()) / 1000.0
        length_s = min(days * DAY_S, span_s / count)
        replications: list[tuple[Settings, float]] = [
            ({"workload.trace.start_s": begin, "workload.trace.duration_s": length_s}, length_s)
            for begin in windows(span_s, length_s, count)
        ]
        memory = "memory as recorded (94 % have 409.6 MB: a request, no measurement)"
        return [
            on_fewest(
                name,
                f"CPU times, widths and arrivals of {count} windows of {length_s / DAY_S:.3g} days"
                + (f"; {memory}" if memory_mb is not None else ""),
                "a job's tasks appear at one home, drawn uniformly; no batch system; slices of 10 s, reports every "
                "600 s (jobs take hours)" + ("" if memory_mb is not None else "; no memory"),
                settings, replications, of_policy=SLOW, without=TOO_SLOW,
            )
        ]  # fmt: skip

    return build


TASK_MB, MOST_TASKS, START_MS = 256.0, 100, 1000.0


def swim(name: str, hardware: str, request_kb: float, length_s: float, shares: Mapping[str, float]) -> Build:
    """SWIM's MapReduce jobs, their CPU swept: so many times the disks' load (`shares`, by what they are called).

    A task also computes START_MS of a core's time: what starting one took. Without it jobs of kilobytes, of which there
    are many, take microseconds, and every policy is judged by what a remote start costs them.
    """

    def build(files: list[Path], folder: Path, count: int) -> list[Workload]:
        speed = scenario_of({"cluster.hardware": hardware}).cluster.cpu_speed
        settings: Settings = {
            **TALKING, "cluster.hardware": hardware, "cluster.quantum_ms": 100.0,
            "workload.request_kb": {"kind": "fixed", "mean": request_kb},
            "workload.memory_mb": {"kind": "fixed", "mean": 0.0},
        }  # fmt: skip

        def replications(per_mb: float) -> list[tuple[Settings, float]]:
            reading = LogReading(cpu_ms_per_mb=per_mb, task_mb=TASK_MB, max_tasks=MOST_TASKS)
            trace = read_trace(files[0], reading=reading)
            span_s = float(trace.table["arrival_ms"].max()) / 1000.0
            path = folder / f"{name}-{per_mb:g}.csv"
            table = trace.table.drop(columns=[word for word in WORD_COLUMNS if word in trace.table])
            write_csv(replace(trace, table=table.assign(cpu_ms=table["cpu_ms"] + START_MS * speed)), path)
            own_s = min(length_s, span_s / count)
            file: Settings = {"workload.trace.file": str(path), "workload.trace.duration_s": own_s}
            return [
                ({**file, "workload.trace.start_s": begin}, own_s)
                for begin in windows(span_s, own_s, count)
            ]  # fmt: skip

        trial = [
            made("", "", "", {**settings, "cluster.nodes": 64}, replications(per_mb)).load for per_mb in (1.0, 1001.0)
        ]
        of_a_mb = (trial[1]["cpu"] - trial[0]["cpu"]) / 1000.0
        found = []
        for kind, share in shares.items():
            per_mb = float(f"{share * trial[0]['disk'] / of_a_mb:.3g}")
            own = replications(per_mb)
            found.append(
                on_fewest(
                    f"{name} {kind}",
                    f"bytes and arrivals of {count} windows of {own[0][1] / MINUTE_S:.3g} minutes",
                    f"CPU is swept: {share:g} times the disks' load, {per_mb / speed:.3g} ms of a core a MB, and 1 s "
                    f"to start a task; a task for each {TASK_MB:g} MB, at most {MOST_TASKS}; every byte passes a disk "
                    f"once, {request_kb / 1000:g} MB at a time; homes drawn; no memory; {hardware}, slices of 100 ms",
                    settings, own,
                )
            )  # fmt: skip
        return found

    return build


MOST_WORK_S = 7200.0
INSTANCES = 160


def wfformat(files: list[Path], folder: Path, count: int) -> list[Workload]:
    """Workflows of WfFormat: INSTANCES of them in a window, each one of the files."""
    traces = [trace for path in files if work_s(trace := read_trace(path)) <= MOST_WORK_S]
    window_s = HOUR_S
    settings: Settings = {
        **TALKING, **PAGING, "cluster.hardware": "hdd-2015", "cluster.cpu_speed": 1.0, "cluster.quantum_ms": 100.0,
        "workload.request_kb": {"kind": "fixed", "mean": 256.0}, "workload.memory_mb": {"kind": "fixed", "mean": 0.0},
    }  # fmt: skip

    def replications(nodes: int) -> list[tuple[Settings, float]]:
        found: list[tuple[Settings, float]] = []
        for seed in range(1, 1 + count):
            path = folder / f"workflows-{nodes}-{seed}.csv"
            write_composed(path, traces, INSTANCES, window_s, nodes, seed)
            found.append(({"workload.trace.file": str(path)}, window_s))
        return found

    many = 64
    trial = made("", "", "", {**settings, "cluster.nodes": many}, replications(many))
    nodes = nodes_for(dict(trial.load), many, TARGET)
    return [
        made(
            "WfFormat",
            f"CPU times, memory, bytes of calls and dependencies of {len(traces)} workflows (of {len(files)} files "
            f"those of at most {MOST_WORK_S / HOUR_S:g} h of CPU)",
            f"{INSTANCES} workflows in an hour, which, when and at which home is drawn; of bytes of calls 10 % (read) "
            "and 37 % (written) reach the disk, 256 KB at a time; hdd-2015 with cores of the recorded speed",
            {**settings, "cluster.nodes": nodes}, replications(nodes), also="makespan_ms",
        )
    ]  # fmt: skip


def work_s(trace: Trace) -> float:
    """CPU time of a trace's tasks together [s]."""
    return float((trace.table["cpu_ms"] * trace.table.get("tasks", 1.0)).sum()) / 1000.0


def bitbrains(folders: list[Path], folder: Path, count: int) -> list[Workload]:
    """The virtual machines of a day: windows of it, in which each is a program."""
    begin_s, end_s = span_of(folders[0])
    length_s = (end_s - begin_s) / count
    replications: list[tuple[Settings, float]] = []
    for place in range(count):
        first_s = begin_s + place * length_s
        into = write_window(folders[0], first_s, first_s + length_s, folder / f"machines-{place}")
        replications.append(({"workload.trace.file": str(into)}, length_s))
    settings: Settings = {
        **TALKING, **PAGING, "cluster.hardware": "hdd-2015", "cluster.cpu_speed": 1.0, "cluster.quantum_ms": 100.0,
    }  # fmt: skip
    return [
        on_fewest(
            "Bitbrains",
            f"CPU, memory and disk bytes of the virtual machines, in {count} windows of {length_s / HOUR_S:.3g} h",
            "all are there at the window's start, homes drawn; 64 KB an access; hdd-2015 with cores of the recorded "
            "speed",
            settings, replications,
        )
    ]  # fmt: skip


SWEEP = {"disk": 0.2, "both": 1.0, "CPU": 5.0}
SOURCES = (
    Source("HBD", "hbd97*.csv*", hbd),
    Source("HPC2N", "HPC2N-*.swf*", log("HPC2N", 2, 1048.576, 1.0)),
    Source("SDSC-SP2", "SDSC-SP2-*.swf*", log("SDSC-SP2", 1, None, 1.0)),
    Source("SWIM FB-2009", "swim/FB-2009*.tsv*", swim("FB-2009", "hdd-2015", 1000.0, 30 * MINUTE_S, SWEEP)),
    Source("SWIM FB-2010", "swim/FB-2010*.tsv*", swim("FB-2010", "ssd-2015", 4000.0, 10 * MINUTE_S, {"disk": 0.2})),
    Source("WfFormat", "wfinstances/*.json*", wfformat),
    Source("Bitbrains", "bitbrains", bitbrains),
)
