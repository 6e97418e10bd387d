"""`compare`: policies on the same jobs."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.frame import StudyCall, StudyFrame, lines_of_outcome, study_options
from cluster_abm.cli.options import Overrides, count_option, file_name, out_option, policies_named, scenario_argument
from cluster_abm.cli.output import echo, tell
from cluster_abm.cli.recording import LookOptions, first_runs, look_options, write_first_runs
from cluster_abm.cli.shares import print_waits
from cluster_abm.cli.shell.names import policy_list
from cluster_abm.cli.suggestions import Asked, not_compared, suggestions
from cluster_abm.cli.tables import table_text

if TYPE_CHECKING:
    from cluster_abm.scenario import Scenario
    from cluster_abm.study.comparison import Comparison
    from cluster_abm.study.statistics.estimates import Estimate
    from cluster_abm.workload import OfferedLoad


@click.command("compare", short_help="Compare policies on the same jobs, with intervals.")
@scenario_argument
@click.option(
    "--policies",
    shell_complete=policy_list,
    help="Policies, each NAME or FILE.py:CLASS, comma-separated (default: the scenario's compare.policies).",
)
@count_option("--seeds", None, "How many seeds (default: the scenario's compare.seeds).")
@click.option("--baseline", help="The policy that the others are compared with (default: the first one).")
@click.option("--all-pairs", is_flag=True, help="Compare every policy with every other one.")
@count_option(
    "--reference-seeds",
    None,
    "Correct each policy's own means by the pooled reference on this many seeds (default: off).",
)
@look_options("the first two policies, from the first seed,")
@study_options(out_option("out/compare-SCENARIO"))
def compare_command(
    call: StudyCall, policies: str | None, seeds: int | None, baseline: str | None, all_pairs: bool,
    reference_seeds: int | None, looks: Callable[[Path | None], LookOptions],
) -> int:  # fmt: skip
    """Compare policies on SCENARIO: same jobs for each, 95 % confidence intervals over seeds, and a picture.

    Example: cluster-abm compare quickstart --policies none,jsq,iolb --seeds 16
    """
    from cluster_abm.study.compare import check_policies, without_bounds
    from cluster_abm.study.design.policies import default_policies

    checked, overrides = call.loaded()
    names = policies_named(policies)
    default = default_policies(checked)
    if names is None and default.note:
        tell(default.note)
    chosen = without_bounds(default.names if names is None else names)[0]
    check_policies(chosen)
    check_keys_have_effect(checked, call.scenario, overrides, chosen, not_compared(names, seeds))
    if call.out is None and not call.as_json:
        call = call._replace(out=Path("out", f"compare-{file_name(checked.name)}"))
    looked = looks(call.out)
    runs = first_runs(checked, chosen, looked) if looked.are_wanted else []
    return CompareFrame(
        call, overrides, checked, names, seeds, against=(baseline, all_pairs, reference_seeds), looks=looked,
        looked_at=runs,
    ).carry_out()  # fmt: skip


class CompareFrame(StudyFrame["Comparison"]):
    """The frame of `compare`."""

    document = "summary.json"

    def __init__(
        self,
        call: StudyCall,
        overrides: Overrides,
        scenario: Scenario,
        policies: list[str] | None,
        seeds: int | None,
        *,
        against: tuple[str | None, bool, int | None],
        looks: LookOptions,
        looked_at: Sequence[Scenario],
    ) -> None:
        from cluster_abm.workload import offered_load, work_of
        from cluster_abm.workload.offered import warnings_of

        super().__init__(call, overrides)
        self._scenario, self._policies, self._seeds = scenario, policies, seeds
        self._looks, self._looked_at, self._against = looks, looked_at, against
        self._where = call.executor.where(call.out)
        keeps_rows = scenario.measure.records == "all"
        work = work_of(scenario, scenario.run.seed, may_be_late=not keeps_rows)
        self._load = offered_load(scenario, work)
        self._warnings = warnings_of(scenario, self._load, work)

    def _run(self, folder: Path | None) -> Comparison:
        from cluster_abm.interconnect import Network
        from cluster_abm.study.compare import compare
        from cluster_abm.workload.outages.reading import outages_in_file

        nodes = self._scenario.cluster.nodes
        network = Network(self._scenario.interconnect, nodes)
        outages = outages_in_file(self._scenario.failures, nodes, network.names_of_vertices)
        for line in (*network.notes, *outages.notes):
            tell(line)
        for line in self._warnings:
            tell(line)
        baseline, all_pairs, reference = self._against
        return compare(
            self._scenario,
            self._policies,
            self._seeds,
            where=self._where,
            baseline=baseline,
            all_pairs=all_pairs,
            reference_seeds=reference,
        )

    def _has_results(self, found: Comparison) -> bool:
        return bool(found.outcome.finished)

    def _save(self, folder: Path, found: Comparison) -> None:
        from cluster_abm.results.files import write_table
        from cluster_abm.results.style import save

        write_table(folder, "runs.parquet", found.runs)
        if found.seeds:
            save(found.plot(title=self.overrides.captioned(found.title)), folder / "compare.png")

    def _afterwards(self, found: Comparison) -> int:
        if not self._looked_at:
            return 0
        if found.outcome.interrupted:
            tell("nothing was recorded: interrupted before")
            return 0
        left = "" if self.call.out is None else f"; results in {self.out}"
        return write_first_runs(self._looks, self._looked_at, self.overrides.in_words(), left)

    def _show(self, found: Comparison) -> None:
        if found.seeds:
            _print_comparison(found, self.call.settings, self._load)

    def _files(self, found: Comparison) -> str:
        from cluster_abm.results.figures.files import first_file

        what = f"picture and tables: {first_file(self.out / 'compare.png')}, " if found.seeds else "table: "
        return f"\n{what}{self.out / 'runs.parquet'}"

    def _hints(self, found: Comparison) -> None:
        if found.seeds:
            call = self.call
            echo("\nwhat to try next:")
            for command in suggestions(found, Asked(*call[:3], self._policies)):
                echo(f"  {command}")

    def _last_lines(self, found: Comparison) -> Iterable[str]:
        outcome, runs = found.outcome, len(found.outcome.rows)
        yield f"{outcome.finished} runs in {self.wall_s:.1f} s"
        yield from lines_of_outcome(outcome)
        if outcome.interrupted:
            yield (
                f"interrupted: kept {outcome.finished} of {runs} runs; "
                f"complete for all policies: {len(found.seeds)} of {runs // len(found.policies)} seeds"
            )


def _print_comparison(found: Comparison, settings: Sequence[str], load: OfferedLoad | None) -> None:
    from cluster_abm.results.words import head_words, line_words, with_unit
    from cluster_abm.scenario.hardware import hardware_named
    from cluster_abm.scenario.wording.caption import caption_of
    from cluster_abm.study.comparison import BEST, BOUNDED, TEST_WORDS
    from cluster_abm.study.comparison_words import notes_of, ratio_text, text_of
    from cluster_abm.study.heads import estimated_by_runs, head_lines
    from cluster_abm.workload.offered import in_words

    against, headline = found.against_baseline(), found.headline
    ratio = f"times {found.baseline}"
    asked = found.scenario.measure.metrics
    interval = "" if found.is_one_sample else " [95 %]"
    rows = []
    ended = {
        name: sum(found.estimate(name, f"jobs.{state}").mean for state in ("killed", "lost")) for name in found.policies
    }
    for name in found.policies:
        rows.append(
            {
                "policy": name,
                f"{head_words(headline)}{interval}": text_of(found.estimate(name, headline)),
                ratio: ratio_text(against.get((name, found.baseline))),
                "mean slowdown": f"{found.estimate(name, 'mean_slowdown').mean:.4g}",
                "p95 slowdown": f"{found.estimate(name, 'p95_slowdown').mean:.4g}",
                "mean response [s]": f"{found.estimate(name, 'mean_response_ms').mean / 1000:.4g}",
                **{line_words(metric): with_unit(metric, found.estimate(name, metric).mean) for metric in asked},
                "remote starts a run": f"{found.estimate(name, 'remote_executions').mean:,.0f}",
                "CPU busy": f"{found.estimate(name, 'cpu_utilisation').mean:.0%}",
                "disk busy": f"{found.estimate(name, 'disk_utilisation').mean:.0%}",
                **({"jobs killed or lost a run": f"{ended[name]:,.4g}"} if any(ended.values()) else {}),
                **({f"of the gap closed{interval}": _share(found.gap_closed(name))} if found.has_gap else {}),
            }
        )
    if found.bound is not None:
        least = found.estimate(BEST, BOUNDED).mean
        shown = "" if math.isnan(least) else f"{least / 1000:.4g}"
        rows.append(dict.fromkeys(rows[0], "") | {"policy": BEST, "mean response [s]": shown})
    caption = caption_of(found.scenario)
    echo(f"{found.scenario.name}: {caption}" if caption else found.scenario.name)
    if settings:
        echo(textwrap.fill(f"with {', '.join(settings)}", 100, subsequent_indent="     ", break_on_hyphens=False))
    hardware = hardware_named(found.scenario.cluster, found.scenario.interconnect)
    if hardware:
        echo(f"hardware: {hardware}")
    if load is not None:
        echo(f"offered load: {in_words(load.as_dict())} (of the first seed's jobs)")
    for line in head_lines(
        estimated_by_runs(found.scenario, found.runs), [found.scenario], ["mean_slowdown"], found.policies
    ):
        echo(textwrap.fill(line, 100, break_on_hyphens=False))
    for line in (found.seeds_words, *notes_of(found.scenario)):
        echo(textwrap.fill(line, 100, break_on_hyphens=False))
    echo(textwrap.fill(f"{found.slowdown_words}\n", 100, break_on_hyphens=False) + "\n")
    echo(table_text(rows))
    if any(row[ratio].endswith("(n.s.)") for row in rows):
        echo(f"\n(n.s.): the ratio to {found.baseline} is not significant {TEST_WORDS}")
    if found.has_gap:
        _print_gap(found)
    print_waits(found.as_json()["policies"])
    _print_pairs(found)


def _print_gap(found: Comparison) -> None:
    """Say what the column of the gap means."""
    from cluster_abm.study.comparison import BEST, BOUNDED, WORST

    closed = [found.gap_closed(name) for name in found.policies]
    if math.isnan(found.estimate(BEST, BOUNDED).mean):
        echo("\nno lower bound (srpt-pool), and no gap to close: jobs were killed, lost, not finished or left out, "
             "or come only when others have ended")  # fmt: skip
        return
    echo("\nsrpt-pool: a lower bound on mean response under any policy")
    if closed[found.policies.index(WORST)] is None:
        echo("no gap to close in mean response: that of none is the lower bound, or no job finished")
        return
    gap = "of mean response: 0 % as none, 100 % as srpt-pool"
    echo(f"of the gap closed: {gap}" + ("" if found.is_one_sample else "; each interval alone at 95 % (Fieller)"))
    if found.replications > 1 and any(one is not None and one.ci95 is None for one in closed):
        echo("no interval: one sample, or the gap itself could be 0 from these seeds alone")


def _print_pairs(found: Comparison) -> None:
    """Print each pair on the same jobs, and how the policies stand against the baseline."""
    from cluster_abm.results.asked import is_more_better
    from cluster_abm.results.words import line_words
    from cluster_abm.study.comparison_words import MEANS_WORDS, ratio_text, seeds_needed_words, text_of
    from cluster_abm.study.statistics.paired import LEAST_SEEDS_OF_MEANS

    if len(found.policies) < 2:
        return
    headline, raw = found.headline, found.pairs("mean_slowdown")
    pairs, has_word = found.pairs(), found.replications >= LEAST_SEEDS_OF_MEANS
    rows = [
        {
            "a": a,
            "b": b,
            f"{line_words(headline)}, a / b": ratio_text(pair),
            "a is": "" if len(found.seeds) == 1 else pair.verdict(is_more_better(headline)),
            **({"means differ": MEANS_WORDS[pair.means_differ]} if has_word else {}),
            "mean slowdown, a - b": text_of(raw[a, b].difference),
        }
        for (a, b), pair in pairs.items()
    ]
    echo("\n" + table_text(rows))
    if found.replications > 1:
        echo("\na / b: geometric mean over the seeds; the intervals hold at 95 % over all pairs together (Holm)")
        law = "the interval" if found.are_replicates else "Hall's interval"
        echo(f"a - b: {law} of each pair alone" + ("" if has_word else
             f"; from {LEAST_SEEDS_OF_MEANS} seeds on the table says whether means differ"))  # fmt: skip
        if needed := seeds_needed_words(pairs):
            echo(needed)
        if any(pair.verdict().startswith("typically") for pair in pairs.values()):
            echo(
                "typically: the usual seed is, and rare bad seeds may decide about the mean: run more seeds, and "
                "compare p95_slowdown, or p99 (measure.metrics)"
            )
    echo(f"\n{found.conclusion}")


def _share(found: Estimate | None) -> str:
    """A share of the gap in per cent; its interval where there is one that is more than the number."""
    if found is None:
        return ""
    text = f"{found.mean:.0%}".replace("%", " %")
    if found.ci95 is None or found.ci95 == (found.mean, found.mean):
        return text
    return f"{text} [{100 * found.ci95[0]:.3g}, {100 * found.ci95[1]:.3g}]"
