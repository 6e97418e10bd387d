"""Files that jobs need, and on which nodes they lie. Data only, drawn by `workload`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import Count, Distribution, NonNegative, Positive, Share

# What the model keeps and draws grows with files x nodes and with files x jobs.
MOST_FILES = 1_000_000
MOST_FILE_NODES = 20_000_000

Number = Annotated[int, Strict(), Field(ge=0, le=MOST_FILES)]


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


class Data(Section):
    """Files with copies on nodes; each task fetches those that its job needs before it starts."""

    files: Number = 0
    """number of files; 0: jobs need no files"""
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

    def check_nodes(self, nodes: int) -> None:
        """Raises ValueError if the cluster is too small for the copies or too large for the catalogue."""
        if not self.files:
            return
        if self.copies > nodes:
            raise ValueError(f"data.copies {self.copies}: must be at most cluster.nodes, {nodes}")
        if self.files * nodes > MOST_FILE_NODES:
            raise ValueError(
                f"data.files {self.files}: on {nodes} nodes allowed are {MOST_FILE_NODES // nodes} "
                f"({MOST_FILE_NODES:,} pairs of a file and a node)"
            )
