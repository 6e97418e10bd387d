"""The options that say from which log the work comes, and how its file is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from cluster_abm.cli.shell import names
from cluster_abm.errors import InputError
from cluster_abm.found_modules import TRACE_FORMATS, TRACE_MAPS

if TYPE_CHECKING:
    from cluster_abm.scenario.columns import ColumnMap

Function = TypeVar("Function", bound=Callable[..., Any])
FRACTION = re.compile(r"(\d+)/(\d+)", re.ASCII)
COLUMNS_KEY = "workload.trace.columns"


class FilePath(click.Path):
    """A path; the empty text, which an unset variable of a shell gives, is none: it would be the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Raises click.BadParameter for the empty text."""
        if value == "":
            self.fail("'' is no path (a variable that is not set?)", param, ctx)
        return super().convert(value, param, ctx)


class ShareOf(click.ParamType):
    """A share above 0 and up to 1, as 1/100 or 0.01."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Raises click.BadParameter for anything else."""
        text = str(value).strip()
        match = FRACTION.fullmatch(text)
        try:
            share = int(match[1]) / int(match[2]) if match else float(text)
        except (ValueError, ZeroDivisionError, OverflowError):
            share = 0.0
        if not 0 < share <= 1:
            self.fail(f"{text[:40]!r} is no share: allowed: above 0 and up to 1, as 1/100 or 0.01", param, ctx)
        return share


class FromLog(NamedTuple):
    """Which log the work comes from, and how its file is read; None: not given."""

    file: Path | None = None
    run: int | None = None  # of a file that holds several
    map: str | None = None  # a name of a map of columns or of a format, or a file with a map
    fields: str | None = None  # of sacct's lines without a header
    sample: float | None = None  # share of the jobs that are read

    def settings(self) -> Iterator[tuple[str, str, object]]:
        """The keys of a scenario that these options set, the option of each, and the value.

        Raises InputError: a map in a file that is wrong, or a name that no map has.
        """
        if self.file is not None:
            yield "workload.kind", "--trace", "trace"
            yield "workload.trace.file", "--trace", str(self.file)
        if self.run is not None:
            yield "workload.trace.run", "--trace-run", self.run
        name, columns = self.chosen()
        if name is not None:
            yield "workload.trace.map", "--map", name
        if columns is not None:
            yield COLUMNS_KEY, "--map", columns.model_dump(exclude_unset=True)
        if self.fields is not None:
            yield "workload.trace.fields", "--fields", self.fields
        if self.sample is not None:
            yield "workload.trace.sample", "--sample", self.sample

    def chosen(self) -> tuple[str | None, ColumnMap | None]:
        """The name of the map or format, or the map that is in a file. Raises InputError."""
        if self.map is None:
            return None, None
        if self.map in (*TRACE_FORMATS, *TRACE_MAPS):
            return self.map, None
        if not (self.map.lower().endswith(".toml") or Path(self.map).is_file()):
            listed = ", ".join((*TRACE_MAPS, *TRACE_FORMATS))
            raise InputError(
                f"--map {self.map[:60]!r}: no such map: allowed: {listed}, or a file of your own, MAP.toml"
            )
        from cluster_abm.workload.traces.mapping.maps import map_in

        return None, map_in(Path(self.map))

    def words(self) -> list[str]:
        """The options as a shell takes them."""
        given = {
            "--trace": self.file, "--trace-run": self.run, "--map": self.map, "--fields": self.fields,
            "--sample": self.sample,
        }  # fmt: skip
        return [word for option, value in given.items() if value is not None for word in (option, str(value))]


NO_LOG = FromLog()
map_option = click.option(
    "--map",
    "map_name",
    metavar="NAME|MAP.toml",
    shell_complete=names.trace_maps,
    help="What the columns of the log are: a shipped map, or one of your own (docs/reference/maps.md).",
)
fields_option = click.option(
    "--fields", metavar="LIST", help="With --map sacct-n: the columns, as they were given to `sacct -o`."
)
sample_option = click.option(
    "--sample", type=ShareOf(), help="Read this share of the jobs, as 1/100, chosen by a hash of their ids."
)
trace_file_option = click.option(
    "--trace",
    "trace",
    type=FilePath(),
    help="Take the work from this log: CSV, SWF, WfFormat, Nextflow, SWIM, sacct, ... (docs/reference/traces.md).",
)
trace_run_option = click.option(
    "--trace-run", type=click.IntRange(min=0), help="Which run of a trace file that holds several."
)


def log_options(function: Function) -> Function:
    """`--trace` and what goes with it, given on as `trace`, a FromLog."""

    @wraps(function)
    def command(**given: Any) -> Any:
        found = FromLog(*(given.pop(name) for name in ("trace", "trace_run", "map_name", "fields", "sample")))
        return function(trace=found, **given)

    options = (trace_file_option, trace_run_option, map_option, fields_option, sample_option)
    for option in reversed(options):
        command = option(command)
    return cast(Function, command)
