"""A figure that a notebook shows by itself, whether or not pyplot has been imported."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib.figure import Figure
from matplotlib.text import Text

# On a screen: a picture as wide as a page stays below a quarter of a megabyte.
SCREEN_DPI = 100


class Picture(Figure):
    """A Matplotlib figure: `picture.savefig("mine.pdf")`, `picture.axes`, and all else that figures do.

    It belongs to no window and to no state of pyplot: it needs no display, and nothing has to be closed. As the last
    value of a notebook's cell it is shown.
    """

    def __repr__(self) -> str:
        width, height = self.get_size_inches()
        title = self.get_suptitle().replace("\n", " ")
        return f'<Picture "{title}", {width:g} x {height:g} inches: .savefig(FILE) writes it>'

    def _repr_png_(self) -> bytes:
        return png_of(self)


def png_of(figure: Figure) -> bytes:
    """The figure as a PNG file for a screen."""
    buffer = io.BytesIO()
    with texts_as_given(figure):
        figure.savefig(buffer, format="png", dpi=SCREEN_DPI, metadata={"Software": None})
    return buffer.getvalue()


@contextmanager
def texts_as_given(figure: Figure) -> Iterator[None]:
    """For drawing: show texts of users as they are, though they hold dollars (TeX to Matplotlib) or letters that the
    font does not have."""
    for axes in figure.axes:
        # Their texts are made when they are asked for.
        axes.get_xticklabels(), axes.get_yticklabels()
    for text in figure.findobj(Text):
        # Matplotlib's own formatters write TeX, too.
        if isinstance(text, Text) and "$" in text.get_text() and r"\math" not in text.get_text():
            text.set_parse_math(False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
