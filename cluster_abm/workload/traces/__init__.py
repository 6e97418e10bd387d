"""Trace files: which jobs were submitted when. CSV of ours, SWF logs, Harchol-Balter and Downey's eight runs.

Nothing is dropped in silence: rows = jobs + skipped, each skipped row under its reason, and what was kept although
it is remarkable is counted in `noted`. A trace says what it knows; the rest is drawn from the scenario.
"""

from cluster_abm.found_modules import TRACE_FORMATS as FORMATS
from cluster_abm.workload.traces.formats.nextflow import TaskRuns
from cluster_abm.workload.traces.info import trace_info
from cluster_abm.workload.traces.parts.log_reading import LogReading
from cluster_abm.workload.traces.reading import read_task_runs, read_trace
from cluster_abm.workload.traces.table import COLUMNS, FILES, NAME, Trace
from cluster_abm.workload.traces.writing import write_csv, write_parquet, write_trace

__all__ = [
    "COLUMNS",
    "FILES",
    "FORMATS",
    "NAME",
    "LogReading",
    "TaskRuns",
    "Trace",
    "read_task_runs",
    "read_trace",
    "trace_info",
    "write_csv",
    "write_parquet",
    "write_trace",
]
