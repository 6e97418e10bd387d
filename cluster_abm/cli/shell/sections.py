"""Groups of commands: without arguments their help; that of the whole command in the order of need, no sentence cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from cluster_abm.cli.output import echo


class HelpfulGroup(click.Group):
    """A group that, without arguments, prints its help on stdout as `--help` does: exit code 0 with every click.

    click 8.1 does so itself; from 8.2 on it makes an error of the help.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Print the help if there is nothing to parse."""
        if not args and not ctx.resilient_parsing:
            echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


class SectionedGroup(HelpfulGroup):
    """A group whose help lists its commands by sections.

    Attributes:
        sections: headings, each with its commands, in the order of the help.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.sections: dict[str, list[str]] = {}

    def add_section(self, heading: str, commands: Sequence[click.Command]) -> None:
        """Add commands under a heading."""
        for command in commands:
            self.add_command(command)
        self.sections[heading] = [str(command.name) for command in commands]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the help."""
        listed = [name for names in self.sections.values() for name in names]
        return listed + sorted(set(self.commands) - set(listed))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections."""
        width = max(map(len, self.commands), default=0)
        for heading, names in self.sections.items():
            with formatter.section(heading):
                # Of one width, so that all sections have the same columns.
                formatter.write_dl(
                    [(f"{name:<{width}}", self.commands[name].get_short_help_str(limit=200)) for name in names]
                )
