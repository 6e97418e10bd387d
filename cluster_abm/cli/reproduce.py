"""`reproduce`: the papers' tables and figures beside the published numbers."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_any_has_effect
from cluster_abm.cli.front.names import reproductions
from cluster_abm.cli.options import (
    Executor,
    executor_options,
    json_option,
    out_option,
    overrides_of,
    set_option,
    trace_file_option,
)
from cluster_abm.cli.output import echo, ending_with, tell, tell_problems
from cluster_abm.interrupts import interrupt_held_back

if TYPE_CHECKING:
    from cluster_abm.study.papers.reproduction import Reproduction


NOT_REPRODUCED = {
    "compare": "only `cluster-abm compare` reads it; --seeds says how many",
    "measure": "a reproduction takes no measurements; `run` does",
}


@click.command("reproduce", short_help="The papers' tables beside the published numbers.")
@click.argument("name", default="all", shell_complete=reproductions)
@click.option("--seeds", type=click.IntRange(min=1), help="How many seeds (default: as many as the table needs).")
@click.option("--quick", is_flag=True, help="A smoke run: few seeds, few points, a minute at most, and no verdict.")
@set_option
@trace_file_option
@executor_options
@out_option("out/reproduce")
@json_option
def reproduce_command(
    name: str,
    seeds: int | None,
    quick: bool,
    settings: tuple[str, ...],
    trace: Path | None,
    executor: Executor,
    out: Path | None,
    as_json: bool,
) -> int:
    """Run NAME (or all) of the papers' tables and figures; print and draw it beside the published numbers.

    Finished runs are kept in the folder's `store`: the same command, stopped or killed, goes on where it was.

    --set changes the scenario under reproduction, to see whether its claims hold there too; keys that its axis or its
    series set are refused.

    Example: cluster-abm reproduce iolb-table-1 --quick
    """
    from cluster_abm.json_text import to_json
    from cluster_abm.results.files import out_folder
    from cluster_abm.study.papers.cells import cells_of
    from cluster_abm.study.papers.plan import load_plan
    from cluster_abm.study.papers.reproduce import reproduce, reproduction_names

    names = reproduction_names() if name == "all" else [name]
    plans = {chosen: load_plan(chosen) for chosen in names}
    # A table asked for by name refuses a trace that it does not take; of all, only those that take it get it.
    gets_trace = {chosen: name != "all" or plan.takes_trace for chosen, plan in plans.items()}
    given = {chosen: overrides_of(settings, trace if gets_trace[chosen] else None) for chosen in names}
    if settings:
        # Before hours of runs, and not at the table that refuses it.
        cells = {chosen: cells_of(plan, quick, given[chosen]) for chosen, plan in plans.items()}
        run = [(cell.scenario, cell.series.policy) for of_plan in cells.values() for cell in of_plan]
        check_any_has_effect(run, overrides_of(settings), NOT_REPRODUCED)
    if out is None and not as_json:
        out = Path("out", "reproduce")
    found: list[Reproduction] = []
    with nullcontext() if out is None else out_folder(out) as folder:
        for chosen in names:
            begun = time.perf_counter()
            where = executor.where(out, None if folder is None else folder / "store")
            result = reproduce(chosen, seeds, quick, given[chosen], where=where)
            found.append(result)
            # On the disk before anything is said of it, and whole before a signal takes effect.
            if folder is not None and result.points:
                with interrupt_held_back():
                    _save(folder, result)
            try:
                with ending_with(_exit_code(found)):
                    if not as_json:
                        _print_reproduction(result)
                    if folder is not None and result.points:
                        (tell if as_json else echo)(f"picture: {folder / f'{chosen}.png'}\n")
            finally:
                there = result.outcome.finished - result.outcome.made
                before = f", {there} of them carried out before" if there > 0 else ""
                tell(f"{result.outcome.finished} runs in {time.perf_counter() - begun:.1f} s{before}")
                tell_problems(result.outcome)
                if result.outcome.interrupted:
                    tell(f"interrupted: kept {result.outcome.finished} runs of {chosen}")
            if result.outcome.interrupted:
                break
    if as_json:
        documents = [result.as_json() for result in found]
        with ending_with(_exit_code(found)):
            echo(to_json(documents if name == "all" else documents[0]), nl=False)
    return _exit_code(found)


def _exit_code(found: list[Reproduction]) -> int:
    if found[-1].outcome.interrupted:
        return 130
    codes = {result.outcome.exit_code for result in found}
    return 1 if 1 in codes else max(codes)


def _print_reproduction(found: Reproduction) -> None:
    import pandas as pd

    from cluster_abm.study.papers.drawing import measured_words, stacked_parts, stacked_where

    plan = found.plan
    echo(
        f"{plan.paper}: {plan.title}. {plan.metric_label}, {'published | ' if plan.published else ''}measured "
        f"[95 % interval], {found.seeds_words}\n"
    )
    _print_points(found, {series.name: series.name for series in plan.series})
    for also in plan.also:
        columns = {f"{series.name}: {also.name}": series.name for series in plan.series}
        if not also.stacked and any(point.series in columns for point in found.points):
            echo(f"\n{also.name}: {also.label}")
            _print_points(found, columns)
    parts = stacked_parts(plan, found.points)
    if not parts.empty:
        echo(f"\n{stacked_where(plan)}: {parts.attrs['label']}")
        echo(parts.to_string(float_format=lambda value: f"{value:.4g}"))
    numbers = [
        {
            "the paper says": f"{number.number.claim} [{number.unit}]",
            "published": f"{number.published:g}",
            "measured": measured_words(number.measured),
        }
        for number in found.numbers()
    ]
    if numbers:
        echo("\n" + pd.DataFrame(numbers).to_string(index=False))
    errors = ", ".join(f"{name} {value:.1f} %" for name, value in found.mape_percent().items())
    if errors:
        echo(f"\nmean absolute percentage error: {errors}")
    echo(f"\nverdict: {found.verdict_explained}\n{found.notes}\n")


def _print_points(found: Reproduction, columns: dict[str, str]) -> None:
    """A table of the curves that `columns` names, a row a point of the axis."""
    import pandas as pd

    from cluster_abm.study.papers.drawing import measured_words, value_words

    rows: dict[float | str, dict[str, str]] = {}
    for point in found.points:
        if point.series in columns:
            cell = ("" if point.published is None else f"{point.published:g} | ") + measured_words(point.measured)
            x = value_words(point.x)
            rows.setdefault(point.x, {found.plan.axis.column: x})[columns[point.series]] = cell
    echo(pd.DataFrame(list(rows.values())).to_string(index=False, na_rep=""))


def _save(folder: Path, found: Reproduction) -> None:
    from cluster_abm.results.files import write_json
    from cluster_abm.results.style import save

    name = found.plan.name
    write_json(folder, f"{name}.json", found.as_json())
    for picture in found.pictures:
        ending = f"-{picture.replace(' ', '-')}" if picture else ""
        save(found.plot(picture), folder / f"{name}{ending}.png")
