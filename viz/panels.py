"""The panels of the page, each a piece of HTML made of frames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from cluster_abm.model.negotiation.decisions import DecisionRecord
from cluster_abm.results.colours import colours_of
from cluster_abm.results.style import plain
from viz import charts, colours, network
from viz.charts import Line
from viz.colours import index_of
from viz.markup import Markup, joined, tag
from viz.run import Run, Watched

# Pixels of the maps: alone, and each of two.
ALONE, BESIDE = (590.0, 437.0), (490.0, 310.0)
NAMES = "AB"
ROWS, ROWS_BESIDE = 6, 11
ROWS_OF_A_LIFE = 3


def panels(runs: Sequence[Run], index: str, error: str, note: str = "") -> list[list[str]]:
    """All panels as [name, HTML], in the order in which they stand on the page.

    Args:
        runs: one, or two side by side.
        index: by which nodes are coloured, a name of colours.INDICES.
        error: what went wrong; "" if nothing did.
        note: what went wrong with the run before this one; "" if nothing did.
    """
    trouble: list[list[str]] = []
    if error:
        trouble = [["error", tag("div", tag("b", "The run has stopped. "), error)]]
    elif note:
        trouble = [["note", tag("div", tag("b", "The run before was stopped. "), note)]]
    if not runs:
        return trouble
    kind = index_of(index, any(run.per_core for run in runs))
    # Both maps by one scale: the same colour is the same load.
    full = colours.scale_of(kind, max(run.largest(index) for run in runs))
    found: list[list[str]] = [*trouble]
    for place, run in enumerate(runs):
        title = tag("h2", f"{_name(runs, place)}{kind.words}")
        drawn = network.draw(
            run.map, run.frame, run.model.network, kind, full, f"network, nodes coloured by {kind.words}"
        )
        found.append([f"map{place}", joined(title, drawn)])
    found += [["numbers", _numbers(runs)], ["lines", _lines(runs)]]
    for place, run in enumerate(runs):
        size = (590.0, 252.0) if len(runs) == 1 else (490.0, 108.0)
        over_time = f"{_name(runs, place)}{kind.words.split(':')[0]} of the nodes over time"
        heat = charts.heat_map(over_time, run.times_s, run.column(index), kind, full, *size)
        found.append([f"heat{place}", heat])
    found.append(["talk", negotiations(runs)])
    return found


def _name(runs: Sequence[Watched], place: int) -> str:
    return "" if len(runs) == 1 else f"{NAMES[place]} {runs[place].model.policy_name} · "


def _numbers(runs: Sequence[Run]) -> Markup:
    """Totals so far, and with two runs the difference of the second to the first."""
    rows: list[tuple[str, list[float], str]] = []
    for words, read, unit in (
        ("mean slowdown", lambda frame: frame.mean_slowdown, ""),
        ("CPU busy now", lambda frame: 100 * frame.cpu_utilisation, " %"),
        ("disk busy now", lambda frame: 100 * frame.disk_utilisation, " %"),
        ("load imbalance", lambda frame: frame.lif_ms / 1000, " s"),
        ("jobs submitted", lambda frame: frame.jobs["submitted"], ""),
        ("jobs running now", lambda frame: frame.jobs["running"] + frame.jobs["blocked"], ""),
        ("jobs finished", lambda frame: frame.jobs["finished"], ""),
        ("killed, lost", lambda frame: frame.jobs["killed"] + frame.jobs["lost"], ""),
        ("started elsewhere", lambda frame: frame.totals["remote_executions"], ""),
        ("migrations", lambda frame: frame.totals["migrations"], ""),
        ("refused offers", lambda frame: frame.totals["refused_offers"], ""),
        ("page faults", lambda frame: frame.totals["page_faults"], ""),
        ("nodes out now", lambda frame: int((~frame.up).sum()), ""),
    ):  # fmt: skip
        rows.append((words, [float(read(run.frame)) for run in runs], unit))
    two = len(runs) == 2
    inks = colours_of([run.model.policy_name for run in runs])
    heads = [
        tag("th", tag("i", style=f"background:{ink}"), f"{NAMES[place]} " if two else "", run.model.policy_name)
        for place, (run, ink) in enumerate(zip(runs, inks, strict=True))
    ]
    body = []
    for words, values, unit in rows:
        cells = [tag("td", _figure(value, unit)) for value in values]
        if two:
            difference = values[1] - values[0]
            sign = "+" if difference > 0 else ""
            cells.append(tag("td", "–" if math.isnan(difference) else f"{sign}{_figure(difference, unit)}"))
        body.append(tag("tr", tag("th", words), *cells))
    head = tag("tr", tag("th", "So far"), *heads, *([tag("th", "B − A")] if two else []))
    # All panels come at once, but not with the clock beside the buttons: of which moment they are stands here.
    ms = max(run.frame.now_ms for run in runs)
    return tag("table", tag("thead", head), tag("tbody", *body), class_="numbers", data_ms=ms)


def _figure(value: float, unit: str) -> str:
    if math.isnan(value):
        return "–"
    if unit == " %":
        # Plus 0, since there is no less than nothing.
        return f"{round(value, 1) + 0.0:g}{unit}"
    # Counts in full, measures to three or four digits.
    digits = 9 if value == round(value) else 3 if abs(value) < 1000 else 4
    return f"{plain(round(value, 6), digits)}{unit}"


def _lines(runs: Sequence[Run]) -> Markup:
    two = len(runs) == 2
    inks = colours_of([run.model.policy_name for run in runs])
    # Runs have the same clock: the longer one's times are both's.
    times_s = max((run.times_s for run in runs), key=len)
    width, height = (285.0, 84.0) if two else (395.0, 99.0)

    def of(run: Run, name: str) -> list[float]:
        values = run.series(name)
        return values + [math.nan] * (len(times_s) - len(values))

    def each(name: str) -> list[Line]:
        return [
            Line(NAMES[place] if two else "", inks[place], place == 1, of(run, name)) for place, run in enumerate(runs)
        ]

    # In grey the two are distinct by their widths.
    kinds = (("CPU", "cpu_utilisation", colours.CPU, 1.2), ("disk", "disk_utilisation", colours.DISK, 2.6))
    percent = [
        Line(words if place == 0 else "", colour, place == 1, [100 * value for value in of(run, name)], thick)
        for place, run in enumerate(runs)
        for words, name, colour, thick in kinds
    ]
    imbalance = [replace(line, values=[value / 1000 for value in line.values]) for line in each("lif_ms")]
    return joined(
        charts.lines("Mean slowdown", times_s, each("mean_slowdown"), width, height),
        charts.lines("Busy [%]", times_s, percent, width, height, top=100.0),
        charts.lines("Load imbalance [s]", times_s, imbalance, width, height),
    )


def negotiations(runs: Sequence[Watched], can_pick: bool = True) -> Markup:
    """The newest decisions, and the life of the job that was picked."""
    lives = [(place, run.frame.life) for place, run in enumerate(runs) if run.frame.life is not None]
    parts: list[object] = []
    for place, life in lives:
        if life is not None:
            where = f", on {_nodes(life.nodes)}" if life.nodes else ""
            title = (
                f"{_name(runs, place)}job {life.job}: {life.state}, {life.finished_tasks} of {life.tasks} tasks done"
            )
            parts += [tag("h2", title, where), charts.life(life, 330.0 if len(runs) == 2 else 393.0)]
    room = (ROWS if len(runs) == 1 else ROWS_BESIDE) - ROWS_OF_A_LIFE * len(lives)
    newest = [(place, decision) for place, run in enumerate(runs) for decision in run.frame.decisions[-room:]]
    newest.sort(key=lambda one: -one[1].time_ms)
    heads = ["s", "job: task", "from", "to", "why", "answer"]
    if len(runs) == 2:
        heads.insert(0, "")
    rows = [tag("tr", *cells, data_job=decision.job) for decision, cells in _rows(newest[:room], len(runs) == 2)]
    if not rows:
        rows = [tag("tr", tag("td", "no decision has been taken yet", colspan=len(heads), class_="faint"))]
    table = tag("table", tag("thead", tag("tr", *(tag("th", head) for head in heads))), tag("tbody", *rows))
    hint = "" if lives or not can_pick else tag("span", " click one for its job's life", class_="faint small")
    return joined(*parts, tag("h2", "Last negotiations", hint), table)


def _rows(newest: Sequence[tuple[int, DecisionRecord]], two: bool) -> list[tuple[DecisionRecord, list[Markup]]]:
    found = []
    for place, decision in newest:
        stays = decision.source == decision.target
        why = decision.rule or decision.index
        answer = "stays" if stays else "accepted" if decision.accepted else "refused"
        if decision.reason and decision.reason != why:
            answer += f": {decision.reason}"
        colour = "faint" if stays else "yes" if decision.accepted else "no"
        cells = [
            tag("td", f"{decision.time_ms / 1000:,.2f}"),
            tag("td", f"{decision.job}: {decision.task}"),
            tag("td", decision.source),
            tag("td", decision.target),
            tag("td", why, title=why),
            tag("td", answer, class_=colour, title=answer),
        ]
        if two:
            cells.insert(0, tag("td", NAMES[place]))
        found.append((decision, cells))
    return found


def _nodes(nodes: Sequence[int]) -> str:
    if len(nodes) == 1:
        return f"node {nodes[0]}"
    shown = ", ".join(map(str, nodes[:8]))
    return f"nodes {shown}{' …' if len(nodes) > 8 else ''}"
