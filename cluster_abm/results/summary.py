"""What a run did to each job and program: slowdowns, responses, ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.tables import FINISHED, NS_PER_MS, Table
from cluster_abm.formulas import bounded_slowdown
from cluster_abm.large_tables import column
from cluster_abm.ordered_rows import Rows, of_each
from cluster_abm.results.frames import isolated_ns, slowdowns


def finished_records(records: Rows) -> Rows:
    """Rows of the tasks that finished; those of killed ones left out (a copy only if there are any)."""
    finished = records["outcome"] == FINISHED
    return records if finished.all() else records[finished]


def ended_jobs(records: Rows, outcome: int) -> Integers:
    """Numbers of the jobs of which a task ended so, e.g. KILLED, ascending."""
    ended = np.flatnonzero(records["outcome"] == outcome)
    return np.unique(records[ended]["job"])


def finished_jobs(records: Rows, widths: Integers) -> Integers:
    """Return the numbers of the jobs of which all tasks have finished, ascending."""
    done = np.bincount(finished_records(records)["job"], minlength=len(widths))
    return np.flatnonzero(done == widths) if len(widths) else np.zeros(0, np.int64)


def job_values(records: Rows, widths: Integers, bound_ns: float = math.nan) -> tuple[Integers, Mapping[str, Floats]]:
    """Return the measures of each finished job; a parallel job's slowdown is the mean over its tasks (IOLB 2).

    Args:
        records: records of finished tasks in an order of their own (sums depend on it in the last bit).
        widths: how many tasks each job has, shape (jobs,).
        bound_ns: of bounded slowdowns [ns]; NaN: there are none.

    Returns:
        numbers of the finished jobs, ascending, shape (finished,); and in the same order slowdown, bounded_slowdown and
        log_slowdown (means over its tasks), slowdown_job (of its last end), slowdown_cpu_io, slowdown_cpu, response_ns,
        wait_ns (until its last task first got a core): each is computed when it is asked for.
    """
    values = JobValues(records, widths, bound_ns)
    return values.jobs, values


# Of more tasks no measure is kept: one at a time takes memory.
MOST_KEPT = 100_000


class JobValues(Mapping[str, Floats]):
    """Measures of each finished job by name, as `job_values`."""

    NAMES = (
        "slowdown", "bounded_slowdown", "log_slowdown", "slowdown_job", "slowdown_cpu_io", "slowdown_cpu",
        "response_ns", "wait_ns",
    )  # fmt: skip

    def __init__(self, records: Rows, widths: Integers, bound_ns: float = math.nan) -> None:
        self._records, self._widths, self._bound_ns = records, widths, bound_ns
        self.jobs = finished_jobs(records, widths)  # their numbers, ascending, shape (finished,)
        self._kept: dict[str, Floats] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self.NAMES)

    def __len__(self) -> int:
        return len(self.NAMES)

    def __getitem__(self, name: str) -> Floats:
        if name in self._kept:
            return self._kept[name]
        found = self._measured(name)
        if len(self._records) <= MOST_KEPT:
            found.flags.writeable = False
            self._kept[name] = found
        return found

    def _measured(self, name: str) -> Floats:
        if name == "response_ns":
            return self._since_arrival_ns(lambda part: part["finish_ns"].astype(float))
        if name == "wait_ns":
            # A task without any work ends and never has a core.
            return self._since_arrival_ns(lambda part: np.minimum(part["first_ns"], part["finish_ns"]).astype(float))
        if name == "slowdown_job":
            longest = self._largest_of_tasks(lambda part: isolated_ns(part).astype(float))
            return slowdowns(self["response_ns"], longest)
        measure = self._bounded if name == "bounded_slowdown" else _OF_TASKS[name]
        of_tasks = of_each(self._records, measure)
        sums = np.bincount(self._records["job"], of_tasks, minlength=len(self._widths))[self.jobs]
        del of_tasks
        return np.asarray(sums / self._widths[self.jobs])

    def _bounded(self, records: Rows) -> Floats:
        return np.asarray(bounded_slowdown(_wall_ns(records), isolated_ns(records).astype(float), self._bound_ns))

    def _since_arrival_ns(self, instant_ns: Callable[[Rows], Floats]) -> Floats:
        """From each job's arrival to the last of such instants of its tasks [ns]."""
        times_ns = self._largest_of_tasks(instant_ns)
        arrival_ns = np.zeros(len(self._widths), np.int64)
        # That of all its tasks.
        arrival_ns[self._records["job"]] = self._records["arrival_ns"]
        times_ns -= arrival_ns[self.jobs]
        return times_ns

    def _largest_of_tasks(self, measure: Callable[[Rows], Floats]) -> Floats:
        largest = np.zeros(len(self._widths))
        np.maximum.at(largest, self._records["job"], of_each(self._records, measure))
        return largest[self.jobs]


def _wall_ns(records: Rows) -> Floats:
    return np.asarray((records["finish_ns"] - records["arrival_ns"]).astype(float))


def _useful_cpu_ns(records: Rows) -> Floats:
    return np.asarray((records["cpu_ns"] - records["lost_cpu_ns"]).astype(float))


_OF_TASKS: Mapping[str, Callable[[Rows], Floats]] = {
    "slowdown": lambda part: slowdowns(_wall_ns(part), isolated_ns(part)),
    "log_slowdown": lambda part: np.log(slowdowns(_wall_ns(part), isolated_ns(part))),
    "slowdown_cpu_io": lambda part: slowdowns(_wall_ns(part), _useful_cpu_ns(part) + part["io_ns"]),
    "slowdown_cpu": lambda part: slowdowns(_wall_ns(part), _useful_cpu_ns(part)),
}


def task_slowdowns(records: Rows) -> Floats:
    """Slowdown of each task that finished and has one, shape (tasks,)."""
    values = of_each(finished_records(records), _OF_TASKS["slowdown"])
    return values[np.isfinite(values)]


def _paging_share(records: Rows) -> Floats:
    life = (records["cpu_ns"] + records["io_ns"] + records["io_queue_ns"] + records["paging_ns"]).astype(float)
    return np.asarray(records["paging_ns"] / np.where(life == 0, np.nan, life))


# Means over the finished tasks of a program with a profile: of each task, and the factor of the mean.
OF_PROGRAMS: Mapping[str, tuple[Callable[[Rows], Floats | Integers], float]] = {
    "mean_slowdown_cpu": (_OF_TASKS["slowdown_cpu"], 1.0),
    "paging_percent": (_paging_share, 100.0),
    "page_faults": (lambda part: part["faults"], 1.0),
}
PROGRAM_METRICS = ("tasks", *OF_PROGRAMS)


def by_program(records: Rows, jobs: Table, programs: Sequence[str]) -> dict[str, dict[str, float]]:
    """Numbers of each program that a finished task ran: how many, mean slowdown (wall over CPU, without what
    failures destroyed), share of its life, queueing left out, that it spent paging [%], faults of one.
    """
    numbers = {}
    ran = column(jobs, "program")[records["job"]]
    for number, name in enumerate(programs):
        own = records[ran == number]
        if len(own):
            means = {
                measure: float(measured(own).mean() * factor) for measure, (measured, factor) in OF_PROGRAMS.items()
            }
            numbers[name] = {"tasks": len(own), **means}
    return numbers


def makespan_spread_ms(records: Rows) -> float | None:
    """Largest difference between home nodes of when the last of the jobs submitted there ended [ms] (LMIP: between the
    run times of each node's programs); None without jobs."""
    if not len(records):
        return None
    homes, home_index = np.unique(records["home"], return_inverse=True)
    last_ns = np.zeros(len(homes), np.int64)
    np.maximum.at(last_ns, home_index, records["finish_ns"])
    return float((last_ns.max() - last_ns.min()) / NS_PER_MS)
