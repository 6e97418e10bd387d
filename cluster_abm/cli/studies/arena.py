"""`arena`: all policies over many regimes, and the user's own among them."""

from __future__ import annotations

import time
from pathlib import Path

import click

from cluster_abm.cli.front import names
from cluster_abm.cli.options import Executor, executor_options, json_option, out_option, overrides_of, set_option
from cluster_abm.cli.output import echo, ending_with, tell, tell_problems
from cluster_abm.interrupts import interrupt_held_back


@click.command("arena", short_help="Rank policies, yours among them, over many regimes.")
@click.option(
    "--policy",
    "own",
    multiple=True,
    metavar="POLICY",
    shell_complete=names.policies,
    help="A policy of your own, NAME or FILE.py:CLASS, ranked against all. Several times.",
)
@click.option(
    "--policies", metavar="A,B,...", shell_complete=names.policy_list, help="Comma-separated policies instead of all."
)
@click.option("--quick", is_flag=True, help="Fewer and shorter runs: some minutes on two processors.")
@click.option("--regimes", type=click.IntRange(min=6), help="How many regimes (default: 60; quick: 24).")
@click.option("--seeds", type=click.IntRange(min=2), help="Seeds of each regime (default: 6; quick: 4).")
@set_option
@executor_options
@out_option("out/arena")
@json_option
def arena_command(
    own: tuple[str, ...],
    policies: str | None,
    quick: bool,
    regimes: int | None,
    seeds: int | None,
    settings: tuple[str, ...],
    executor: Executor,
    out: Path | None,
    as_json: bool,
) -> int:
    """Rank policies over regimes: load, variability, I/O, memory, age of news, nodes, cores, parallelism, unlike nodes.

    Keys given by --set are laid over all regimes. Runs that OUT holds already are not carried out again.

    Example: cluster-abm arena --quick --policy mine.py:Mine --out out/arena
    """
    from cluster_abm.cli.options import names_of
    from cluster_abm.json_text import to_json
    from cluster_abm.policies import name_of
    from cluster_abm.results.files import out_folder
    from cluster_abm.study.arena.arena import FULL, QUICK, contestants, hold
    from cluster_abm.study.arena.report import document, write_report

    own = tuple(map(name_of, own))
    more = overrides_of(settings)
    plan = QUICK if quick else FULL
    plan = plan._replace(regimes=regimes or plan.regimes, seeds=seeds or plan.seeds)
    chosen = names_of(policies)
    chosen = None if chosen is None else [*map(name_of, chosen)]
    ranked = contestants(own) if chosen is None else list(dict.fromkeys([*own, *chosen]))
    out = out or Path("out", "arena")
    begun = time.perf_counter()
    where = executor.where(out, out / "store")
    found = hold(ranked, plan, where=where, more=more)
    exit_code = 130 if found.outcome.interrupted else found.outcome.exit_code
    if found.found:
        with out_folder(out) as folder, interrupt_held_back():
            write_report(folder, found, plan, own)
    try:
        with ending_with(exit_code):
            if found.found:
                if as_json:
                    echo(to_json(document(found, plan, own)), nl=False)
                else:
                    _show(found, own)
                    echo(f"\nreport: {out / 'arena.md'}, with pictures and tables beside it")
    finally:
        tell(f"{found.outcome.made} runs in {time.perf_counter() - begun:.1f} s")
        tell_problems(found.outcome)
        if found.outcome.interrupted:
            tell(f"interrupted: kept {found.outcome.finished} of {len(found.outcome.rows)} runs in {out}; the same "
                 "command goes on with the others")  # fmt: skip
    return exit_code


def _show(found: object, own: tuple[str, ...]) -> None:
    from cluster_abm.study.arena.arena import Arena
    from cluster_abm.study.arena.report import rules_of
    from cluster_abm.study.arena.verdicts import table_of_regret

    assert isinstance(found, Arena)
    table = table_of_regret(found.runs, found.found)
    shown = table.assign(
        policy=[f"* {name}" if name in own else name for name in table["policy"]],
        regret=[f"{value:.1%}" for value in table["regret"]],
        interval=[f"[{low:.1%}, {high:.1%}]" for low, high in zip(table["low"], table["high"], strict=True)],
        worst=[f"{value:.0%}" for value in table["worst"]],
        messages=[f"{value:.3g}" for value in table["messages"]],
        gap_closed=["" if value != value else f"{value:.0%}" for value in table["gap_closed"]],
    )
    columns = {
        "policy": "policy", "regret": "mean regret", "interval": "95 % over regimes",
        "worst": "regret in its worst regime", "best_in": "regimes: best, or not told apart",
        "gap_closed": "of the gap none - pooled closed", "messages": "messages per job",
    }  # fmt: skip
    echo(f"{len(found.found)} regimes; regret: mean slowdown over that of the regime's best policy, less 1\n")
    echo(shown[[*columns]].rename(columns=columns).to_string(index=False))
    rules = rules_of(found, table)
    if rules:
        echo("\nrules that hold by more than noise:")
        for rule in rules:
            echo(f"  {rule.in_words}")
