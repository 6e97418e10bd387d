"""How the CPU demands of a job's tasks differ from each other, and from what the job announces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from cluster_abm.scenario.dependence import pair_of
from cluster_abm.scenario.distributions import Positive

TaskCpu = Literal["job", "each"]
AnnouncedError = Annotated[Positive, Field(ge=1, le=1000)]


def check_task_cpu(
    task_cpu: TaskCpu,
    kind: str,
    programs: Mapping[str, float],
    application: str,
    dependence: Mapping[str, float],
    repeated: float,
) -> None:
    """Check that each task can draw a CPU demand of its own, if it is to.

    Args:
        task_cpu: whether it is to.
        kind: `workload.kind`.
        programs: `workload.programs.mix`.
        application: `workload.application.name`.
        dependence: `workload.dependence`.
        repeated: `workload.repeats.share`.

    Raises ValueError: another key sets the CPU demand of the whole job.
    """
    if task_cpu == "job":
        return
    of_cpu = [key for key in dependence if "cpu_ms" in pair_of(key)]
    reasons = (
        (kind == "trace", 'workload.kind is "trace", and a trace has one CPU demand for all tasks of a job'),
        (bool(programs), "workload.programs.mix is set, and a program's profile is that of all its tasks"),
        (application != "none", f'workload.application.name is "{application}", of which all processes are alike'),
        (bool(of_cpu), f"workload.dependence names cpu_ms ({'; '.join(of_cpu)}), the one CPU demand of a job"),
        (repeated > 0.0, f"workload.repeats.share is {repeated:g}, and a repeated job has one CPU demand"),
    )
    for is_so, reason in reasons:
        if is_so:
            raise ValueError(f'task_cpu "each": {reason}; allowed with it is "job"')
