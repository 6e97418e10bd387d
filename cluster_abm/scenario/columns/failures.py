"""Which columns of a table say which node was down, and when: what `[failures.columns]` and each shipped map hold."""

from __future__ import annotations

from typing import Literal

from pydantic import ValidationError, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.columns.map import About, ColumnMap, MapField, TableLayout

# Our names of the fields, and those of the map of jobs by which they are read.
READ_AS = {"node": "job", "down": "start", "up": "end", "lasts": "run"}


class FailureColumns(Section):
    """Which column of a table is which field of an outage. Needed: node and down."""

    about: About = About(row="an outage of a node")
    """what it is"""
    file: TableLayout = TableLayout()
    """how the table lies in its file"""
    node: MapField | None = None
    """the node that was down: its number, its name, or an id of several columns"""
    down: MapField | None = None
    """when it went down"""
    up: MapField | None = None
    """when it was up again"""
    lasts: MapField | None = None
    """how long it was down, for rows without `up`"""
    filter: str | None = None
    """an expression: rows for which it does not hold are left out"""
    missing: tuple[str, ...] = ()
    """texts that stand for "not known", beside the usual ones"""
    nodes: Literal["numbers", "ranks"] = "numbers"
    """numbers: `node` is the number of a node, from 0; ranks: the nodes of the table, in the order of their ids, are 0,
    1 and so on. Where all are names of the network's vertices, they are these nodes"""
    zero: Literal["start", "first"] = "start"
    """start: times count from the run's start; first: the first outage of the table begins at the run's start"""
    without_end: Literal["for good", "left out"] = "for good"
    """what a row with neither `up` nor `lasts` is"""

    @model_validator(mode="after")
    def _consistent(self) -> FailureColumns:
        try:
            self.as_map()
        except ValidationError as problem:
            said = "; ".join(error["msg"].removeprefix("Value error, ") for error in problem.errors())
            for ours, theirs in READ_AS.items():
                said = said.replace(f"{theirs}: ", f"{ours}: ")
            raise ValueError(said) from None
        return self

    def check_complete(self) -> None:
        """Raise ValueError if a field is missing without which no row is an outage."""
        missing = [name for name in ("node", "down") if getattr(self, name) is None]
        if missing:
            raise ValueError(f"{missing[0]} is missing: allowed: a map with node and down")

    def as_map(self) -> ColumnMap:
        """The same as a map of jobs, for what reads tables by those."""
        fields = {theirs: getattr(self, ours) for ours, theirs in READ_AS.items()}
        given = {name: field for name, field in fields.items() if field is not None}
        return ColumnMap(file=self.file, filter=self.filter, missing=self.missing, **given)


# The table of failures.file that no map reads.
PLAIN = FailureColumns(
    node=MapField(column="node"), down=MapField(column="down_s", unit="s"), up=MapField(column="up_s", unit="s")
)
