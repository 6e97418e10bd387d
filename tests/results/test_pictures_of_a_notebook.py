"""Pictures in a notebook, and texts of users in pictures, which are shown literally."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from cluster_abm.results.figures.picture import Picture, texts_as_given


def picture(text=""):
    figure = Picture(figsize=(4.0, 2.5))
    figure.subplots().set_title(text)
    return figure


@pytest.mark.slow
def test_the_repr_has_title_and_size():
    figure = picture()
    figure.suptitle("where the time\nof a task went")
    assert repr(figure) == (
        '<Picture "where the time of a task went", 4 x 2.5 inches: .savefig(FILE) writes it>'
    )  # fmt: skip


def test_a_notebook_gets_it_as_a_png_for_a_screen():
    with Image.open(io.BytesIO(picture()._repr_png_())) as image:
        # 100 dots an inch; the file does not name the version of matplotlib.
        assert (image.format, image.size) == ("PNG", (400, 250))
        assert "Software" not in image.info


@pytest.mark.parametrize(("text", "is_tex"), [
    ("costs $5 and $6", False), ("plain", True), ("$\\mathdefault{10^{3}}$", True),
])  # fmt: skip
def test_dollars_of_users_are_literal_and_those_of_matplotlib_are_tex(text, is_tex):
    figure = picture(text)
    with texts_as_given(figure):
        assert figure.axes[0].title.get_parse_math() == is_tex


def test_dollars_in_ticks_are_literal():
    figure = picture()
    figure.axes[0].set_xticks([0.0, 1.0], ["$a", "b$"])
    with texts_as_given(figure):
        assert [one.get_parse_math() for one in figure.axes[0].get_xticklabels()] == [False, False]


def test_letters_missing_in_the_font_are_no_error():
    # Warnings are errors in tests, so a warning about the font would fail this one.
    assert picture("\N{CJK UNIFIED IDEOGRAPH-4E2D}")._repr_png_().startswith(b"\x89PNG")
