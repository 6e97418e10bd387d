"""The options of `trace` that say how a file is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from cluster_abm.bounded_files import MOST_MB, TRACE_MB
from cluster_abm.cli.log_options import FromLog, fields_option, map_option, sample_option
from cluster_abm.cli.options import Overrides, overrides_of
from cluster_abm.errors import InputError
from cluster_abm.found_modules import TRACE_FORMATS, TRACE_MAPS
from cluster_abm.progress import Progress

if TYPE_CHECKING:
    from cluster_abm.workload.traces import LogReading, Trace

LARGE = 50_000_000  # bytes
Function = TypeVar("Function", bound=Callable[..., Any])
run_choice = click.option("--run", type=click.IntRange(min=0), help="Which run of a file that holds several.")
format_choice = click.option(
    "--format",
    metavar="NAME",
    type=click.Choice((*TRACE_FORMATS, *TRACE_MAPS)),
    help="The file's format (default: by what it begins with); the same as --map NAME.",
)
max_mb_option = click.option(
    "--max-mb",
    type=click.IntRange(1, MOST_MB),
    default=TRACE_MB,
    show_default=True,
    help="How much the file may hold, unpacked, or the jobs that a map finds in it [MB of 2^20 bytes].",
)


class HowToRead(NamedTuple):
    """How a trace file is read; None: not given."""

    run: int | None
    map: str | None  # a name of a map or of a format, or a file with a map
    fields: str | None
    sample: float | None
    max_mb: int

    def read(self, file: Path, reading: LogReading | None = None) -> Trace:
        """The trace in a file. Raises InputError.

        Args:
            reading: how fields are read where the format leaves a choice.
        """
        from cluster_abm.workload.traces import read_trace
        from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING

        name, columns = FromLog(map=self.map).chosen()
        with Progress(100, f"read {file.name}", "%", quiet=not _is_large(file)) as bar:
            return read_trace(
                file,
                run=self.run,
                format=name,
                max_mb=self.max_mb,
                pipes=True,
                reading=reading or PLAIN_READING,
                columns=columns,
                fields=self.fields,
                sample=self.sample or 1.0,
                progress=lambda share: bar.reach(100.0 * share),
            )

    def overrides(self, settings: Sequence[str], file: Path) -> Overrides:
        """The keys of a scenario whose work comes from the file, read in this way. Raises InputError."""
        found = overrides_of(settings, FromLog(file, self.run, self.map, self.fields, self.sample))
        found.setdefault("workload.trace.max_mb", self.max_mb)
        return found


def _is_large(file: Path) -> bool:
    """Whether it takes long enough to read a file that one looks for progress."""
    try:
        return file.is_dir() or file.stat().st_size > LARGE
    except OSError:
        return False


def reading_options(function: Function) -> Function:
    """How FILE is read, given on as `how`, a HowToRead."""

    @wraps(function)
    def command(**given: Any) -> Any:
        format, map_name = given.pop("format"), given.pop("map_name")
        if None not in (format, map_name) and format != map_name:
            raise InputError(f"--format {format}: --map {map_name[:60]} says it too: give one of them")
        how = HowToRead(given.pop("run"), map_name or format, *(given.pop(name) for name in HowToRead._fields[2:]))
        return function(how=how, **given)

    options = (run_choice, format_choice, map_option, fields_option, sample_option, max_mb_option)
    for option in reversed(options):
        command = option(command)
    return cast(Function, command)
