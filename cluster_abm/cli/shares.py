"""What a run's summary says by user, by group of users and by group of nodes, as `run` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cluster_abm.cli.output import echo
from cluster_abm.cli.tables import table_text

# Rows of users, and of groups, that are printed: those of most CPU time.
MOST_ROWS = 10
HEADS = {"by_user": "user", "by_group": "group", "by_node_group": "group of nodes"}
WORDS = {
    "jobs": "jobs finished", "cpu_share": "share of CPU time", "nodes": "nodes", "mean_wait_ms": "mean wait",
    "mean_response_ms": "mean response",
}  # fmt: skip
SHARES = ("cpu_share", "cpu_utilisation", "disk_utilisation")


def print_shares(summary: Mapping[str, Any]) -> None:
    """Print the tables that there are.

    Args:
        summary: the document of `run --json`.
    """
    from cluster_abm.results.words import in_unit, line_words

    for table, head in HEADS.items():
        if table not in summary:
            continue
        count, rows = summary[table]["count"], summary[table]["rows"]
        # Groups of nodes are few, and in the scenario's order.
        shown = rows if table == "by_node_group" else rows[:MOST_ROWS]
        cells = [
            {head: row["name"]}
            | {WORDS.get(name, line_words(name)): _cell(name, one) for name, one in row.items() if name != "name"}
            for row in shown
        ]
        echo(f"\n{table_text(cells)}")
        if count > len(shown):
            left = 1.0 - sum(row["cpu_share"] for row in shown)
            echo(f"{count - len(shown):,} more: {in_unit(left, '%')} of the CPU time")


def _cell(name: str, value: Any) -> str:
    from cluster_abm.results.words import in_unit, with_unit

    if name in SHARES:
        return in_unit(value, "%")
    return f"{value:,}" if isinstance(value, int) else with_unit(name, value)


def print_waits(policies: Mapping[str, Any]) -> None:
    """Print the waits in the log, and below them those of the same jobs under each policy, where the log has them.

    Args:
        policies: those of the document of `compare --json`; jobs and waits are means over the seeds.
    """
    # Under some no such job has finished; the lower bound has no waits at all.
    known = {
        name: found for name, found in policies.items() if (found.get("recorded_wait_s") or {}).get("mean") is not None
    }
    if not known:
        return
    rows: list[dict[str, str]] = []
    shown: Any = None
    for name, found in known.items():
        # Under another policy other jobs may have finished.
        if found["recorded_wait_s"] != shown:
            shown = found["recorded_wait_s"]
            rows.append(_waits_row("recorded in the log", shown))
        rows.append(_waits_row(name, found["simulated_wait_s"]))
    echo(f"\n{table_text(rows)}")


def waits_by_text(head: str, by: Mapping[str, Mapping[str, float]]) -> str:
    """A table of waits by what they are by: a row for each, with jobs, mean, median and 95th percentile.

    Args:
        head: what they are by, as "tasks".
        by: as `recorded_wait_s.by_width` and `by_hour` are.
    """
    return table_text([{head: part, "jobs": f"{of['jobs']:,}"} | _waits_cells(of) for part, of in by.items()])


def print_waits_by_width(summary: Mapping[str, Any]) -> None:
    """Print the waits in the log beside those of the same jobs in the run, by width, where the log has widths.

    Args:
        summary: the document of `run --json`.
    """
    logged, here = ((summary.get(f"{which}_wait_s") or {}).get("by_width") for which in ("recorded", "simulated"))
    if not logged or not here:
        return
    rows = [
        {"waits by tasks": width, "jobs": f"{of['jobs']:,}"}
        | _waits_cells(of, " in the log")
        | _waits_cells(here[width], " here")
        for width, of in logged.items()
    ]
    echo(f"\n{table_text(rows)}")


def _waits_cells(of: Mapping[str, float], whose: str = "") -> dict[str, str]:
    from cluster_abm.results.words import in_unit

    heads = {"mean": "mean", "median": "median", "p95": "95th percentile"}
    return {f"{head}{whose}": in_unit(of[name] * 1000.0, "ms") for name, head in heads.items()}


def _waits_row(words: str, waits: Mapping[str, float]) -> dict[str, str]:
    from cluster_abm.results.words import in_unit

    longest = in_unit(waits["max"] * 1000.0, "ms")
    return {"waits": words, "jobs": f"{waits['jobs']:,.10g}", **_waits_cells(waits), "longest": longest}


def waits_in_words(waits: Mapping[str, float | int]) -> str:
    """Waits as `recorded_wait_s` has them, in words: mean, median, 95th percentile, and of how many jobs."""
    from cluster_abm.results.words import in_unit

    mean, median, p95 = (in_unit(waits[name] * 1000.0, "ms") for name in ("mean", "median", "p95"))
    return f"mean {mean}, median {median}, 95th percentile {p95} ({waits['jobs']:,} jobs)"
