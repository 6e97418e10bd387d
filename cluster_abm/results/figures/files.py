"""Figures as files: PNG, SVG and PDF with the same bytes each time, and the data behind them as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.results.files import in_one_move

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf", "csv")
DPI = 130
# Those that were asked for; () leaves it to the picture.
_wanted: ContextVar[tuple[str, ...]] = ContextVar("formats of figures", default=())


def formats_of(text: str) -> tuple[str, ...]:
    """Formats from a list with commas, each once. Raises InputError: one that is not there."""
    names = tuple(dict.fromkeys(part.strip().lower() for part in text.split(",") if part.strip()))
    wrong = [name for name in names if name not in FORMATS]
    if wrong or not names:
        what = shortened(wrong[0] if wrong else text)
        raise InputError(f"{what}: no format of figures; allowed: {', '.join(FORMATS)}, with commas between them")
    return names


@contextmanager
def formats_wanted(formats: Sequence[str]) -> Iterator[None]:
    """While this holds, `save` and `save_both` write these formats."""
    token = _wanted.set(tuple(formats))
    try:
        yield
    finally:
        _wanted.reset(token)


def first_file(path: Path) -> Path:
    """The file of a figure that is named in a message: `path` in the first format that was asked for."""
    return path.with_name(f"{path.stem}.{(_wanted.get() or ('png',))[0]}")


def linked(words: str, name: str) -> str:
    """A figure in a page of Markdown: shown, or where only formats were asked for that a page cannot show, linked.

    >>> linked("regret", "regret.png")
    '![regret](regret.png)'
    """
    formats = _wanted.get() or ("png",)
    kind = next((kind for kind in ("png", "svg") if kind in formats), formats[0])
    return f"{'!' if kind in ('png', 'svg') else ''}[{words}]({Path(name).stem}.{kind})"


def shown_in_pages(files: Sequence[Path]) -> list[Path]:
    """Of the files of figures those that a page shows: the PNGs, or without any the SVGs."""
    of_kind = {kind: [file for file in files if file.suffix == kind] for kind in (".png", ".svg")}
    return of_kind[".png"] or of_kind[".svg"]


def save(figure: Figure, path: Path) -> Path:
    """Write a figure as a PNG, or in each format that was asked for; returns the first file.

    No date and no version is in them, so that equal runs give equal bytes.

    Args:
        path: of the PNG; the other files have the same name with another ending.
    """
    return _write(figure, path.with_name(path.stem), _wanted.get() or ("png",))[0]


def save_both(figure: Figure, path: Path) -> list[Path]:
    """Write a figure as PNG and SVG, or in each format that was asked for.

    Args:
        path: of the files, without the ending.
    """
    return _write(figure, path, _wanted.get() or ("png", "svg"))


def _write(figure: Figure, stem: Path, formats: Sequence[str]) -> list[Path]:
    from cluster_abm.results.figures.data import csv_of
    from cluster_abm.results.figures.picture import save_undated

    written = []
    for name in formats:
        path = stem.with_name(f"{stem.name}.{name}")
        with in_one_move(path) as partial:
            if name == "csv":
                partial.write_text(csv_of(figure), encoding="utf-8", newline="")
            else:
                save_undated(figure, partial, format=name, dpi=DPI)
        written.append(path)
    return written
