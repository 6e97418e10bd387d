"""What a referee says of a picture: axes without a name, labels over each other, a colour for two things, grey."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import Collection, PathCollection
from matplotlib.colors import rgb_to_hsv, to_rgba
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

DPI = 130
# Less saturated a colour is a grey: axes, remarks, the policy `none`.
GREY = 0.3
# Two greys that differ less in lightness (of 100) look alike in print.
ALIKE = 12.0
NUMBER = re.compile(r"^[−-]?[\d,.]+(e[−-]?\d+)?$")


def check_sheet(figure):
    """Return what is wrong with a picture, a sentence each; [] where nothing is."""
    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    # Twice, as for a file: what has room is known only after the first time.
    canvas.draw()
    canvas.draw()
    panels = [panel for panel in figure.axes if panel.get_visible()]
    return [*unnamed(panels), *unreadable(figure, panels, canvas.get_renderer()), *two_meanings(figure, panels),
            *alike_in_grey(figure, panels)]  # fmt: skip


def name_of(panel):
    """Its title, or its place in the picture."""
    return panel.get_title(loc="left") or panel.get_title() or f"panel {panel.figure.axes.index(panel)}"


def shown_labels(axis):
    """The texts at an axis that are seen."""
    low, high = sorted(axis.get_view_interval())
    ticks = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=False)
    slack = 1e-9 * (high - low)
    return [text for at, text in ticks
            if low - slack <= at <= high + slack and text.get_visible() and text.get_text()]  # fmt: skip


def unnamed(panels):
    """Axes with numbers that neither have a name nor share one: that of a panel beside or below."""
    found = []
    for panel in panels:
        for which in ("x", "y"):
            axis = getattr(panel, f"{which}axis")
            group = getattr(panel, f"get_shared_{which}_axes")().get_siblings(panel)
            # A picture may name the axes of its last row and first column alone, where all of these show the same.
            like = group if len(group) > 1 else [one for one in panels if in_line(panel, one, which)]
            named = any(getattr(one, f"{which}axis").label.get_text() for one in [panel, *like])
            numbers = [text for text in shown_labels(axis) if NUMBER.match(text.get_text())]
            if numbers and not named:
                found.append(f"{name_of(panel)}: its {which} axis has no name")
    return found


def in_line(panel, other, which):
    """Whether the other panel stands in the same column (of x axes) or row."""
    one, two = panel.get_position(), other.get_position()
    return abs(one.x0 - two.x0) < 0.01 if which == "x" else abs(one.y0 - two.y0) < 0.01


def unreadable(figure, panels, renderer):
    """Texts beyond the picture's edge, and labels over each other."""
    found = []
    width, height = figure.canvas.get_width_height()
    labels = []
    for panel in panels:
        ticks = [*shown_labels(panel.xaxis), *shown_labels(panel.yaxis)]
        names = [panel.xaxis.label, panel.yaxis.label, panel.title, panel._left_title]
        labels += ticks + [text for text in names if text.get_text()]
    texts = [*labels, *([figure._suptitle] if figure._suptitle else []),
             *(text for legend in figure.legends for text in legend.get_texts())]  # fmt: skip
    boxes = [text.get_window_extent(renderer) for text in texts]
    for text, box in zip(texts, boxes, strict=True):
        if not (-1 <= box.x0 <= box.x1 <= width + 1 and -1 <= box.y0 <= box.y1 <= height + 1):
            found.append(f"{text.get_text()!r} is cut by the picture's edge")
    for (one, a), (two, b) in combinations(zip(texts, boxes, strict=True), 2):
        if a.x0 + 1 < b.x1 and b.x0 + 1 < a.x1 and a.y0 + 1 < b.y1 and b.y0 + 1 < a.y1:
            found.append(f"{one.get_text()!r} stands over {two.get_text()!r}")
    return found


def entries(figure, panels):
    """All of a picture's legends: the mark that stands for something, what for, and the legend's number."""
    # What a legend shows of error bars is several artists; the curve itself is one.
    bars = {one.get_label(): one[0] for panel in panels for one in panel.containers if is_curve(one)}
    legends = [*figure.legends, *(panel.get_legend() for panel in panels if panel.get_legend())]
    for number, legend in enumerate(legends):
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            yield bars.get(text.get_text(), handle), text.get_text(), number


def is_curve(container):
    """Whether it is a curve of means with error bars, and not bars alone."""
    return isinstance(container, ErrorbarContainer) and container[0] is not None


def colour_of(artist):
    """Its RGB, each up to 1; None: it has none."""
    if isinstance(artist, Line2D):
        has_line = artist.get_linestyle() not in ("None", "none", "")
        return to_rgba(artist.get_color() if has_line else artist.get_markeredgecolor())[:3]
    if isinstance(artist, Patch):
        return to_rgba(artist.get_facecolor())[:3]
    if isinstance(artist, Collection) and artist.get_array() is None:
        colours = [*artist.get_facecolor(), *artist.get_edgecolor()]
        return tuple(colours[0][:3]) if len(colours) else None
    return None


def is_grey(colour):
    return rgb_to_hsv(colour)[1] < GREY or max(colour) < 0.35


def subject_of(words):
    """The policy, or other thing, that an entry is about: of "iolb: fixed" and "iolb (above the picture)" iolb."""
    return re.split(r"[:(,]", words)[0].strip()


def two_meanings(figure, panels):
    """Colours with two entries, and those of an entry that mean something else in a panel without it."""
    found, meanings = [], defaultdict(set)
    for handle, words, _ in entries(figure, panels):
        colour = colour_of(handle)
        if colour is not None and not is_grey(colour):
            meanings[tuple(np.round(colour, 3))].add(subject_of(words))
    for colour, subjects in meanings.items():
        if len(subjects) > 1:
            found.append(f"one colour, {colour}, for {sorted(subjects)}")
        for panel in panels:
            drawn = {subject_of(str(one.get_label())) for one in labelled(panel)}
            elsewhere = any(subjects & {subject_of(str(one.get_label())) for one in labelled(other)}
                            for other in panels)  # fmt: skip
            if not elsewhere or subjects & drawn:
                continue
            if any(same(colour_of(one), colour) for one in [*panel.lines, *panel.patches, *panel.collections]):
                found.append(f"{name_of(panel)}: the colour of {sorted(subjects)} is also something else's")
    return found


def labelled(panel: Axes):
    """Artists and groups of them that say what they are."""
    every = [*panel.lines, *panel.patches, *panel.collections, *panel.containers]
    return [one for one in every if str(one.get_label()) not in ("", "None") and str(one.get_label())[0] != "_"]


def same(colour, other):
    return colour is not None and bool(np.allclose(colour, other, atol=0.002))


def lightness(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    y = float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def shape_of(artist):
    """What grey print keeps of a mark, its lightness apart."""
    if isinstance(artist, Line2D):
        empty = artist.get_marker() not in ("None", "") and to_rgba(artist.get_markerfacecolor())[:3] == (1, 1, 1)
        thick = artist.get_linewidth() if artist.get_linestyle() != "None" else artist.get_markeredgewidth()
        dashes = artist._dash_pattern if artist.get_linestyle() != "None" else None
        return "line", str(artist.get_marker()), str(dashes), empty, artist.get_fillstyle(), thick > 4
    if isinstance(artist, PathCollection):
        return "points", artist.get_paths()[0].vertices.round(3).tobytes(), len(artist.get_facecolor()) == 0
    return "area", artist.get_hatch(), float(artist.get_alpha() or 1.0) < 1


def alike_in_grey(figure, panels):
    """Entries that differ in colour alone."""
    found = []
    marks = [one for one in entries(figure, panels) if colour_of(one[0]) is not None]
    for (one, words, legend), (two, others, another) in combinations(marks, 2):
        # What differs in a sign within the picture has the sign in its entry.
        signs = {words[0], others[0]} & {"✓", "✗"}
        if legend != another and subject_of(words) == subject_of(others):
            continue
        if words == others or shape_of(one) != shape_of(two) or signs:
            continue
        if abs(lightness(colour_of(one)) - lightness(colour_of(two))) < ALIKE:
            found.append(f"{words!r} and {others!r} look alike in grey")
    return found
