"""What the numbers of a table estimate, in words: from when to when, and how many relaxation times that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from cluster_abm.scenario import Scenario
from cluster_abm.workload.jobs import work_of
from cluster_abm.workload.laws.relaxation import Relaxation, relaxation_of
from cluster_abm.workload.offered import offered_load

# Windows of fewer relaxation times depend on how they begin and end: warn.
FEW = 20.0


class Estimated(NamedTuple):
    """The window that metrics of jobs are about; of several scenarios the least and the largest numbers.

    Attributes:
        from_s: jobs that arrive before are left out [s]: the earliest and the latest beginning.
        warmup: `measure.warmup`.
        until: "drained", or the end of the run [ms].
        times: relaxation times that the windows last; None: none is known.
        why_none: why there is no relaxation time, in words; "": there is one, or no window is known.
        unsettled: runs in which MSER found no steady state.
    """

    from_s: tuple[float, float]
    warmup: str
    until: str | float
    times: tuple[float, float] | None
    why_none: str
    unsettled: int

    @property
    def words(self) -> list[str]:
        """The line for the head of a table, and warnings, a line each."""
        low, high = self.from_s
        if high > 0.0:
            begins = f"{low:.4g} s" if low == high else f"{low:.4g} to {high:.4g} s"
            found = "mser" if self.warmup == "mser" else "measure.from_s"
            lines = [f"estimated: from {begins} on ({found})"]
        else:
            end = "empty" if self.until == "drained" else f"{float(self.until) / 1000.0:.4g} s"
            lines = [f"estimated: the window from empty to {end}"]
        if self.times is not None:
            least, most = (f"{one:.2g}" if one < FEW else f"{one:,.0f}" for one in self.times)
            lines[0] += f", {least if least == most else f'{least} to {most}'} relaxation times"
        elif self.why_none:
            lines[0] += f"; no relaxation time: {self.why_none}"
            lines.append("warning: the numbers depend on how long jobs arrive, however long that is")
        if self.times is not None and self.times[0] < FEW:
            lines.append(
                f"warning: below {FEW:g} relaxation times the empty start and the end decide too; extend the arrivals"
            )
        if self.unsettled:
            runs = "1 run shows" if self.unsettled == 1 else f"{self.unsettled} runs show"
            lines.append(
                f"warning: {runs} no steady state, and what is left out for it is a guess; extend the arrivals"
            )
        return lines

    def as_json(self) -> dict[str, Any]:
        """The same for JSON: the latest beginning, and the least number of relaxation times."""
        times = None if self.times is None else self.times[0]
        return {"from_s": self.from_s[1], "warmup": self.warmup, "relaxation_times": times}


def estimated(runs: Sequence[tuple[Scenario, Iterable[Mapping[str, Any]]]]) -> Estimated:
    """What runs estimate.

    Args:
        runs: each scenario, with the rows of its runs, which have `from_s` and `warmup_settled` where jobs at the
            beginning are left out; some that stand for all, where there are many. At least one.
    """
    windows, unsettled = [], 0
    for scenario, rows in runs:
        found = [(row.get("from_s", 0.0), row.get("warmup_settled", 1)) for row in rows]
        begins_s = [begin_s for begin_s, _ in found if begin_s == begin_s] or [scenario.measure.from_s]
        windows.append(((min(begins_s), max(begins_s)), _relaxation(scenario)))
        unsettled += sum(settled == 0 for _, settled in found)
    return estimated_by(runs[0][0], windows, unsettled)


def estimated_by(
    scenario: Scenario, windows: Sequence[tuple[tuple[float, float], Relaxation | None]], unsettled: int
) -> Estimated:
    """As `estimated`, with the relaxation times that are known already.

    Args:
        scenario: one of those that are run.
        windows: of each scenario the earliest and the latest beginning [s], and its relaxation time.
        unsettled: as of `Estimated`.
    """
    reasons = [one.why_none for _, one in windows if one is not None and one.why_none]
    times = [one.count_from(begins_s[1]) for begins_s, one in windows if one is not None]
    known = [one for one in times if one is not None]
    # Where one of the windows has no relaxation time the others do not speak for it.
    is_known = bool(known) and not reasons
    return Estimated(
        (min(begins_s[0] for begins_s, _ in windows), max(begins_s[1] for begins_s, _ in windows)),
        scenario.measure.warmup,
        scenario.run.until,
        (min(known), max(known)) if is_known else None,
        reasons[0] if reasons else "",
        unsettled,
    )


def _relaxation(scenario: Scenario) -> Relaxation | None:
    work = work_of(scenario, scenario.run.seed, may_be_late=scenario.measure.records != "all")
    return relaxation_of(scenario, work, offered_load(scenario, work))
