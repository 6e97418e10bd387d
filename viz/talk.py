"""The last negotiations: each decision with its reason in words, and the life of the job that was picked."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cluster_abm.model.deciding.decisions import DecisionRecord
from cluster_abm.policies import available
from cluster_abm.policy.base import Policy
from cluster_abm.policy.reasons import Reason, reason_of
from cluster_abm.results.style import plain
from viz import charts
from viz.markup import Markup, joined, tag
from viz.run import Watched

NAMES = "AB"
# Heights [pixels]: of the table's head, of a decision in one, two and three lines, and of a life with its title.
HEAD, LINES, LIFE = 19.0, (18.0, 37.0, 54.0), 84.0
# Panels of that width have a decision in one line, and in two.
WIDE, MIDDLE = 840.0, 540.0
HEADS = (
    ("s", "Simulated time of the decision: the start of its slice."),
    ("job: task", "The job and its task that is placed or moved."),
    ("way", "From the task's node to the target; one node: it stays."),
    ("why", "The rule of the policy that decided, with the lines of its paper. Point at one for the numbers compared."),
    ("answer", "Whether the task stays, or what the target has answered by its own true state."),
)


def negotiations(runs: Sequence[Watched], size: tuple[float, float], can_pick: bool = True) -> Markup:
    """The newest decisions, and the life of the job that was picked.

    Args:
        runs: one, or two beside each other.
        size: width and height of what there is room for [pixels].
        can_pick: whether a click on a decision shows its job's life.
    """
    width, height = size
    parts: list[object] = []
    for number, run in enumerate(runs):
        life = run.frame.life
        if life is not None:
            height -= LIFE
            where = f", on {_nodes(life.nodes)}" if life.nodes else ""
            named = f"{NAMES[number]} {run.model.policy_name} · " if len(runs) == 2 else ""
            words = f"{named}job {life.job}: {life.state}, {life.finished_tasks} of {life.tasks} tasks done{where}"
            parts.append(tag("div", tag("h3", words), charts.life(life, width), class_="life"))
    wide, lines = width >= WIDE, 1 if width >= WIDE else 2 if width >= MIDDLE else 3
    room = max(1, int((height - (HEAD if wide else 0)) // LINES[lines - 1]))
    newest = [(number, decision) for number, run in enumerate(runs) for decision in run.frame.decisions[-room:]]
    newest.sort(key=lambda entry: -entry[1].time_ms)
    show = _in_one_line if wide else _in_several_lines
    shown = [show(runs, number, decision) for number, decision in newest[:room]]
    if not shown:
        shown = [tag("tr", tag("td", _of_none(runs), colspan=5, class_="faint"))]
    heads = [tag("th", words, tabindex=0, data_tip=tip, data_key=f"talk {words}") for words, tip in HEADS]
    head = tag("thead", tag("tr", *heads)) if wide else ""
    table = tag("table", head, tag("tbody", *shown), class_=f"lines-{lines}", data_picks=int(can_pick))
    return joined(*parts, table)


def _of_none(runs: Sequence[Watched]) -> str:
    """Why there is no decision to show."""
    if all(run.model.policy_name == "none" for run in runs):
        return "none decides nothing: every task starts at home. Choose another policy to see decisions."
    return "no decision has been taken yet"


def _in_one_line(runs: Sequence[Watched], number: int, decision: DecisionRecord) -> Markup:
    reason, (answer, kind) = _reason(runs[number], decision), _answer(decision)
    why = tag("td", f"{reason.words} ", tag("span", reason.lines, class_="faint"), class_="why")
    cells = [
        tag("td", _time(runs, number, decision)),
        tag("td", f"{decision.job}: {decision.task}"),
        tag("td", _way(decision)),
        why,
        tag("td", answer, class_=f"answer {kind}"),
    ]
    return tag("tr", *cells, data_job=decision.job, data_tip=_numbers(reason, decision, answer))


def _in_several_lines(runs: Sequence[Watched], number: int, decision: DecisionRecord) -> Markup:
    reason, (answer, kind) = _reason(runs[number], decision), _answer(decision)
    time = tag("span", _time(runs, number, decision), " s · ")
    first = tag("div", time, f"job {decision.job} · ", f"{_way(decision)} · ", tag("span", answer, class_=kind))
    second = tag("div", f"{reason.words} ", tag("span", reason.lines, class_="faint"), class_="why")
    tip = _numbers(reason, decision, answer)
    return tag("tr", tag("td", first, second), data_job=decision.job, data_tip=tip)


def _time(runs: Sequence[Watched], number: int, decision: DecisionRecord) -> str:
    return f"{NAMES[number]} " * (len(runs) == 2) + f"{decision.time_ms / 1000:,.2f}"


def _way(decision: DecisionRecord) -> str:
    return f"{decision.source}" if decision.source == decision.target else f"{decision.source} → {decision.target}"


def _reason(run: Watched, decision: DecisionRecord) -> Reason:
    # Where nodes have different policies, a rule that the run's own one has not is the rule's name.
    return reason_of(available().get(run.model.policy_name, Policy), decision)


def _answer(decision: DecisionRecord) -> tuple[str, str]:
    """The answer, and the class of its colour."""
    if decision.source == decision.target:
        return "stays", "faint"
    if decision.accepted:
        return "accepted", "yes"
    return f"refused: {decision.reason}" if decision.reason else "refused", "no"


def _numbers(reason: Reason, decision: DecisionRecord, answer: str) -> str:
    """What a tooltip says of a decision: all of its words, and the numbers that were compared."""
    said = [f"Task {decision.task} of job {decision.job}: {reason.words} ({reason.lines}); {answer}."]
    loads = (("task", decision.task_load), ("here", decision.load_here), ("there", decision.load_there))
    known = [f"{plain(value, 4)} ({words})" for words, value in loads if math.isfinite(value)]
    if decision.index and known:
        said.append(f"{decision.index}: {', '.join(known)}.")
    times = (
        ("expected response here", decision.response_here_ms),
        ("there", decision.response_there_ms),
        ("cost of the move", decision.cost_ms),
    )
    known = [f"{words} {plain(value / 1000, 3)} s" for words, value in times if math.isfinite(value)]
    if known:
        said.append(f"{', '.join(known)}.".capitalize())
    said.append(f"Rule: {decision.rule}.")
    return " ".join(said)


def _nodes(nodes: Sequence[int]) -> str:
    if len(nodes) == 1:
        return f"node {nodes[0]}"
    shown = ", ".join(map(str, nodes[:4]))
    return f"nodes {shown}{' …' if len(nodes) > 4 else ''}"
