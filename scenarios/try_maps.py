"""Each shipped map on the files that there are: rows, jobs, time and memory of `trace info --map`.

    python scenarios/try_maps.py --data DIR --out docs/reference/maps.csv

DIR holds files MAP.ENDING and folders MAP, such as alibaba-gpu-2023.csv.xz and google-2011/part-00001.csv.gz. Lines of
the table of files that are not there stay as they are. docs/reference/maps.md shows the table.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pandas as pd

COLUMNS = ("map", "file", "rows", "used", "jobs", "skipped", "filled", "wall_s", "peak_mb")


def read_by_map(path: Path, name: str, *options: str) -> dict[str, Any]:
    """What `trace info --map NAME --json` says of a file, and what it took: wall_s, cpu_s and, at most, peak_mb.

    Raises click.ClickException: the command failed; it has said why.
    """
    command = [sys.executable, "-m", "cluster_abm", "trace", "info", str(path), "--map", name, "--json", *options]
    begun_s = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        # The memory of this process alone, not the most of all that were started.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise click.ClickException(f"{path}: not read by the map {name}")
    taken = {
        "wall_s": time.perf_counter() - begun_s,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        # Linux counts in KiB, macOS in bytes.
        "peak_mb": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6,
    }
    return json.loads(said) | taken


def row_of(path: Path, name: str) -> dict[str, Any]:
    """A line of the table: a file, read by a map."""
    info = read_by_map(path, name)
    words = {
        "map": name,
        "file": path.name,
        "skipped": "; ".join(f"{reason}: {count}" for reason, count in info["skipped"].items()),
        "filled": ", ".join(info["filled"]),
        "wall_s": round(info["wall_s"], 1),
        "peak_mb": round(info["peak_mb"]),
    }
    return {column: words.get(column, info.get(column)) for column in COLUMNS}


def files_by_map(folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of a folder with the names of their maps, sorted."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            yield from ((entry.name, path) for path in sorted(entry.iterdir()) if path.is_file())
        else:
            yield entry.name.partition(".")[0], entry


def with_earlier(rows: list[dict[str, Any]], out: Path) -> pd.DataFrame:
    """The lines, and those of an earlier table of other files, by map and file."""
    table = pd.DataFrame(rows, columns=COLUMNS)
    if out.exists():
        earlier = pd.read_csv(out, keep_default_na=False)
        table = pd.concat([earlier, table]).drop_duplicates(["map", "file"], keep="last")
    return table.sort_values(["map", "file"], ignore_index=True)


@click.command()
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), required=True, help="Folder.")
@click.option("--out", type=click.Path(path_type=Path), default=Path("out/maps.csv"), show_default=True, help="Table.")
def main(data: Path, out: Path) -> None:
    """Read each file of a folder by the map that its name begins with, and keep what came of it in a table."""
    rows = []
    for name, path in files_by_map(data):
        rows.append(row_of(path, name))
        click.echo(f"{name}: {path.name}: {rows[-1]['rows']:,} rows, {rows[-1]['jobs']:,} jobs", err=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    with_earlier(rows, out).to_csv(out, index=False)


if __name__ == "__main__":
    main()
