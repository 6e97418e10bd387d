"""What a notebook shows of an object: HTML made of tables, texts and pictures, with no library beside Python's own.

IPython asks an object for `_repr_html_`. Colours and borders are the notebook's own, so that dark themes stay readable.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Mapping, Sequence

# A table of more rows shows the first ones, and says how many there are.
MOST_ROWS = 40
_CELL = "text-align:left;padding:2px 12px 2px 0;vertical-align:top"
# A text of at most this many letters is not broken: numbers stay with their intervals, names are whole.
_UNBROKEN = 28


class Displayed:
    """Something that notebooks show as HTML.

    A class of this kind gives `_parts`; what goes wrong in it is shown instead of raised, for a display must not end a
    cell.
    """

    def _parts(self) -> Iterable[str]:
        """Yield pieces of HTML, from the functions of this module."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        shown: list[str] = []
        try:
            shown.extend(self._parts())
        except Exception as problem:
            if not shown:
                shown.append(paragraph(repr(self)))
            shown.append(paragraph(f"no more can be shown: {type(problem).__name__}: {problem}"))
        return f"<div>{''.join(shown)}</div>"


def escaped(value: object) -> str:
    """A text as HTML shows it letter by letter."""
    return html.escape(str(value))


def headline(words: str, more: str = "") -> str:
    """A line in bold, and beside it what is said in passing."""
    beside = f" <span style='opacity:0.75'>{escaped(more)}</span>" if more else ""
    return f"<div style='margin:4px 0'><b>{escaped(words)}</b>{beside}</div>"


def paragraph(words: str) -> str:
    """A text; its line breaks are kept."""
    return f"<div style='margin:4px 0;white-space:pre-wrap'>{escaped(words)}</div>"


def table(rows: Sequence[Mapping[str, object]], most: int = MOST_ROWS) -> str:
    """A table, a column for each key of the first row; numbers are to be given as texts."""
    if not rows:
        return ""
    names = list(rows[0])
    head = "".join(f"<th style='{_CELL}'>{escaped(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(_cell(row.get(name, '')) for name in names)}</tr>" for row in rows[:most])
    rest = paragraph(f"the first {most:,} of {len(rows):,} rows") if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def _cell(value: object) -> str:
    style = f"{_CELL};white-space:nowrap" if len(str(value)) <= _UNBROKEN else _CELL
    return f"<td style='{style}'>{escaped(value)}</td>"


def image(png: bytes, words: str) -> str:
    """A picture, within the page, and what it is for readers that do not see it."""
    data = base64.b64encode(png).decode("ascii")
    return f"<img style='max-width:100%' alt='{escaped(words)}' src='data:image/png;base64,{data}'>"


def folded(title: str, inside: str) -> str:
    """A part that is shown once its title is clicked."""
    return f"<details><summary>{escaped(title)}</summary>{inside}</details>" if inside else ""
