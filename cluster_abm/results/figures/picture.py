"""A figure that a notebook shows by itself, whether or not pyplot has been imported."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.text import Text

from cluster_abm.results.figures.stamps import stamp_of

# On a screen: a picture as wide as a page stays below a quarter of a megabyte.
SCREEN_DPI = 100
# Texts stay texts, which editors and search find; identifiers within an SVG are random without a salt.
OF_FILES: dict[Any, Any] = {"svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "cluster-abm"}
# When, and by which version, a file was made is left out.
UNDATED: dict[str, dict[str, Any]] = {
    "png": {"Software": None}, "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}  # fmt: skip


class Picture(Figure):
    """A Matplotlib figure: `picture.savefig("mine.pdf")`, `picture.axes`, and all else that figures do.

    It belongs to no window and to no state of pyplot: it needs no display, and nothing has to be closed. As the last
    value of a notebook's cell it is shown.

    Attributes:
        data: the table that it is drawn from; None: what is drawn in it says all (figures.data.drawn_in).
        drawn_by: the file of the module that drew it, relative to the folder of the package; "": not known.
    """

    data: pd.DataFrame | None = None
    drawn_by: str = ""

    def __repr__(self) -> str:
        width, height = self.get_size_inches()
        title = self.get_suptitle().replace("\n", " ")
        return f'<Picture "{title}", {width:g} x {height:g} inches: .savefig(FILE) writes it>'

    def savefig(self, fname: Any, **given: Any) -> None:
        """Write the figure to a file, as Matplotlib does; equal figures give equal bytes, and texts stay texts.

        Args:
            fname: path, or open file.
            given: as of Matplotlib's `savefig`.
        """
        save_undated(self, fname, **given)

    def _repr_png_(self) -> bytes:
        return png_of(self)


def save_undated(figure: Figure, fname: Any, **given: Any) -> None:
    """Write a figure of any class as a `Picture` is written: see `Picture.savefig`."""
    kind = str(given.get("format") or Path(str(fname)).suffix.removeprefix(".") or "png").lower()
    metadata = UNDATED.get(kind, {}) | (stamp_of(figure) if kind == "png" else {}) | (given.pop("metadata", None) or {})
    with matplotlib.rc_context(OF_FILES), texts_as_given(figure):
        Figure.savefig(figure, fname, **(given | {"metadata": metadata} if metadata else given))


def png_of(figure: Figure) -> bytes:
    """The figure as a PNG file for a screen."""
    buffer = io.BytesIO()
    with texts_as_given(figure):
        Figure.savefig(figure, buffer, format="png", dpi=SCREEN_DPI, metadata={"Software": None})
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
