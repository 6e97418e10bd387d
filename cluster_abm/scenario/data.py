"""Files that jobs need, and on which nodes they lie. Data only, drawn by `workload`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import Field, PlainValidator, Strict, field_validator, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import Count, Distribution, NonNegative, Positive, Share

# What the model keeps and draws grows with files x nodes and with files x jobs.
MOST_FILES = 1_000_000
MOST_FILE_NODES = 20_000_000

MOST_PLACED = 100_000
LONGEST_NAME = 200
BETWEEN_NAMES = ";"  # where names of files stand in one cell: in a trace, and at the vertices of a graph file

Number = Annotated[int, Strict(), Field(ge=0, le=MOST_FILES)]


def _place(value: Any) -> int | str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError("must be the number of a node, from 0, or the name of a cluster or of a vertex")


Place = Annotated[int | str, PlainValidator(_place)]


def can_name_a_file(name: str) -> bool:
    """Whether a text can be the name of a file, and stand in a cell beside others."""
    return 0 < len(name) <= LONGEST_NAME and name == name.strip() and BETWEEN_NAMES not in name


def names_of_files(cell: str) -> tuple[str, ...]:
    """The names in a cell such as "maps; tiles", in their order.

    Raises ValueError: a name is empty, or there twice.
    """
    if not cell.strip():
        return ()
    names = tuple(name.strip() for name in cell.split(BETWEEN_NAMES))
    if not all(names) or len(set(names)) < len(names):
        raise ValueError(f'allowed: names of files, "{BETWEEN_NAMES}" between them, each once')
    return names


def drawn_name(number: int) -> str:
    """What a drawn file is called where files have names, by its number from 0."""
    return f"file-{number}"


class FilesPerJob(Section):
    """How many different files a job needs: uniform in `minimum`..`maximum`."""

    minimum: Number = 1
    """fewest files of a job; 0: some jobs need none"""
    maximum: Number = 4
    """most files of a job"""

    @model_validator(mode="after")
    def _ordered(self) -> FilesPerJob:
        if self.maximum < self.minimum:
            raise ValueError(f"maximum {self.maximum}: must not be below minimum {self.minimum}")
        return self


class PlacedFile(Section):
    """A file with a name and places of its own. Jobs name the files that they need in a trace's column `files`."""

    name: str
    """what jobs, and the vertices of a graph, call it"""
    size_mb: Positive
    """its size [MB]"""
    at: Annotated[tuple[Place, ...], Field(max_length=MOST_PLACED)] = ()
    """where a copy lies: numbers of nodes, names of the graph's vertices or clusters, or "cluster 0" by number.
    Of a cluster one node holds the copy: its nodes take turns, in the order of the files. Vertices of a graph may name
    the file, too; no place at all is an error. A number that is a vertex's name, and that of another vertex's node, is
    an error"""

    @field_validator("name")
    @classmethod
    def _can_stand_in_a_cell(cls, name: str) -> str:
        if not can_name_a_file(name):
            raise ValueError(
                f'must be a text of 1 to {LONGEST_NAME} letters without "{BETWEEN_NAMES}", and without blanks around it'
            )
        return name


class Data(Section):
    """Files with copies on nodes; each task fetches those that its job needs before it starts."""

    files: Number = 0
    """number of drawn files, which jobs need that name none; 0: these jobs need no files"""
    file: Annotated[tuple[PlacedFile, ...], Field(max_length=MOST_PLACED)] = ()
    """[[data.file]]: files with places of their own, each with a name, size_mb, and at; jobs of a trace name them"""
    size_mb: Distribution = Distribution(kind="fixed", mean=100.0)
    """size of a file [MB]"""
    copies: Count = 1
    """copies of each file, the first on a node drawn from all, the others in other clusters as far as there are"""
    files_per_job: FilesPerJob = FilesPerJob()
    """how many files a job needs"""
    popularity_skew: Annotated[NonNegative, Field(le=10)] = 0.0
    """the k-th most popular file is asked for in proportion to k^-popularity_skew (Zipf); 0: all alike"""
    affinity: Share = 0.0
    """share of a job's files drawn from those with their first copy in the cluster that its home cluster is interested
    in, at first itself; the rest from all"""
    drift_period_s: Positive | None = None
    """time after which each home cluster's interest moves on to the next cluster [s]; not set: never"""

    @model_validator(mode="after")
    def _enough_files(self) -> Data:
        if 0 < self.files < self.files_per_job.maximum:
            raise ValueError(f"files_per_job.maximum {self.files_per_job.maximum}: must be at most files, {self.files}")
        return self

    @model_validator(mode="after")
    def _names_are_unique(self) -> Data:
        first: dict[str, int] = {}
        for number, one in enumerate(self.file):
            if first.setdefault(one.name, number) != number:
                raise ValueError(f"file.{number}.name {one.name!r}: file.{first[one.name]} has it, too: must be unique")
            if _is_drawn(one.name, self.files):
                raise ValueError(f"file.{number}.name {one.name!r}: is that of a drawn file: must be unique")
        return self

    @property
    def has_files(self) -> bool:
        """Whether there are any files."""
        return bool(self.files or self.file)

    @property
    def names(self) -> Iterable[str]:
        """Names of all files, by number: of the drawn ones first, then of the placed ones."""
        yield from map(drawn_name, range(self.files))
        yield from (one.name for one in self.file)

    def check_nodes(self, nodes: int) -> None:
        """Raises ValueError if the cluster is too small for the copies or too large for the catalogue."""
        for number, one in enumerate(self.file):
            for place in one.at:
                if isinstance(place, int) and place >= nodes:
                    raise ValueError(
                        f"data.file.{number}.at {place}: file {one.name!r}: must be below cluster.nodes, {nodes}"
                    )
        if self.files and self.copies > nodes:
            raise ValueError(f"data.copies {self.copies}: must be at most cluster.nodes, {nodes}")
        if (self.files + len(self.file)) * nodes > MOST_FILE_NODES:
            raise ValueError(
                f"data.files {self.files + len(self.file)}: on {nodes} nodes allowed are {MOST_FILE_NODES // nodes} "
                f"({MOST_FILE_NODES:,} pairs of a file and a node)"
            )


def _is_drawn(name: str, files: int) -> bool:
    number = name.rpartition("-")[2]
    return number.isdecimal() and len(number) < 8 and int(number) < files and name == drawn_name(int(number))
