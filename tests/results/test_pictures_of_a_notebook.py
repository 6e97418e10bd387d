"""A picture as a notebook shows it, and texts of users in it as they were given."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from cluster_abm.results.picture import Picture, texts_as_given


def picture(text=""):
    figure = Picture(figsize=(4.0, 2.5))
    figure.subplots().set_title(text)
    return figure


def test_it_says_its_title_and_size():
    figure = picture()
    figure.suptitle("where the time\nof a task went")
    assert repr(figure) == (
        '<Picture "where the time of a task went", 4 x 2.5 inches: .savefig(FILE) writes it>'
    )  # fmt: skip


def test_a_notebook_gets_it_as_a_png_for_a_screen():
    with Image.open(io.BytesIO(picture()._repr_png_())) as image:
        # A hundred dots an inch; nothing in it says by which version it was made.
        assert (image.format, image.size) == ("PNG", (400, 250))
        assert "Software" not in image.info


@pytest.mark.parametrize(("text", "is_tex"), [
    ("costs $5 and $6", False), ("plain", True), ("$\\mathdefault{10^{3}}$", True),
])  # fmt: skip
def test_dollars_of_users_are_dollars_and_those_of_matplotlib_are_tex(text, is_tex):
    figure = picture(text)
    with texts_as_given(figure):
        assert figure.axes[0].title.get_parse_math() == is_tex


def test_ticks_with_dollars_are_as_given_too():
    figure = picture()
    figure.axes[0].set_xticks([0.0, 1.0], ["$a", "b$"])
    with texts_as_given(figure):
        assert [one.get_parse_math() for one in figure.axes[0].get_xticklabels()] == [False, False]


def test_letters_that_the_font_does_not_have_are_no_error():
    # Warnings are errors in the tests: that this one passes is what is tested.
    assert picture("\N{CJK UNIFIED IDEOGRAPH-4E2D}")._repr_png_().startswith(b"\x89PNG")
