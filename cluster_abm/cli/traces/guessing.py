"""`trace info --guess`: a map of columns is proposed, printed, written, and read by."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cluster_abm.cli.log_options import FilePath
from cluster_abm.cli.output import echo, tell
from cluster_abm.cli.reading_options import HowToRead
from cluster_abm.errors import InputError

if TYPE_CHECKING:
    from cluster_abm.workload.traces import Trace
    from cluster_abm.workload.traces.guessing.files import FileGuess

Function = TypeVar("Function", bound=Callable[..., Any])


def guess_options(function: Function) -> Function:
    """--guess and --out of `trace info`."""
    function = click.option(
        "--out", "out", metavar="MAP.toml", type=FilePath(), help="With --guess: write the proposed map to this file."
    )(function)
    return click.option(
        "--guess", is_flag=True, help="Propose a map of columns by names and values, and read FILE by it."
    )(function)


def check_guess(how: HowToRead, out: Path | None, guess: bool, scenario: str | None) -> None:
    """Raise InputError for options that do not go together."""
    from cluster_abm.whole_files import check_can_be_written

    if not guess:
        if out is not None:
            raise InputError("--out: writes the map that --guess proposes; give --guess too")
        return
    given = {"--map (or --format)": how.map, "--fields": how.fields, "--scenario": scenario}
    for option, value in given.items():
        if value is not None:
            raise InputError(f"--guess: proposes a map for FILE; leave {option} out (first --out, then --map MAP.toml)")
    if out is not None:
        if out.suffix != ".toml":
            raise InputError(f"--out {str(out)!r}: allowed is a file that ends with .toml")
        check_can_be_written(out, f"--out {str(out)!r}")


def guessed_trace(file: Path, how: HowToRead, out: Path | None, as_json: bool) -> tuple[Trace, dict[str, Any]]:
    """The trace that is read by the guess, and the keys map and sure of its document.

    Prints the proposed map, unless a document is asked for, and writes it. Raises InputError: no map could be
    proposed, or no job is read by it.
    """
    from cluster_abm.json_text import to_json
    from cluster_abm.workload.traces.guessing.files import guess_file
    from cluster_abm.workload.traces.guessing.writing import map_text

    found = guess_file(file)
    proposed = found.guess
    if "format" in proposed.map:
        if out is not None:
            tell(f"--out {out}: not written: {found.known} is a format of its own, of which there is no map")
    else:
        text = map_text(proposed, file.name, found.known)
        if out is not None:
            _write(out, text)
        if not as_json:
            echo(text)
    said = {"map": proposed.map, "sure": proposed.sure}
    if proposed.missing:
        if as_json:
            echo(to_json({"file": str(file)} | said), nl=False)
        raise InputError(f"{file}: {proposed.missing}; a map needs submit, or start, or end and run")
    trace = _read(file, how, found)
    if found.known:
        tell(f"{file}: known as {found.known} by its content, and read without an option; no map is needed")
    return trace, said


def _read(file: Path, how: HowToRead, found: FileGuess) -> Trace:
    from cluster_abm.workload.traces import read_trace

    # Of known content the format is said: what was read to find it out is not read again.
    return read_trace(
        file,
        run=how.run,
        format=found.known or None,
        max_mb=how.max_mb,
        columns=found.columns,
        sample=how.sample or 1.0,
    )


def _write(out: Path, text: str) -> None:
    from cluster_abm.results.files import write_text

    write_text(out.parent, out.name, text)
    tell(f"map written to {out}: read by --map {out}")
