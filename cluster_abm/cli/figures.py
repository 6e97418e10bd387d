"""The option that says which files a command's figures become."""

from __future__ import annotations

from collections.abc import Callable

import click

from cluster_abm.cli.options import Function
from cluster_abm.errors import InputError


def figures_option(name: str = "--format", default: str = "png") -> Callable[[Function], Function]:
    """The option for formats of figures; it holds until the command ends.

    Args:
        name: of the option; a command whose `--format` is that of a log has another one.
        default: what is written without it, in words.
    """

    def hold(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
        if value is None:
            return
        from cluster_abm.results.figures.files import formats_of, formats_wanted

        try:
            formats = formats_of(value)
        except InputError as problem:
            raise InputError([f"{name} {line}" for line in problem.problems]) from None
        context.with_resource(formats_wanted(formats))

    return click.option(
        name, "figure_formats", metavar="LIST", callback=hold, expose_value=False,
        help="Formats of the pictures, comma-separated: png, svg, pdf, and csv, the data behind each "
        f"(default: {default}).",
    )  # fmt: skip
