"""Large tables in the schemas of published traces, and what it takes to read one by its map.

`python tests/benchmarks/tables.py alibaba-2018 --rows 100000000 --out DIR [--sample 1/100] [--read]`
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

sys.path.insert(0, str(Path(__file__).parents[2] / "scenarios"))
from try_maps import read_by_map

BLOCK = 1_000_000  # rows that are drawn and written at a time
TASKS = ("M1", "R2_1", "M3", "J4_2_3")  # of each job of alibaba-2018
STATUSES = ("Terminated", "Failed", "Running")
SPAN_S = 8 * 86_400  # from the first job to the last
GOOGLE_NAMES = (
    "time", "type", "collection_id", "scheduling_class", "collection_type", "priority", "instance_index",
    "resource_request.cpus", "resource_request.memory",
)  # fmt: skip
SUBMIT, SCHEDULE, FINISH = 0, 3, 6
INSTANCES = 10  # of each collection of google-2019


def alibaba_2018(rows: int, seed: int, block: int = BLOCK) -> Iterator[pa.Table]:
    """Rows of batch_task.csv: jobs of four tasks, of which the second comes after the first, the fourth after both.

    Of 100 tasks 97 have ended, 2 failed, and one still runs. Jobs come evenly over SPAN_S.
    """
    block -= block % len(TASKS)
    for first in range(0, rows, block):
        random = np.random.default_rng([seed, first])
        row = np.arange(first, min(first + block, rows))
        job, task = row // len(TASKS), row % len(TASKS)
        submit_s = 600 + job * SPAN_S // max(1, rows // len(TASKS))
        run_s = 1 + random.exponential(60.0, len(row)).astype(np.int64)
        # Parents end before: each generation of tasks has ten minutes.
        start_s = submit_s + np.array([0, 600, 0, 1200])[task]
        status = np.searchsorted([97, 99], random.integers(0, 100, len(row)), side="right")
        yield pa.table(
            {
                "task_name": pa.array(TASKS).take(pa.array(task)),
                "instance_num": random.geometric(0.3, len(row)),
                "job_name": pc.binary_join_element_wise("j", pc.cast(pa.array(job), pa.string()), "_"),
                "task_type": random.integers(1, 13, len(row)),
                "status": pa.array(STATUSES).take(pa.array(status)),
                "start_time": start_s,
                "end_time": np.where(status == 2, 0, start_s + run_s),
                "plan_cpu": np.array([50.0, 100.0, 200.0])[random.integers(0, 3, len(row))],
                "plan_mem": random.integers(1, 200, len(row)) / 100.0,
            }
        )


def google_2019(rows: int, seed: int, block: int = BLOCK) -> Iterator[pa.Table]:
    """Rows of instance_events, in each block by time: instances are submitted, scheduled, and end in the next block.

    Those of the last block have no end.
    """
    block = min(block, rows)
    each = max(1, block // 3)
    ends: np.ndarray[Any, Any] = np.zeros((3, 0), np.int64)  # time, instance, kind
    begun, written = 0, 0
    while written < rows:
        random = np.random.default_rng([seed, begun])
        instance = np.arange(begun, begun + each)
        submit_us = 600_000_000 + instance * (SPAN_S * 1_000_000 // max(1, rows // 3))
        start_us = submit_us + random.integers(0, 5_000_000, each)
        end_us = start_us + 1 + random.exponential(60e6, each).astype(np.int64)
        # An end lies behind all that this block says.
        end_us = np.maximum(end_us, int(start_us.max()) + 1)
        kinds = [np.full(each, kind) for kind in (SUBMIT, SCHEDULE, FINISH)]
        now = [np.stack([submit_us, instance, kinds[0]]), np.stack([start_us, instance, kinds[1]]), ends]
        events = np.concatenate(now, axis=1)
        events = events[:, np.argsort(events[0], kind="stable")][:, : rows - written]
        ends = np.stack([end_us, instance, kinds[2]])
        written, begun = written + events.shape[1], begun + each
        yield _google_rows(*events)


def _google_rows(time_us: Any, instance: Any, kind: Any) -> pa.Table:
    """Events as rows; what an instance asks for follows from its number."""
    columns = (
        time_us, kind, instance // INSTANCES, np.full(len(kind), 2), np.zeros(len(kind), np.int64),
        np.full(len(kind), 103), instance % INSTANCES, (instance % 97 + 1) / 512.0, (instance % 89 + 1) / 1024.0,
    )  # fmt: skip
    return pa.table(dict(zip(GOOGLE_NAMES, columns, strict=True)))


TABLES = {"alibaba-2018": alibaba_2018, "google-2019": google_2019}
HEADERS = ("google-2019",)  # those whose first line names the columns
SHOWN = ("rows", "jobs", "skipped", "filled", "wall_s", "cpu_s", "peak_mb")


def write_table(schema: str, rows: int, path: Path, seed: int = 1, block: int = BLOCK) -> None:
    """Write a table of so many rows. The same arguments give the same bytes."""
    writer = None
    for part in TABLES[schema](rows, seed, block):
        if writer is None:
            options = csv.WriteOptions(include_header=schema in HEADERS, quoting_style="none")
            writer = csv.CSVWriter(str(path), part.schema, write_options=options)
        writer.write_table(part)
    if writer is not None:
        writer.close()


@click.command()
@click.argument("schema", type=click.Choice(sorted(TABLES)))
@click.option("--rows", default=1_000_000, show_default=True, type=click.IntRange(min=1), help="Rows of the table.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out"), show_default=True, help="Folder.")
@click.option("--sample", help="Read this share of the jobs only, such as 1/100.")
@click.option("--read/--no-read", "reads", default=True, help="Read it by its map, and print time and memory.")
def main(schema: str, rows: int, out: Path, sample: str | None, reads: bool) -> None:
    """Write a large table in the schema of a published trace, unless it is there, and measure reading it."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{schema}-{rows}.csv"
    if not path.exists():
        begun_s = time.perf_counter()
        unfinished = path.with_suffix(".part")
        write_table(schema, rows, unfinished)
        unfinished.rename(path)
        size_mb = path.stat().st_size / 1e6
        click.echo(f"{path}: {rows:,} rows, {size_mb:,.0f} MB, {time.perf_counter() - begun_s:.0f} s", err=True)
    if reads:
        info = read_by_map(path, schema, *(["--sample", sample] if sample else []))
        click.echo(json.dumps({name: info[name] for name in SHOWN} | {"sample": sample}, indent=2))


if __name__ == "__main__":
    main()
