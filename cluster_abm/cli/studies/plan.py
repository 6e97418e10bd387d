"""`plan`: the smallest cluster, or the highest load, that meets a target."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.frame import QuestionFrame, StudyCall, study_options
from cluster_abm.cli.options import Overrides, count_option, out_option, policies_named, scenario_argument
from cluster_abm.cli.output import echo, tell
from cluster_abm.cli.shell import names
from cluster_abm.cli.tables import table_text
from cluster_abm.errors import gathered

if TYPE_CHECKING:
    from cluster_abm.scenario import Scenario
    from cluster_abm.study.planning.bracketing import Crossing
    from cluster_abm.study.planning.needs import JudgedValue, Need
    from cluster_abm.study.planning.plan import Planned, PlanningQuestion

NOT_PLANNED = {
    "compare.seeds": "only `cluster-abm compare` reads it; --seeds says how many",
    "measure.period_ms": "a plan takes no measurements; `run` does",
}


@click.command("plan", short_help="The fewest nodes, or the highest load, that will do.")
@scenario_argument
@click.option(
    "--need",
    "needs",
    metavar="METRIC<=VALUE",
    multiple=True,
    required=True,
    shell_complete=names.metrics,
    help='What has to be kept in the mean over seeds: METRIC<=VALUE (or <, >=, >), several joined by "and". '
    "Several times.",
)
@click.option(
    "--over",
    "key",
    metavar="KEY",
    required=True,
    shell_complete=names.keys,
    help="What is planned, e.g. cluster.nodes.",
)
@click.option(
    "--policies",
    metavar="A,B,...",
    shell_complete=names.policy_list,
    help="Policies (default: the scenario's compare.policies).",
)
@click.option("--low", type=float, help="The least value that is tried (default: 1/32 of the scenario's).")
@click.option("--high", type=float, help="The greatest value that is tried (default: 32 times the scenario's).")
@count_option("--seeds", 8, "Runs of each value under each policy.", least=2)
@study_options(out_option(None))
def plan_command(
    call: StudyCall,
    needs: tuple[str, ...],
    key: str,
    policies: str | None,
    low: float | None,
    high: float | None,
    seeds: int,
) -> int:
    """Find the least cluster, or the highest load, of SCENARIO that keeps what is asked, policy by policy.

    The jobs stay those of the scenario while the key changes. All values and policies get the same seeds.

    Example: cluster-abm plan quickstart --need "bounded_slowdown<=3" --over cluster.nodes --policies none,jsq,iolb
    """
    from cluster_abm.policies import BOUNDS
    from cluster_abm.study.design.policies import default_policies
    from cluster_abm.study.planning.plan import PlanningQuestion

    checked, overrides = call.loaded()
    names = policies_named(policies)
    default = default_policies(checked)
    if names is None and default.note:
        tell(default.note)
    chosen = [name for name in default.names if name not in BOUNDS] if names is None else names
    question = PlanningQuestion(checked, needs, key.strip(), tuple(chosen), low, high, seeds)
    unread = NOT_PLANNED | ({} if policies is None else {"compare.policies": "--policies names them"})
    with gathered() as gather:
        with gather:
            question.check()
        with gather:
            check_keys_have_effect(checked, call.scenario, overrides, chosen, unread)
    frame = PlanFrame(call, overrides, question)
    for note in question.fixed.notes:
        tell(f"note: {note}")
    return frame.carry_out()


class PlanFrame(QuestionFrame["Planned"]):
    """The frame of `plan`."""

    document, picture, table = "plan.json", "plan.png", "points.parquet"

    def __init__(self, call: StudyCall, overrides: Overrides, question: PlanningQuestion) -> None:
        super().__init__(call, overrides, question)
        self.kept = "nothing is kept without --out" if call.out is None else f"what is finished is kept in {call.out}"

    def _run(self, folder: Path | None) -> Planned:
        from cluster_abm.study.planning.plan import plan

        return plan(self.question, where=self.where, folder=folder)

    def _scenario_of(self, found: Planned) -> Scenario:
        return found.question.fixed.scenario

    def _save(self, folder: Path, found: Planned) -> None:
        from cluster_abm.results.files import write_table
        from cluster_abm.results.style import save

        write_table(folder, self.table, found.frame())
        save(found.plot(title=self.overrides.captioned(found.title)), folder / self.picture)

    def _show(self, found: Planned) -> None:
        _print_plan(found)


def _print_plan(found: Planned) -> None:
    from cluster_abm.study.heads import head_lines

    question = found.question
    asked = " and ".join(map(str, question.asked))
    over = (
        f"one sample: {question.seeds} seeds give the same runs"
        if found.is_one_sample
        else (f"in the mean over {question.seeds} seeds")
    )
    echo(f"{question.scenario.name}: {question.key} at which {asked}, {over}")
    intervals = "no intervals" if found.is_one_sample else "intervals at 95 %"
    metrics = [need.metric for need in question.asked]
    for line in head_lines(found.estimated, found.scenarios, metrics, question.policies):
        echo(textwrap.fill(line, 100, break_on_hyphens=False))
    echo(f"the same jobs for every value and policy; {intervals}\n")
    rows = []
    for policy, one in found.crossings.items():
        value = found.number(one.value)
        row = {
            "policy": policy,
            question.key: "none" if value is None else f"{'at least' if one.side == 'least' else 'at most'} {value:g}",
            "95 % interval": _interval(found, one),
        }
        for need in question.asked:
            there = _metric(one.at_value, need) or _at(found, one.at_end, need)
            row |= {
                f"{need.metric} there [95 %]": there,
                f"{need.metric} where it fails [95 %]": _at(found, one.beyond, need),
            }
        rows.append(row)
    echo(table_text(rows))
    for policy, one in found.crossings.items():
        if one.note:
            echo(f"\n{policy}: {one.note}")


def _interval(found: Planned, one: Crossing) -> str:
    if one.is_one_sample or (one.low is None and one.high is None):
        return ""
    ends = [found.number(end) for end in (one.low, one.high)]
    axis = found.question.axis
    low = f"below {axis.low:g}" if ends[0] is None else f"{ends[0]:g}"
    high = f"above {axis.high:g}" if ends[1] is None else f"{ends[1]:g}"
    return f"[{low}, {high}]"


def _metric(point: JudgedValue | None, need: Need) -> str:
    if point is None:
        return ""
    one = point.shown(need.metric)
    return f"{one.mean:.4g}" if one.ci95 is None else f"{one.mean:.4g} [{one.ci95[0]:.4g}, {one.ci95[1]:.4g}]"


def _at(found: Planned, point: JudgedValue | None, need: Need) -> str:
    return "" if point is None else f"{_metric(point, need)} at {found.number(point.value):g}"
