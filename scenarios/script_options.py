"""What the scripts in scenarios/ take on their command lines: the same options, by the same words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import pandas as pd

Command = Callable[..., None]


def seeds_option(seeds: int, per: str) -> Callable[[Command], Command]:
    """How many seeds there are for each point, or whatever a script calls it; two at least, for an interval."""
    return click.option(
        "--seeds", default=seeds, show_default=True, type=click.IntRange(min=2), help=f"Seeds per {per}."
    )


def workers_option(function: Command) -> Command:
    """How many processes run."""
    told = "Processes (default: one per processor)."
    return click.option("--workers", type=click.IntRange(min=1), help=told)(function)


def draw_option(function: Command) -> Command:
    """Draw again what has been measured: the table in the folder is read, and nothing is run."""
    told = "Run nothing: draw the picture from the CSV in the folder."
    return click.option("--draw", "only_draws", is_flag=True, help=told)(function)


def measured(path: Path, **given: Any) -> pd.DataFrame:
    """The table that a script wrote, to be drawn again; `given`: arguments of `pandas.read_csv`.

    Raises click.UsageError: there is none.
    """
    import pandas as pd

    if not path.exists():
        raise click.UsageError(f"--draw: there is no {path}: name its folder by --out, or measure without --draw")
    return pd.read_csv(path, **given)


def out_option(function: Command) -> Command:
    """The folder that tables and pictures go to."""
    return click.option(
        "--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="Folder."
    )(function)
