"""Lines over time, a heat map of nodes over time, and a job's breakdown as a bar."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.image import imsave

from cluster_abm.arrays import Floats
from cluster_abm.model.observing.watching import JobLife
from cluster_abm.results.colours import BREAKDOWN_COLOURS
from cluster_abm.results.load_scale import LoadScale
from cluster_abm.results.style import BREAKDOWN_WORDS, plain
from viz import colours
from viz.colours import Index
from viz.markup import Markup, joined, svg, tag, text

LEFT, RIGHT, TOP, BOTTOM = 40.0, 8.0, 20.0, 18.0
# Of lines: the uppermost number stands free of the title.
TOP_OF_LINES = 25.0
# A chart so high has five marks along its axis.
TALL = 170.0


@dataclass(frozen=True, eq=False)
class Line:
    """One line: its name in the legend, colour, whether dashed, its values, NaN where there is none, and its width."""

    name: str
    colour: str
    dashed: bool
    values: Sequence[float]
    width: float = 1.8


def lines(
    title: str,
    times_s: Sequence[float],
    drawn: Sequence[Line],
    width: float,
    height: float,
    top: float | None = None,
    tip: str = "",
) -> Markup:
    """A small chart of lines over simulated time [s].

    Args:
        title: what the values are, with their unit.
        top: upper end of the axis; without it a round number above all values.
        tip: what the values are, in a sentence.
    """
    values = np.array([value for line in drawn for value in line.values if math.isfinite(value)])
    high = top if top is not None else round_above(float(values.max()) if len(values) else 1.0)
    first, last = (times_s[0], times_s[-1]) if len(times_s) > 1 else (0.0, 1.0)
    span = (last - first) or 1.0

    def point(time_s: float, value: float) -> tuple[float, float]:
        x = LEFT + (width - LEFT - RIGHT) * (time_s - first) / span
        return x, height - BOTTOM - (height - TOP_OF_LINES - BOTTOM) * min(1.05, value / high)

    parts: list[object] = [_title(title, tip)]
    for value in round_times(0.0, high, 6) if height >= TALL else (0.0, high / 2, high):
        _, y = point(first, value)
        parts.append(tag("path", d=f"M{LEFT:.0f} {y:.1f}H{width - RIGHT:.0f}", stroke=colours.LINE))
        parts.append(text(LEFT - 5, y + 3.5, _short(value), text_anchor="end", font_size=11))
    parts.append(_times(first, last, width, height))
    for line in drawn:
        path, pen_is_down = [], False
        for time_s, value in zip(times_s, line.values, strict=True):
            if not math.isfinite(value):
                pen_is_down = False
                continue
            path.append("{}{:.1f} {:.1f}".format("L" if pen_is_down else "M", *point(time_s, value)))
            pen_is_down = True
        parts.append(_stroke("".join(path), line, "5 3"))
    parts.append(_names(drawn, width))
    return svg(width, height, tag("g", *parts, fill=colours.FAINT), label=title)


def _times(first_s: float, last_s: float, width: float, height: float) -> Markup:
    """Round times along the lower edge, with their unit."""
    span_s = (last_s - first_s) or 1.0
    parts = []
    for time_s in round_times(first_s, last_s, max(2, int(width // 90))):
        x = LEFT + (width - LEFT - RIGHT) * (time_s - first_s) / span_s
        anchor = "start" if x < LEFT + 20 else "end" if x > width - RIGHT - 20 else "middle"
        parts.append(tag("path", d=f"M{x:.1f} {height - BOTTOM:.1f}v3", stroke=colours.FAINT))
        parts.append(text(x, height - 4, f"{plain(time_s, 6)} s", text_anchor=anchor, font_size=11))
    return joined(*parts)


def round_times(first: float, last: float, most: int) -> list[float]:
    """At most `most` multiples, within a range, of the least of 1, 2, 5, 10 ... times a power of ten that allows it.

    >>> round_times(0.0, 143.0, 4), round_times(0.0, 0.5, 3)
    ([0.0, 50.0, 100.0], [0.0, 0.2, 0.4])
    """
    if not last > first:
        return [first]
    power = 10.0 ** math.floor(math.log10((last - first) / most))
    for step in (1, 2, 5, 10, 20):
        low, high = math.ceil(first / (step * power) - 1e-9), math.floor(last / (step * power) + 1e-9)
        if high - low + 1 <= most:
            return [round(step * power * multiple, 12) for multiple in range(low, high + 1)]
    return [first]


def _title(words: str, tip: str) -> Markup:
    """The title of a chart, which says what it shows when one points at it, or comes to it by the keyboard."""
    given = {"tabindex": 0, "data_tip": tip, "data_key": words} if tip else {}
    return text(0, 12, words, font_size=12, fill=colours.INK, **given)


def _short(value: float) -> str:
    """A number beside an axis, in thousands or millions where it is long."""
    for times, letter in ((1e6, "M"), (1e3, "k")):
        if value >= 10 * times:
            return f"{plain(value / times, 3)}{letter}"
    return plain(value, 3)


def _names(drawn: Sequence[Line], width: float) -> Markup:
    """The lines' names at the right end of the title's line, the last one outermost."""
    parts, x = [], width - RIGHT
    for line in reversed(drawn):
        if not line.name:
            continue
        x -= 6.6 * len(line.name)
        parts.append(text(x, 12, line.name, font_size=11))
        x -= 18
        parts.append(_stroke(f"M{x:.0f} 8.5h14", line, "4 2"))
        x -= 8
    return joined(*parts)


def _stroke(path: str, line: Line, dashes: str) -> Markup:
    pattern = dashes if line.dashed else None
    return tag("path", d=path, fill="none", stroke=line.colour, stroke_width=line.width, stroke_dasharray=pattern)


def round_above(value: float) -> float:
    """The least of 1, 1.5, 2, 3, 4, 5, 6, 8, 10 times a power of ten that is not below a value.

    >>> round_above(0.0), round_above(3.2), round_above(4100.0)
    (1.0, 4.0, 5000.0)
    """
    if not value > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10, 20) if step * power >= value * (1 - 1e-12))


def heat_map(
    title: str, times_s: Sequence[float], columns: Floats, index: Index, scale: LoadScale, width: float, height: float
) -> Markup:
    """Nodes (upwards from 0) over time, coloured as in the map.

    Args:
        columns: the loads, shape (times, nodes).
        scale: of their values, as in the map.
    """
    inner_width, inner_height = width - LEFT - RIGHT, height - TOP - BOTTOM
    nodes = columns.shape[1]
    href = f"data:image/png;base64,{pixels(columns, index, scale)}"
    box = {"x": LEFT, "y": TOP, "width": inner_width, "height": inner_height}
    image = tag("image", href=href, **box, preserveAspectRatio="none", style="image-rendering:pixelated")
    frame = tag("rect", **box, fill="none", stroke=colours.LINE)
    parts = [
        _title(title, f"Each row is a node, each column a moment; coloured as the map above. {index.tip}"),
        image,
        frame,
        text(LEFT - 5, TOP + 9, nodes - 1, text_anchor="end", font_size=11),
        text(LEFT - 5, height - BOTTOM, 0, text_anchor="end", font_size=11),
        text(
            LEFT - 5, TOP + inner_height / 2 + 3, "node" if inner_height > 48 else "", text_anchor="end", font_size=11
        ),
        _times(times_s[0], times_s[-1], width, height),
    ]
    return svg(width, height, tag("g", *parts, fill=colours.FAINT), label=title)


def pixels(columns: Floats, index: Index, scale: LoadScale) -> str:
    """A PNG of one pixel a node and time, node 0 lowest, in base 64."""
    # 256 steps of the scale are more than the eye tells apart, and a table of them is fast.
    steps = 255 if index.name != "class" else 3
    table = np.array([colours.shade(index, step / steps) for step in range(steps + 1)], np.uint8)
    shares = scale.share(columns) if index.name != "class" else columns / 3
    chosen = np.clip(np.rint(shares * steps), 0, steps).astype(int)
    image = table[chosen].transpose(1, 0, 2)[::-1]
    file = io.BytesIO()
    imsave(file, np.ascontiguousarray(image), format="png")
    return base64.b64encode(file.getvalue()).decode("ascii")


def life(of: JobLife, width: float) -> Markup:
    """A job's time by what its tasks did, as one bar with its legend."""
    parts = {part: ms for part, ms in of.breakdown_ms.items() if ms > 0}
    total_ms = sum(parts.values()) or 1.0
    x, drawn = 0.0, []
    for part, ms in parts.items():
        share = width * ms / total_ms
        words = f"{_words(part)}: {plain(ms / 1000, 3)} s ({100 * ms / total_ms:.0f} %)"
        drawn.append(tag("rect", tag("title", words), x=x, y=0, width=share, height=18, fill=BREAKDOWN_COLOURS[part]))
        x += share
    at_x, at_y = 0.0, 34.0
    for part, ms in sorted(parts.items(), key=lambda item: -item[1]):
        words = f"{_words(part)} {100 * ms / total_ms:.0f} %"
        if at_x + 18 + 6 * len(words) > width:
            at_x, at_y = 0.0, at_y + 16
        drawn.append(tag("rect", x=at_x, y=at_y - 9, width=10, height=10, fill=BREAKDOWN_COLOURS[part]))
        drawn.append(text(at_x + 14, at_y, words, font_size=11))
        at_x += 26 + 6 * len(words)
    height = at_y + 6
    return svg(width, height, tag("g", *drawn, fill=colours.FAINT), label=f"life of job {of.job}")


def _words(part: str) -> str:
    return BREAKDOWN_WORDS.get(part, part.replace("_", " "))
