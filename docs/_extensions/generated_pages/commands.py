"""Every command and subcommand with its arguments and options, from the command line's own definition."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from cluster_abm.cli import cluster_abm

from .markdown import anchor, code, escaped, sentence

ROOT = "cluster-abm"


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command by the words that call it after `cluster-abm`, in alphabetical order; groups before their own."""
    yield from _below(cluster_abm, "")


def _below(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        if command.hidden:
            continue
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from _below(command, f"{path}{name} ")


def all_commands() -> str:
    """All commands, as Markdown."""
    return "\n".join(_section(path, command) for path, command in commands())


def _section(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"{ROOT} {path}", max_content_width=10_000)
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f"({anchor('command', path)})=", f"## {path}", "",
        "```text", f"{ROOT} {path} {usage}", "```", "",
        help_text(command.help or ""), "",
    ]  # fmt: skip
    if isinstance(command, click.Group):
        inner = sorted(command.commands)
        lines += [
            "Commands: " + ", ".join(f"[{code(one)}](#{anchor('command', f'{path} {one}')})" for one in inner) + "."
        ]
    return "\n".join([*lines, *(_option(one, context, path) for one in command.params), ""])


def help_text(text: str) -> str:
    """A command's help as Markdown: paragraphs, and blocks that keep their lines (those that begin with \\b)."""
    blocks = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        "```text\n" + block.lstrip("\b\n") + "\n```" if block.startswith("\b") else escaped(block) for block in blocks
    )


def _option(option: click.Parameter, context: click.Context, path: str) -> str:
    record = option.get_help_record(context)
    if record is None:
        # An argument; its help is in the command's own text.
        return ""
    flags, words = record
    # A default that is a path on the machine that builds the site says nothing.
    name = max(option.opts, key=len).lstrip("-")
    flags = re.sub(r"\s+", " ", flags)
    return f"[{code(flags)}]{{#{anchor('option', f'{path} {name}')}}}\n: {sentence(escaped(words)) or '.'}\n"
