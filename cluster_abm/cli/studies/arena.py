"""`arena`: all policies over many regimes, and the user's own among them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.frame import StudyCall, StudyFrame, lines_of_outcome, study_options
from cluster_abm.cli.options import Overrides, count_option, names_of, out_option, overrides_of, set_option
from cluster_abm.cli.output import echo
from cluster_abm.cli.shell import names

if TYPE_CHECKING:
    from cluster_abm.study.arena.arena import Arena, ArenaSize


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
@click.option(
    "--verify",
    is_flag=True,
    help="Also hold what the report claims against fresh regimes and seeds: as long again; verify.md in OUT.",
)
@count_option("--regimes", None, "How many regimes (default: 60; quick: 24).", least=6)
@count_option("--seeds", None, "Seeds of each regime (default: 6; quick: 4).", least=2)
@study_options(out_option("out/arena"), work=set_option)
def arena_command(
    call: StudyCall,
    own: tuple[str, ...],
    policies: str | None,
    quick: bool,
    verify: bool,
    regimes: int | None,
    seeds: int | None,
) -> int:
    """Rank policies over regimes: load, variability, I/O, memory, age of news, nodes, cores, parallelism, unlike nodes,
    wrong sizes, tasks that differ.

    Keys given by --set are laid over all regimes. Runs that OUT holds already are not carried out again: with --verify
    the same command takes an arena that is there, and runs the fresh regimes alone.

    Example: cluster-abm arena --quick --policy mine.py:Mine --out out/arena
    """
    from cluster_abm.policies import name_of
    from cluster_abm.study.arena.arena import FULL, QUICK, contestants

    own = tuple(map(name_of, own))
    overrides = overrides_of(call.settings)
    size = QUICK if quick else FULL
    size = size._replace(regimes=regimes or size.regimes, seeds=seeds or size.seeds)
    chosen = names_of(policies)
    ranked = contestants(own) if chosen is None else list(dict.fromkeys([*own, *map(name_of, chosen)]))
    call = call._replace(out=call.out or Path("out", "arena"))
    return ArenaFrame(call, overrides, size, ranked, own, verify).carry_out()


class ArenaFrame(StudyFrame["Arena"]):
    """The frame of `arena`."""

    def __init__(
        self,
        call: StudyCall,
        overrides: Overrides,
        size: ArenaSize,
        ranked: Sequence[str],
        own: Sequence[str],
        verify: bool,
    ) -> None:
        super().__init__(call, overrides)
        self._size, self._ranked, self._own, self._verify = size, ranked, own, verify
        self._where = call.executor.where(call.out, self.out / "store")
        self._fresh: Arena | None = None

    def _run(self, folder: Path | None) -> Arena:
        from cluster_abm.study.arena.arena import FRESH, hold

        found = hold(self._ranked, self._size, where=self._where, more=self.overrides)
        if self._verify and found.found and not found.outcome.problems:
            self._fresh = hold(self._ranked, self._size, where=self._where, more=self.overrides, draw=FRESH)
        return found

    def _has_results(self, found: Arena) -> bool:
        return bool(found.found)

    @property
    def _is_verified(self) -> bool:
        """Whether all fresh runs are there."""
        return self._fresh is not None and not self._fresh.outcome.problems

    def _save(self, folder: Path, found: Arena) -> None:
        from cluster_abm.study.arena.report import write_report
        from cluster_abm.study.arena.verify import write_verification

        write_report(folder, found, self._size, self._own)
        if self._fresh is not None and self._is_verified:
            write_verification(folder, found, self._fresh)

    def _as_document(self, found: Arena) -> object:
        from cluster_abm.study.arena.report import document
        from cluster_abm.study.arena.verify import verify_document

        if not found.found:
            return None
        told = document(found, self._size, self._own)
        if self._fresh is not None and self._is_verified:
            told["verify"] = verify_document(found, self._fresh)
        return told

    def _exit_code(self, found: Arena) -> int:
        return max(super()._exit_code(found), 0 if self._fresh is None else super()._exit_code(self._fresh))

    def _show(self, found: Arena) -> None:
        if found.found:
            _print_arena(found, self._own)
            if self._fresh is not None and self._is_verified:
                _print_verification(found, self._fresh)
            echo(f"\nreport: {self.out / 'arena.md'}, with pictures and tables beside it")

    def _last_lines(self, found: Arena) -> Iterable[str]:
        outcomes = [one.outcome for one in (found, self._fresh) if one is not None]
        yield f"{sum(one.made for one in outcomes)} runs in {self.wall_s:.1f} s"
        for outcome in outcomes:
            yield from lines_of_outcome(outcome)
            if outcome.interrupted:
                kept = f"kept {outcome.finished} of {len(outcome.rows)} runs in {self.out}"
                yield f"interrupted: {kept}; the same command goes on with the others"


def _print_arena(found: Arena, own: Sequence[str]) -> None:
    from cluster_abm.results.words import line_words
    from cluster_abm.study.arena.claims import general

    table = found.table
    shown = table.assign(
        policy=[f"* {name}" if name in own else name for name in table["policy"]],
        regret=[f"{value:.1%}" for value in table["regret"]],
        interval=[f"[{low:.1%}, {high:.1%}]" for low, high in zip(table["low"], table["high"], strict=True)],
        worst=[f"{value:.0%}" for value in table["worst"]],
        messages=[f"{value:.3g}" for value in table["messages"]],
        beside=[f"{value:.1%}" for value in table["regret_of_mean_slowdown"]],
        gap_closed=["" if value != value else f"{value:.0%}" for value in table["gap_closed"]],
    )
    columns = {
        "policy": "policy", "regret": "mean regret", "interval": "95 % over regimes",
        "worst": "regret in its worst regime", "sure_in": "regimes: surely within 10 % of the best",
        "knows_sizes": "knows sizes", "sees_true_state": "sees the true state", "may_refuse": "may refuse",
        "beside": "regret of mean slowdown", "gap_closed": "of the gap none - pooled closed",
        "messages": "messages per job",
    }  # fmt: skip
    for line in found.head:
        echo(line)
    measure = line_words(found.headline)
    echo(f"{len(found.found)} regimes; regret: {measure} over that of the regime's best policy, less 1\n")
    echo(shown[[*columns]].rename(columns=columns).to_string(index=False))
    echo("")
    for claim in general(found):
        echo(claim.words)
    echo(f"\nrules, found in one half of the regimes and measured on the other: {found.rules.in_words}")
    for rule in found.rules.held:
        echo(f"  {rule.in_words}")


def _print_verification(found: Arena, fresh: Arena) -> None:
    from cluster_abm.study.arena.verify import in_words, verified

    told = verified(found, fresh)
    echo(f"\n{in_words(told, fresh)}")
    for one in told:
        if one.kind != "rank":
            echo(f"  {'held' if one.held else 'NOT HELD'}: {one.words} ({one.found}; fresh: {one.fresh})")
    moved = [one for one in told if one.kind == "rank" and not one.held]
    for one in moved:
        echo(f"  NOT HELD: {one.words} (fresh: {one.fresh})")
