"""Every kind of figure at the width of a journal's column: nothing is cut, no two labels stand over each other."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from sheets import check_sheet
from test_sheets import KINDS

from cluster_abm.results.figures.options import ALWAYS, FigureOptions

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


@pytest.mark.slow
def test_the_referee_sees_what_a_narrow_figure_cuts():
    figure = Figure(figsize=(1.5, 1.5))
    figure.subplots().set_xlabel("a label that is wider than a figure of one and a half inches")
    assert any("is cut by the picture's edge" in fault for fault in check_sheet(figure))
