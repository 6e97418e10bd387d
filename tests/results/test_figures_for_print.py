"""Every kind of figure at the width of a journal's column: nothing is cut, no two labels stand over each other."""

from __future__ import annotations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sheets import check_sheet
from test_sheets import KINDS

from cluster_abm.results.figures.options import ALWAYS, FigureOptions
from cluster_abm.results.of_studies.comparison_picture import Against, ratio_figure

COLUMN = FigureOptions.of({"size": "column"}, ALWAYS)


def test_a_column_is_what_journals_call_so():
    assert COLUMN.inches == (3.4, None)
    assert FigureOptions.of({"size": "page"}, ALWAYS).inches == (7.0, None)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_at_a_columns_width_every_kind_of_figure_passes_the_referee(sheet, kind):
    figure = COLUMN.draw(lambda: sheet(*KINDS[kind]()))
    assert figure.get_figwidth() == 3.4
    assert check_sheet(figure) == []
    assert cut_texts(figure) == []


def cut_texts(figure):
    """The texts within panels, and of their legends, that leave the figure; the referee looks at all others."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    width, height = figure.bbox.size
    found = []
    for axes in figure.axes:
        legend = axes.get_legend()
        for text in [*axes.texts, *(legend.get_texts() if legend else ())]:
            box = text.get_window_extent(renderer)
            if text.get_text() and not (-1 <= box.x0 <= box.x1 <= width + 1 and -1 <= box.y0 <= box.y1 <= height + 1):
                found.append(text.get_text())
    return found


@pytest.mark.slow
def test_the_referee_sees_what_a_narrow_figure_cuts():
    figure = Figure(figsize=(1.5, 1.5))
    axes = figure.subplots()
    axes.set_xlabel("a label that is wider than a figure of one and a half inches")
    axes.text(0.9, 0.5, "a number beside a bar")
    assert any("is cut by the picture's edge" in fault for fault in check_sheet(figure))
    assert cut_texts(figure) == ["a number beside a bar"]


@pytest.mark.slow
@pytest.mark.parametrize("are_ratios", [True, False])
@pytest.mark.parametrize("size", ["column", "page"])
def test_ratios_and_differences_pass_it_too(size, are_ratios):
    names = ["iolb", "jsq", "a-policy-with-quite-a-long-name"]
    against = {name: Against(2.0 * 3**n, (1.5, 40.0), n > 0) for n, name in enumerate(names)}
    options = FigureOptions.of({"size": size}, ALWAYS)
    figure = options.draw(lambda: ratio_figure("a title", "mean_response_ms", "none", against, are_ratios))
    assert check_sheet(figure) == []
    assert cut_texts(figure) == []
