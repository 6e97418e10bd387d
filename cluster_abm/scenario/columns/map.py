"""A map of columns: what `[workload.trace.columns]`, a file given with --map, and each shipped map hold."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field as Bounded
from pydantic import Strict, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.columns.expressions import check_expression
from cluster_abm.scenario.columns.units import (
    CORE_UNITS,
    COUNTS,
    DATE,
    DURATION_UNITS,
    INSTANT_UNITS,
    ISO,
    SHARE,
    SIZE_UNITS,
)
from cluster_abm.scenario.distributions import Positive

LONGEST_PATTERN, MOST_SOURCES = 200, 10
RESOURCE_NAME = re.compile(r"[A-Za-z_][\w./:-]{0,99}", re.ASCII)
Column = (
    Annotated[str, Strict(), Bounded(min_length=1, max_length=300)]
    | Annotated[int, Strict(), Bounded(ge=1, le=100_000)]
)
Form = Literal["ids", "task-name", "count", "largest", "lsf-slots", "pbs-slots", "pbs-cores", "pbs-gpus"]
INSTANTS = ("submit", "start", "end")
DURATIONS = ("run", "requested", "cpu")
SIZES = ("memory", "disk_read", "disk_written")
# Whose amount may be given of a task or of a core.
OF_PARTS = ("cpu", "cores", *SIZES)
OF_WORDS = ("ids", "task-name")  # forms
NUMBERS = (*INSTANTS, *DURATIONS, "cores", "tasks", *SIZES)
WORDS = ("job", "workflow", "parents", "user", "group", "partition", "name")
UNITS: dict[str, tuple[str, ...]] = (
    dict.fromkeys(INSTANTS, INSTANT_UNITS)
    | dict.fromkeys(DURATIONS, DURATION_UNITS)
    | dict.fromkeys(SIZES, SIZE_UNITS)
    | {"cores": CORE_UNITS, "tasks": tuple(COUNTS)}
)


class MapField(Section):
    """Where one field of a job comes from. A text alone is a column's name, a whole number its position from 1."""

    column: Column | None = None
    """the column's name, or its position from 1; of JSON a path: a.b, a[0].b, a[-1].b"""
    columns: tuple[Column, ...] = ()
    """of an id: several columns, which make it together"""
    expr: str | None = None
    """an expression over columns: names (odd ones within `), $1 for the first column, numbers, + - * /, comparisons,
    in, and, or, not"""
    value: float | str | None = None
    """the same value in every row"""
    unit: str | None = None
    """times: ns, us, ms, s (default), min, h, d, iso, date, epoch, clock; bytes: B, kB, MB, GB, TB, KiB, MiB, GiB,
    TiB, size, share; cores: 1 (default), milli, percent, share"""
    per: Literal["job", "task", "core"] = "job"
    """whose cores, memory, bytes or CPU time it is: the whole job's, one task's, or one core's"""
    by: Literal["disk", "calls"] = "disk"
    """of disk_read and disk_written: bytes of the disk, or of calls, of which the disk saw a share"""
    zone: str | None = None
    """unit iso or date: the time zone of texts that name none, as Europe/Berlin; not set: they are compared as they
    stand. Hours of the day are those of this zone, whatever the unit"""
    format: str | None = None
    """unit date: the form, as %m/%d/%Y %H:%M:%S"""
    pattern: Annotated[str, Bounded(max_length=LONGEST_PATTERN)] | None = None
    """of a column: a regular expression (RE2) of which the first group is taken"""
    form: Form | None = None
    """ids: parents with spaces, commas or semicolons between (default); task-name: Alibaba's names, R3_1_2 is number 3
    and comes after 1 and 2; count: how many entries a list of JSON has; largest: its largest number; lsf-slots: the
    slots in LSF's list of hosts (16*n1 n2: 17); pbs-slots: those in PBS's (n1/0-3+n2/0*4: 8); pbs-cores, pbs-gpus:
    those in its list of nodes (2:ppn=8:gpus=1: 16 and 2)"""
    missing: tuple[str, ...] = ()
    """texts that stand for "not known" in this field alone, beside those of the map"""
    otherwise: MapField | None = None
    """another source for the rows in which this one says nothing"""

    @model_validator(mode="before")
    @classmethod
    def _column_alone(cls, given: Any) -> Any:
        return {"column": given} if isinstance(given, str | int) and not isinstance(given, bool) else given

    @model_validator(mode="after")
    def _one_source(self) -> MapField:
        given = [self.column is not None, bool(self.columns), self.expr is not None, self.value is not None]
        if sum(given) != 1:
            raise ValueError("allowed: one of column, columns, expr and value")
        if self.expr is not None:
            check_expression(self.expr, truth=False)
        if (self.format is not None) != (self.unit == DATE):
            raise ValueError('format: goes with unit = "date", as "%m/%d/%Y %H:%M:%S"')
        if self.zone is not None:
            _check_zone(self.zone)
        if self.missing and self.value is not None:
            raise ValueError("missing: goes with column, columns or expr; a value is known in every row")
        if len(self.sources) > MOST_SOURCES:
            raise ValueError(f"otherwise: {len(self.sources)} sources: allowed up to {MOST_SOURCES}")
        return self

    @property
    def sources(self) -> tuple[MapField, ...]:
        """The field, and those that stand in for it, in their order."""
        return (self, *(() if self.otherwise is None else self.otherwise.sources))


class TableLayout(Section):
    """How the table lies in its file. The content decides what is not set."""

    kind: Literal["table", "blanks", "counted", "pairs", "attributes", "json", "json-lines", "parquet"] | None = None
    """table: cells with a separator; blanks: with any number of blanks; counted: with blanks or a separator, some of
    which say how many follow, in rows that may end early (LSF, Grid Engine); pairs: cells, the last of which holds
    KEY=VALUE pairs (PBS); attributes: lines of KEY = VALUE, blank lines between jobs (HTCondor)"""
    separator: Annotated[str, Bounded(min_length=1, max_length=1)] | None = None
    """between cells of a table"""
    header: bool = True
    """whether the first line names the columns"""
    names: tuple[str, ...] = ()
    """the columns, where there is no header; counted: NAME[OTHER] is a list as long as OTHER says, NAME[6*OTHER]
    six times as long"""
    orders: tuple[tuple[str, ...], ...] = ()
    """reader sacct: orders of columns that are known where there is no header"""
    quoted: bool = True
    """whether quotes enclose cells"""
    remark: Annotated[str, Bounded(max_length=8)] = ""
    """lines that begin with it are left out"""
    rows: str = ""
    """json: the path of the list of rows; empty: the document is the list"""
    lookups: dict[str, str] = {}  # noqa: RUF012
    """json: column -> path of an object of which the entry that the column names gives more columns, COLUMN.KEY"""


class Events(Section):
    """One job from several rows, each of which is an event of the job that the field `job` names."""

    kind: Column
    """the column that says what happened"""
    time: MapField
    """when it happened"""
    submit: tuple[str, ...] = ()
    """values of kind: submitted"""
    start: tuple[str, ...]
    """it started to run"""
    end: tuple[str, ...]
    """it ended, or was stopped"""


class Spread(Section):
    """Rows of counts: the jobs of each interval, spread evenly over it."""

    first: Column
    """the column of the first interval"""
    last: Column
    """the column of the last interval"""
    each_s: Positive
    """how long an interval is [s]"""


class Machine(Section):
    """The machine of which shares are given."""

    cores: Positive | None = None
    """its cores"""
    memory_mb: Positive | None = None
    """its memory [MB]"""


class About(Section):
    """What a shipped map says of itself."""

    title: str = ""
    """what it reads"""
    row: str = "a job"
    """what a row is"""
    source: str = ""
    """where the schema is published"""
    tried: str = ""
    """the public file that it was tried on; empty: not tried on the file"""
    note: str = ""
    """what is assumed, in a sentence or two"""
    batch: bool = False
    """whether it is a log of a batch system, whose jobs run for minutes and hours"""
    known_by: tuple[str, ...] = ()
    """names that the header of such a file has, all of them, whatever their case"""
    begins: str = ""
    """a regular expression that the first line of such a file matches from its begin"""


class ColumnMap(Section):
    """Which column of a table is which field of a job. Needed: submit, start, or end and run."""

    about: About = About()
    """what it is"""
    file: TableLayout = TableLayout()
    """how the table lies in its file"""
    reader: Literal["sacct"] | None = None
    """lines of jobs and steps, which code reads; then `file` alone says where the columns are"""
    submit: MapField | None = None
    """when it was submitted"""
    start: MapField | None = None
    """when it started"""
    end: MapField | None = None
    """when it ended"""
    run: MapField | None = None
    """how long it ran; not set: from start to end"""
    requested: MapField | None = None
    """the run time that it asked for"""
    cpu: MapField | None = None
    """CPU time that it used; not set: run time x cores"""
    cores: MapField | None = None
    """cores that it had; not set: as many as tasks"""
    tasks: MapField | None = None
    """tasks that it had; not set: a task for each core"""
    memory: MapField | None = None
    """memory that it had"""
    disk_read: MapField | None = None
    """bytes that it read"""
    disk_written: MapField | None = None
    """bytes that it wrote"""
    job: MapField | None = None
    """its id"""
    workflow: MapField | None = None
    """the id of the workflow to which it belongs: a sample keeps these whole"""
    parents: MapField | None = None
    """ids of the jobs that must have ended before it starts"""
    user: MapField | None = None
    """whose it is"""
    group: MapField | None = None
    """the user's group or account"""
    partition: MapField | None = None
    """the partition or queue"""
    name: MapField | None = None
    """the program that it runs"""
    resources: dict[str, MapField] = {}  # noqa: RUF012
    """counted resources that it asked for, by name, as gpu"""
    events: Events | None = None
    """one job from several rows"""
    spread: Spread | None = None
    """many jobs from one row of counts"""
    machine: Machine = Machine()
    """of what machine shares are"""
    filter: str | None = None
    """an expression: rows for which it does not hold are left out"""
    missing: tuple[str, ...] = ()
    """texts that stand for "not known", beside the usual ones"""

    @model_validator(mode="after")
    def _consistent(self) -> ColumnMap:
        problems = [problem for name, field in self.fields.items() for problem in self._problems_of(name, field)]
        if self.filter is not None:
            problems += [f"filter: {said}" for said in _problem_of(check_expression, self.filter, True)]
        if self.events is not None:
            problems += _problem_of(_check_number, "submit", self.events.time, self.machine, "events.time")
        if problems:
            raise ValueError("; ".join(dict.fromkeys(problems)))
        return self

    def _problems_of(self, name: str, field: MapField) -> list[str]:
        """What is wrong with a field and its other sources."""
        problems = []
        for source in field.sources:
            if name in NUMBERS:
                problems += _problem_of(_check_number, name, source, self.machine)
            elif name in WORDS:
                problems += _problem_of(_check_word, name, source)
            else:
                problems += _problem_of(_check_resource, name, source)
            problems += _problem_of(_check_choices, name, source)
        return problems

    def check_complete(self) -> None:
        """Raise ValueError if a field is missing without which no row is a job."""
        if self.reader is not None:
            return
        if self.events is not None:
            given = [name for name in (*INSTANTS, "run") if getattr(self, name) is not None]
            if self.job is None or given:
                raise ValueError(f"events: needs job, and no {', '.join(given) or 'submit, start, end, run'}")
        elif self.spread is None and not (self.submit or self.start or (self.end and self.run)):
            raise ValueError("allowed: a map with submit, with start, or with end and run (or events, or spread)")
        if self.parents is not None and self.job is None:
            raise ValueError("parents: needs job")

    @property
    def says_cpu(self) -> bool:
        """Whether jobs have CPU times, used ones or run times."""
        found = (self.reader, self.cpu, self.run, self.end, self.events)
        return any(one is not None for one in found)

    @property
    def fields(self) -> dict[str, MapField]:
        """The fields that are mapped, numbers first; counted resources as resources.NAME."""
        found = {name: getattr(self, name) for name in (*NUMBERS, *WORDS)}
        found |= {f"resources.{name}": field for name, field in self.resources.items()}
        return {name: field for name, field in found.items() if field is not None}


def _problem_of(check: Callable[..., object], *arguments: object) -> list[str]:
    """What a check raises ValueError for; empty if nothing."""
    try:
        check(*arguments)
    except ValueError as problem:
        return [str(problem)]
    return []


def _check_word(name: str, field: MapField) -> None:
    """Raise ValueError for a text that is to be worked out."""
    if field.expr is not None:
        raise ValueError(f"{name}: expr gives a number: allowed: column, columns or value")


def _check_resource(shown: str, field: MapField) -> None:
    """Raise ValueError for a name or a unit that no counted resource has."""
    name = shown.removeprefix("resources.")
    if RESOURCE_NAME.fullmatch(name) is None:
        raise ValueError(f"resources: {name[:60]!r}: allowed: a name as gpu, or gpu:a100")
    _check_one_column(shown, field)
    if field.unit is not None and field.unit not in COUNTS:
        raise ValueError(f"{shown}: unit = {field.unit!r}: allowed: {', '.join(COUNTS)}")


def _check_number(name: str, field: MapField, machine: Machine, shown: str = "") -> None:
    """Raise ValueError for a unit that does not measure this, or that needs more to be said."""
    shown = shown or name
    _check_one_column(shown, field)
    allowed = UNITS[name]
    if field.unit is not None and field.unit not in allowed:
        raise ValueError(f"{shown}: unit = {field.unit!r}: allowed: {', '.join(allowed)}")
    if name in SIZES and field.unit is None:
        raise ValueError(f"{shown}: needs a unit: allowed: {', '.join(allowed)}")
    if field.unit == SHARE and getattr(machine, "cores" if name == "cores" else "memory_mb") is None:
        key = "cores" if name == "cores" else "memory_mb"
        raise ValueError(f'{shown}: unit = "share": needs machine.{key}, of which it is a share')
    if name in SIZES[1:] and field.unit == SHARE:
        raise ValueError(
            f'{shown}: unit = "share": a share of what is not known; allowed: {", ".join(SIZE_UNITS[:-1])}'
        )


def _check_choices(name: str, field: MapField) -> None:
    """Raise ValueError for a choice that would change nothing."""
    parts = [part for part in OF_PARTS if part != "cores"] if field.per == "core" else OF_PARTS
    problems = [
        (field.per != "job" and name not in parts, f"per = {field.per!r}: allowed for these alone: {', '.join(parts)}"),
        (field.by != "disk" and name not in SIZES[1:], f"by = {field.by!r}: allowed of {', '.join(SIZES[1:])}"),
        (field.zone is not None and name not in INSTANTS, f"zone = {field.zone!r}: allowed of {', '.join(INSTANTS)}"),
        (field.zone is not None and field.unit not in (None, ISO, DATE), f"zone: unit {field.unit!r} has none"),
        (name in WORDS and field.unit is not None, f"unit = {field.unit!r}: a text has none"),
        (
            field.form is not None and field.form in OF_WORDS and name not in WORDS,
            f"form = {field.form!r}: allowed of texts: {', '.join(WORDS)}",
        ),
        (
            field.form is not None and field.form not in OF_WORDS and name in WORDS,
            f"form = {field.form!r}: allowed of numbers",
        ),
    ]
    for is_wrong, words in problems:
        if is_wrong:
            raise ValueError(f"{name}: {words}")


def _check_one_column(shown: str, field: MapField) -> None:
    """Raise ValueError for a number that is to come from several columns."""
    if any(one.columns for one in field.sources):
        raise ValueError(f"{shown}: columns make an id together: allowed: column, expr or value")


def _check_zone(zone: str) -> None:
    try:
        ZoneInfo(zone)
    except (OSError, ValueError, KeyError):
        raise ValueError(f"zone = {zone[:40]!r}: no such time zone; allowed: a name as Europe/Berlin") from None
