"""What is done to a run at given times. Data only: nothing here knows how it is carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, Strict, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import NonNegative, Positive
from cluster_abm.scenario.failures import LONGEST_S, problem_of_links

MOST_ACTS = 10_000
# How many times as fast the arrival clock may run.
FASTEST = 1e6

Kind = Literal["fail", "drain", "recover", "slow", "kill", "send", "arrivals"]
Number = Annotated[int, Strict(), Field(ge=0)]
# The keys that each act needs, beside at_s.
NEEDS: Mapping[Kind, tuple[str, ...]] = {
    "fail": ("node",),
    "drain": ("node",),
    "recover": ("node",),
    "slow": ("node", "device", "factor"),
    "kill": ("job",),
    "send": ("task", "node"),
    "arrivals": ("factor",),
}


class Act(Section):
    """An act, at the first slice boundary that is not before its time.

    act:
      fail      a node fails, until `recover`; `failures.on_failure` says what becomes of its tasks
      drain     a node finishes its tasks and accepts no other, until `recover`
      recover   a node that has failed comes back empty, one that drains accepts tasks again, slow devices are as fast
                as before
      slow      a device of a node has `factor` of its speed, until `recover`; load managers do not know
      kill      a job ends at once, and counts as killed
      send      the load manager of a task's node offers the task to another node, which may refuse it
      arrivals  from then on the arrival clock runs `factor` times as fast: the same jobs come sooner, or later
    """

    at_s: Annotated[NonNegative, Field(le=LONGEST_S)]
    """when [s]"""
    act: Kind
    """what is done"""
    node: Number | None = None
    """fail, drain, recover, slow: the node; send: where the task goes"""
    device: Literal["cpu", "disk", "link"] | None = None
    """slow: the CPUs of the node, its disk, or its links (interconnect.mode = "contended")"""
    factor: Annotated[Positive, Field(le=FASTEST)] | None = None
    """slow: its speed then, as a share of its own, at most 1; arrivals: the speed of the arrival clock"""
    job: Number | None = None
    """kill: the job, by its number"""
    task: Number | None = None
    """send: the task, by its number"""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Act:
        needed = NEEDS[self.act]
        words = f"it takes {', '.join(needed[:-1])}{' and ' if needed[1:] else ''}{needed[-1]}"
        for name in ("node", "device", "factor", "job", "task"):
            value = getattr(self, name)
            if name in needed and value is None:
                raise ValueError(f'{name}: act "{self.act}" needs it; {words}')
            if name not in needed and value is not None:
                raise ValueError(f'{name} {value}: act "{self.act}" has none; {words}')
        if self.act == "slow" and self.factor is not None and self.factor > 1.0:
            raise ValueError(f'factor {self.factor:g}: act "slow" takes a share of the speed, above 0 and at most 1')
        return self


def check_script(acts: Sequence[Act], nodes: int, arrivals: str, mode: str, network: str) -> None:
    """Check the acts of a script against their scenario.

    Args:
        acts: of the script.
        nodes: cluster.nodes.
        arrivals: workload.arrivals.kind.
        mode, network: interconnect.mode and interconnect.kind.

    Raises ValueError: an act names a node that is not there, or what the scenario has not.
    """
    for place, act in enumerate(acts):
        if act.node is not None and act.node >= nodes:
            raise ValueError(f"script.{place}.node {act.node}: must be below cluster.nodes {nodes}")
        if act.act == "arrivals" and arrivals == "closed":
            raise ValueError(
                f'script.{place}.act "arrivals": jobs of workload.arrivals.kind "closed" come when others have ended; '
                "there is no arrival clock"
            )
        if act.device == "link" and (problem := problem_of_links(mode, network)):
            raise ValueError(f'script.{place}.device "link": {problem}')
