"""A fitted scenario as a file that can be read: what it was fitted from, how near it is, and how to scale it."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import tomli_w

from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.schema import Workload
from cluster_abm.study.fitting.distances import Distances
from cluster_abm.study.fitting.fit import Fitted
from cluster_abm.study.fitting.log import JobLog
from cluster_abm.study.fitting.verdicts import NotJudged, QueueingJudgement

WIDTH = 100
_NUMBERS = re.compile(r"\[\n((?: +[-+0-9.e]+,\n)+)\]")
HOW_TO_SCALE = (
    "To scale: workload.jobs_per_s is the load (or workload.utilisation), duration_s the length of time, cluster.nodes "
    "the size (weights of workload.home are by node), scale in a law makes its values larger"
)


def scenario_text(
    fitted: Fitted, log: JobLog, found: Distances, judged: QueueingJudgement | NotJudged, is_half: bool = False
) -> str:
    """The scenario as TOML, with comments at its head.

    Args:
        fitted: the scenario.
        log: what it was fitted to; found: how far from it are draws.
        judged: what came of the judgement by queueing.
        is_half: whether every other week of the log was held back.

    Raises InputError: the text does not say the same scenario: our fault.
    """
    lines = [f"Fitted by `cluster-abm trace fit` to {log.file}", f"{_of_log(log)}."]
    if is_half:
        lines.append("Fitted to its first, third, fifth ... week; the second, fourth ... were held back.")
    lines += [f"Drawn from seeds {found.seeds[0]} to {found.seeds[-1]}: {one}" for one in _near(found)]
    lines += [f"Note: {note}" for note in fitted.notes]
    lines += judged.lines()
    lines.append(f"{HOW_TO_SCALE}{_what_else(fitted.scenario.workload)}.")
    if fitted.course.clock:
        lines.append(f"Hours are {fitted.course.clock}.")
    head = "".join(f"# {part}\n" for line in lines for part in textwrap.wrap(_plain(line), WIDTH - 2))
    body = _wrapped(tomli_w.dumps(fitted.tables))
    import tomllib

    if scenario_from(tomllib.loads(body), "scenario") != fitted.scenario:
        raise InputError("the fitted scenario cannot be written as TOML that says the same")
    return f"{head}\n{body}"


def _plain(line: str) -> str:
    """Names of files may hold anything, a line's end too."""
    return "".join(letter if letter.isprintable() else "?" for letter in line)


def _what_else(work: Workload) -> str:
    """Further keys of the scenario that change something."""
    found = []
    if work.kind == "sessions":
        if work.sessions.hold_back_s > 0.0:
            found.append("workload.sessions.hold_back_s = 0 has no session put off")
        if work.sessions.can_wait:
            found.append('workload.users = "react" has users wait for the ends in the run')
    else:
        if work.arrivals.kind != "poisson":
            found.append('workload.arrivals.kind = "poisson" takes the bursts away')
        if work.repeats.share > 0.0:
            found.append("workload.repeats.share = 0 takes the likeness of jobs to those before away")
    return "".join(f"; {one}" for one in found)


def _of_log(log: JobLog) -> str:
    jobs = log.jobs
    return f"{len(jobs.times_s):,} jobs in {jobs.window_s:,.6g} s; columns: {', '.join(jobs.columns) or 'none'}"


def _near(found: Distances) -> list[str]:
    lines = []
    if found.law:
        each = ", ".join(f"{name} {value:.4f}" for name, value in found.law.items())
        lines.append(f"Kolmogorov-Smirnov distance of the laws: {each}.")
    if found.drawn.keys() - found.law.keys():
        each = ", ".join(f"{name} {value:.4f}" for name, value in found.drawn.items() if name not in found.law)
        lines.append(f"mean Kolmogorov-Smirnov distance of the draws: {each}.")
    if found.dispersions:
        each = ", ".join(f"{pair.log:.3g}/{pair.model:.3g} ({key:g} s)" for key, pair in found.dispersions.items())
        lines.append(f"dispersion of counts, log/model: {each}.")
    if found.correlations:
        each = ", ".join(f"{pair.log:.2f}/{pair.model:.2f} ({key})" for key, pair in found.correlations.items())
        lines.append(f"rank correlations, log/model: {each}.")
    return lines


def _wrapped(text: str) -> str:
    """Lists of numbers over few lines in place of a line for each number."""

    def filled(found: re.Match[str]) -> str:
        numbers = " ".join(found[1].split())
        inner = textwrap.fill(numbers, WIDTH, initial_indent="    ", subsequent_indent="    ")
        short = f"[{numbers.rstrip(',')}]"
        return short if len(short) < WIDTH - 20 else f"[\n{inner}\n]"

    return _NUMBERS.sub(filled, text)


def document(
    fitted: Fitted, log: JobLog, found: Distances, judged: QueueingJudgement | NotJudged, text: str
) -> dict[str, Any]:
    """What `trace fit --json` prints, but for the policies."""
    return {
        "file": log.file,
        "jobs": len(log.jobs.times_s),
        "window_s": log.jobs.window_s,
        "fitted": list(log.jobs.columns),
        "notes": list(fitted.notes),
        "distances": found.as_json(),
        "queueing": judged.as_json(),
        "scenario": text,
    }
