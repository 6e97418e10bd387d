"""`reproduce`: the papers' tables and figures beside the published numbers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_any_has_effect
from cluster_abm.cli.frame import StudyCall, StudyFrame, carried_out_before, lines_of_outcome, print_json, study_options
from cluster_abm.cli.log_options import NO_LOG
from cluster_abm.cli.options import Overrides, count_option, out_option, overrides_of
from cluster_abm.cli.output import echo, ending_with
from cluster_abm.cli.shell.names import reproductions

if TYPE_CHECKING:
    from cluster_abm.study.papers.reproduction import Reproduction

NOT_REPRODUCED = {
    "compare": "only `cluster-abm compare` reads it; --seeds says how many",
    "measure.period_ms": "a reproduction takes no measurements; `run` does",
}


@click.command("reproduce", short_help="The papers' tables beside the published numbers.")
@click.argument("name", default="all", shell_complete=reproductions)
@count_option("--seeds", None, "How many seeds (default: as many as the table needs).")
@click.option("--quick", is_flag=True, help="A smoke run: few seeds, few points, a minute at most, and no verdict.")
@study_options(out_option("out/reproduce"))
def reproduce_command(call: StudyCall, name: str, seeds: int | None, quick: bool) -> int:
    """Run NAME (or all) of the papers' tables and figures; print and draw it beside the published numbers.

    `reproduce all` ends with a table of all verdicts, and writes it to verdicts.csv.

    Finished runs are kept in the folder's `store`: the same command, stopped or killed, goes on where it was.

    --set changes the scenario under reproduction, to see whether its claims hold there too; keys that its axis or its
    series set are refused.

    Example: cluster-abm reproduce iolb-table-1 --quick
    """
    from cluster_abm.study.papers.cells import cells_of
    from cluster_abm.study.papers.plan import load_plan
    from cluster_abm.study.papers.reproduce import reproduction_names

    names = reproduction_names() if name == "all" else [name]
    plans = {chosen: load_plan(chosen) for chosen in names}
    # A table asked for by name refuses a trace that it does not take; of all, only those that take it get it.
    gets_trace = {chosen: name != "all" or plan.takes_trace for chosen, plan in plans.items()}
    given = {chosen: overrides_of(call.settings, call.trace if gets_trace[chosen] else NO_LOG) for chosen in names}
    if call.settings:
        # Before hours of runs, and not at the table that refuses it.
        cells = {chosen: cells_of(plan, quick, given[chosen]) for chosen, plan in plans.items()}
        run = [(cell.scenario, cell.series.policy) for of_plan in cells.values() for cell in of_plan]
        check_any_has_effect(run, overrides_of(call.settings), NOT_REPRODUCED)
    if call.out is None and not call.as_json:
        call = call._replace(out=Path("out", "reproduce"))
    found: list[Reproduction] = []
    for chosen in names:
        ReproduceFrame(call, given[chosen], chosen, seeds, quick, found).carry_out()
        if found[-1].outcome.interrupted:
            break
    if name == "all":
        _end_with_verdicts(call, found)
    if call.as_json:
        documents = [result.as_json() for result in found]
        with ending_with(_exit_code(found)):
            print_json(documents if name == "all" else documents[0])
    return _exit_code(found)


def _end_with_verdicts(call: StudyCall, found: list[Reproduction]) -> None:
    """Write and print the verdict of each table and figure."""
    if call.out is None and call.as_json:
        return
    import pandas as pd

    from cluster_abm.results.files import out_folder, write_text

    rows = [
        {"name": one.plan.name, "paper": one.plan.paper, "verdict": one.verdict_words, "seeds": one.seeds}
        for one in found
    ]
    table = pd.DataFrame(rows)
    if call.out is not None:
        with out_folder(call.out) as folder:
            write_text(folder, "verdicts.csv", table.to_csv(index=False, lineterminator="\n"))
    if not call.as_json:
        echo(f"{table.to_string(index=False)}\n")


class ReproduceFrame(StudyFrame["Reproduction"]):
    """The frame of one table or figure of `reproduce`; a JSON document is that of all of them together.

    Args:
        name: of the table or figure.
        seeds, quick: as given.
        before: what was reproduced before it; this one's result is added.
    """

    def __init__(
        self,
        call: StudyCall,
        overrides: Overrides,
        name: str,
        seeds: int | None,
        quick: bool,
        before: list[Reproduction],
    ) -> None:
        super().__init__(call, overrides)
        self._name, self._seeds, self._quick, self._all = name, seeds, quick, before

    def _run(self, folder: Path | None) -> Reproduction:
        from cluster_abm.study.papers.reproduce import reproduce

        where = self.call.executor.where(self.call.out, None if folder is None else folder / "store")
        found = reproduce(self._name, self._seeds, self._quick, self.overrides, where=where)
        self._all.append(found)
        return found

    def _has_results(self, found: Reproduction) -> bool:
        return bool(found.points)

    def _save(self, folder: Path, found: Reproduction) -> None:
        from cluster_abm.results.files import write_json
        from cluster_abm.results.style import save

        write_json(folder, f"{self._name}.json", found.as_json())
        for picture in found.pictures:
            ending = f"-{picture.replace(' ', '-')}" if picture else ""
            save(found.plot(picture), folder / f"{self._name}{ending}.png")

    def _as_document(self, found: Reproduction) -> None:
        pass

    def _show(self, found: Reproduction) -> None:
        _print_reproduction(found)

    def _files(self, found: Reproduction) -> str:
        from cluster_abm.results.figures.files import first_file

        return f"picture: {first_file(self.out / f'{self._name}.png')}\n"

    def _exit_code(self, found: Reproduction) -> int:
        return _exit_code(self._all)

    def _last_lines(self, found: Reproduction) -> Iterable[str]:
        outcome = found.outcome
        before = carried_out_before(outcome.finished - outcome.made)
        yield f"{outcome.finished} runs in {self.wall_s:.1f} s{before}"
        yield from lines_of_outcome(outcome)
        if outcome.interrupted:
            yield f"interrupted: kept {outcome.finished} runs of {self._name}"


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
