"""The panels of the page, each a piece of HTML made of frames."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cluster_abm.results.colours import colours_of
from cluster_abm.results.load_scale import joint
from cluster_abm.results.style import plain
from viz import charts, colours, network
from viz.charts import Line
from viz.colours import index_of
from viz.heard import Size
from viz.markup import Markup, joined, tag
from viz.quantities import BUSY, IMBALANCE, QUANTITIES, SLOWDOWN
from viz.run import Watched, WatchedRun
from viz.talk import NAMES, negotiations

# Room in each panel below its title [pixels], until the browser has measured it: of one run, of two.
ALONE: dict[str, Size] = {
    "map": (590.0, 437.0),
    "heat": (590.0, 230.0),
    "lines": (400.0, 230.0),
    "talk": (400.0, 190.0),
}
BESIDE: dict[str, Size] = {
    "map": (490.0, 310.0),
    "heat": (490.0, 108.0),
    "lines": (300.0, 240.0),
    "talk": (360.0, 240.0),
}
# From this ratio of width to height on, charts stand side by side in a panel.
ACROSS = 3.0
MAP_TIP = (
    "Each circle is a node, the larger the more tasks; lines are links, arrows tasks that have moved since the last "
    "frame. Point at a node for its numbers; click an arrow for its job's life."
)


def room(sizes: Mapping[str, Size], two: bool, name: str) -> Size:
    """The room in a panel: as measured, else as it usually is."""
    return sizes.get(name, (BESIDE if two else ALONE)[name.rstrip("01")])


def panels(
    runs: Sequence[WatchedRun], index: str, error: str, note: str = "", sizes: Mapping[str, Size] | None = None
) -> list[list[str]]:
    """All panels as [name, HTML], in the order in which they stand on the page.

    Args:
        runs: one, or two side by side.
        index: by which nodes are coloured, a name of colours.INDICES.
        error: what went wrong; "" if nothing did.
        note: what went wrong with the run before this one; "" if nothing did.
        sizes: the room in panels, by name, as the browser has measured it.
    """
    trouble: list[list[str]] = []
    if error:
        trouble = [["error", tag("div", tag("b", "The run has stopped. "), error)]]
    elif note:
        trouble = [["note", tag("div", tag("b", "The run before was stopped. "), note)]]
    if not runs:
        return trouble
    sizes, two = sizes or {}, len(runs) == 2
    kind = index_of(index, any(run.per_core for run in runs))
    # Both maps by one scale: the same colour is the same load.
    scale = joint([run.scale(index) for run in runs])
    shown: list[list[str]] = [*trouble]
    for number, run in enumerate(runs):
        run.resize(*room(sizes, two, f"map{number}"))
        label = f"network, nodes coloured by {kind.words}"
        drawn = network.draw(run.map, run.frame, run.model.network, kind, scale, label)
        shown.append([f"map{number}", _panel(f"{_name(runs, number)}{kind.words}", f"{kind.tip} {MAP_TIP}", drawn)])
    shown += [["numbers", _numbers(runs)], ["lines", _lines(runs, room(sizes, two, "lines"))]]
    for number, run in enumerate(runs):
        over_time = f"{_name(runs, number)}{kind.short} of the nodes over time"
        size = room(sizes, two, f"heat{number}")
        heat = charts.heat_map(over_time, run.times_s, run.column(index), kind, scale, *size)
        shown.append([f"heat{number}", tag("div", heat, class_="body")])
    talk = negotiations(runs, room(sizes, two, "talk"))
    shown.append(["talk", _panel("Last negotiations", TALK_TIP, talk)])
    return shown


TALK_TIP = "The newest decisions of the load managers, the last one first. Click one for the life of its job."


def _panel(title: str, tip: str, body: Markup) -> Markup:
    """A title that says what the panel shows when one points at it, or comes to it by the keyboard, and the rest."""
    return joined(
        tag("h2", title, tabindex=0, data_tip=tip, data_key=f"title {title}"), tag("div", body, class_="body")
    )


def _name(runs: Sequence[Watched], number: int) -> str:
    return "" if len(runs) == 1 else f"{NAMES[number]} {runs[number].model.policy_name} · "


def _numbers(runs: Sequence[WatchedRun]) -> Markup:
    """Totals so far, and with two runs the difference of the second to the first."""
    two = len(runs) == 2
    inks = colours_of([run.model.policy_name for run in runs])
    heads = [
        tag(
            "th",
            tag("i", style=f"background:{ink}"),
            f"{NAMES[number]}\N{NO-BREAK SPACE}" if two else "",
            run.model.policy_name,
        )
        for number, (run, ink) in enumerate(zip(runs, inks, strict=True))
    ]
    body = []
    for quantity in QUANTITIES:
        values = [float(quantity.read(run.frame)) for run in runs]
        cells = [tag("td", _figure(value, quantity.unit)) for value in values]
        if two:
            difference = values[1] - values[0]
            words = _figure(difference, quantity.unit)
            if difference > 0 and words != _figure(0.0, quantity.unit):
                words = f"+{words}"
            cells.append(tag("td", words))
        head = tag("th", quantity.words, tabindex=0, data_tip=quantity.tip, data_key=quantity.words)
        body.append(tag("tr", head, *cells))
    tip = "What the second policy has more than the first."
    last = [tag("th", "B − A", tabindex=0, data_tip=tip, data_key="difference")] if two else []
    moment = tag(
        "th", "So far", tabindex=0, data_key="so far", data_tip="From the beginning of the run to this moment."
    )
    head = tag("tr", moment, *heads, *last)
    # All panels come at once, but not with the clock beside the buttons: of which moment they are stands here.
    ms = max(run.frame.now_ms for run in runs)
    return tag("table", tag("thead", head), tag("tbody", *body), class_="numbers", data_ms=ms)


def _figure(value: float, unit: str) -> str:
    if math.isnan(value):
        return "–"
    # Adding 0 turns -0 into 0.
    if unit == " %":
        return f"{round(value, 1) + 0.0:g}{unit}"
    # Counts in full, measures to three or four digits.
    digits = 9 if value == round(value) else 3 if abs(value) < 1000 else 4
    return f"{plain(round(value, 6) + 0.0, digits)}{unit}"


def _lines(runs: Sequence[WatchedRun], size: Size) -> Markup:
    two = len(runs) == 2
    inks = colours_of([run.model.policy_name for run in runs])
    # Runs have the same clock: the longer one's times are both's.
    times_s = max((run.times_s for run in runs), key=len)
    across = size[0] > ACROSS * size[1]
    width, height = (size[0] / 3 - 8, size[1]) if across else (size[0], size[1] / 3)

    def of(run: WatchedRun, name: str) -> list[float]:
        values = run.series(name)
        return values + [math.nan] * (len(times_s) - len(values))

    def each(name: str) -> list[Line]:
        return [
            Line(NAMES[number] if two else "", inks[number], number == 1, of(run, name))
            for number, run in enumerate(runs)
        ]

    # In grey the two are distinct by their widths.
    kinds = (("CPU", "cpu_utilisation", colours.CPU, 1.2), ("disk", "disk_utilisation", colours.DISK, 2.6))
    percent = [
        Line(words if number == 0 else "", colour, number == 1, [100 * value for value in of(run, name)], thick)
        for number, run in enumerate(runs)
        for words, name, colour, thick in kinds
    ]
    imbalance = [replace(line, values=[value / 1000 for value in line.values]) for line in each("lif_ms")]
    drawn = joined(
        charts.lines("Mean slowdown", times_s, each("mean_slowdown"), width, height, tip=SLOWDOWN),
        charts.lines("Busy [%]", times_s, percent, width, height, top=100.0, tip=BUSY),
        charts.lines("Load imbalance [s]", times_s, imbalance, width, height, tip=IMBALANCE),
    )
    return tag("div", drawn, class_=f"body {'across' if across else 'down'}")
