"""Logs, shuffled logs and scenarios fitted to them, by how long jobs wait: the table of docs/how-to/fit.md.

    python scenarios/fits_by_queueing.py SDSC-SP2-1998-4.2-cln.swf.xz HPC2N-2002-2.2-cln.swf.xz \
        --set workload.trace.cpu_time=run --out out

Writes `fits.csv`, a row for each wait, with the scenarios beside it, and prints the table as Markdown. A log takes some
minutes on two cores. Lines of an earlier table that are of other logs stay as they are.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pandas as pd
from script_options import out_option, workers_option

COLUMNS = (
    "log",
    "held_back",
    "load",
    "policy",
    "measure",
    "log_s",
    "shuffled_s",
    "fitted_s",
    "low_s",
    "high_s",
    "ratio",
)


def fitted(log: Path, out: Path, options: list[str]) -> dict[str, Any]:
    """What `trace fit --json` says of a log.

    Raises click.ClickException: the command failed; it has said why.
    """
    command = [sys.executable, "-m", "cluster_abm", "trace", "fit", str(log), "--out", str(out), "--json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise click.ClickException(f"{log}: not fitted")
    return json.loads(done.stdout)


def rows_of(log: str, queueing: dict[str, Any], held_back: bool) -> list[dict[str, Any]]:
    """A row for each wait of a judgement, in seconds.

    Raises click.ClickException: the scenario was not judged.
    """
    if queueing["verdict"] is None:
        raise click.ClickException(f"{log}: {queueing['words']}")
    rows = []
    for wait in queueing["waits"]:
        seconds = (wait["log"], wait["shuffled"], wait["fitted"], *wait["quartiles"])
        numbers = [None if value is None else value / 1000.0 for value in seconds]
        head = (log, held_back, wait["load"], wait["policy"], wait["measure"])
        rows.append(dict(zip(COLUMNS, (*head, *numbers, wait["ratio"]), strict=True)))
    return rows


def with_earlier(rows: list[dict[str, Any]], path: Path) -> pd.DataFrame:
    """The rows, and those of an earlier table that are of other logs, or of other halves of them."""
    table = pd.DataFrame(rows, columns=COLUMNS)
    if path.exists():
        earlier = pd.read_csv(path)
        keys = ["log", "held_back", "load", "policy", "measure"]
        table = pd.concat([earlier, table]).drop_duplicates(keys, keep="last")
    return table.sort_values(["log", "held_back"], kind="stable", ignore_index=True)


def markdown(table: pd.DataFrame) -> str:
    """A line for each log, policy and load: mean waits, and the ratio of the 95th percentiles."""
    lines = [
        "| log | policy | load | log [s] | shuffled [s] | fitted [s] | ratio | ratio of the 95th percentiles |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (log, held_back, policy, load), of in table.groupby(["log", "held_back", "policy", "load"], sort=False):
        by = of.set_index("measure")
        mean, tail = by.loc["mean_wait_ms"], by.loc["p95_wait_ms"]
        waits = " | ".join(f"{mean[name]:,.4g}" for name in ("log_s", "shuffled_s", "fitted_s"))
        name = f"{log}, half held back" if held_back else log
        lines.append(f"| {name} | `{policy}` | {load:g} | {waits} | {mean['ratio']:.2f} | {tail['ratio']:.2f} |")
    return "\n".join(lines)


@click.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A key of the base, as of `trace fit`.")
@click.option("--draws", type=click.IntRange(min=2), default=20, show_default=True, help="Draws of each scenario.")
@click.option("--hold-back", is_flag=True, help="Fit one half of the weeks, and judge by the other.")
@workers_option
@out_option
def main(
    logs: tuple[Path, ...], settings: tuple[str, ...], draws: int, hold_back: bool, workers: int | None, out: Path
) -> None:
    """Fit scenarios to LOGS, judge them by queueing, and keep what came of it in a table."""
    out.mkdir(parents=True, exist_ok=True)
    options = ["--draws", str(draws), *(word for setting in settings for word in ("--set", setting))]
    options += ["--hold-back"] if hold_back else []
    options += [] if workers is None else ["--workers", str(workers)]
    table = pd.DataFrame()
    for log in logs:
        begun_s = time.perf_counter()
        name = log.name.partition(".")[0]
        found = fitted(log, out / f"{name}.toml", options)
        table = with_earlier(rows_of(name, found["queueing"], hold_back), out / "fits.csv")
        table.to_csv(out / "fits.csv", index=False, float_format="%.6g")
        click.echo(f"{name}: {time.perf_counter() - begun_s:.0f} s. {found['queueing']['words']}", err=True)
    click.echo(markdown(table))


if __name__ == "__main__":
    main()
