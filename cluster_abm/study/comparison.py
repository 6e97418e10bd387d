"""A finished comparison of policies: its numbers, its tables, its picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from cluster_abm import displays
from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.policies import is_pooled
from cluster_abm.policy.bounds import SRPT_POOL
from cluster_abm.results.asked import is_more_better
from cluster_abm.results.words import head_words, line_words, why_absent, with_unit
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.hardware import hardware_named
from cluster_abm.scenario.policy_names import current_name
from cluster_abm.scenario.shipped import nearest
from cluster_abm.scenario.wording.caption import caption_of
from cluster_abm.study.comparison_document import document_of, finite
from cluster_abm.study.comparison_figures import InFigures
from cluster_abm.study.comparison_words import TEST_WORDS, conclusion_of, ratio_text, seeds_in_words, text_of
from cluster_abm.study.reference import ReferenceRuns, own_mean
from cluster_abm.study.runner.tasks import RunsOutcome
from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.gap import BEST, BOUNDED, WORST, share_of_gap
from cluster_abm.study.statistics.one_sample import of_one_sample
from cluster_abm.study.statistics.paired import PairedDifference, all_pairs, corrected
from cluster_abm.study.statistics.pairs import Pairs
from cluster_abm.workload import bound_ms

if TYPE_CHECKING:
    from cluster_abm.recording.showing import Shown

__all__ = ["BEST", "BOUNDED", "TEST_WORDS", "WORST", "Comparison", "finite"]


@dataclass(frozen=True, repr=False)
class Comparison(InFigures, displays.Displayed):
    """A finished comparison; a notebook shows it as a table with intervals, the pairs in words, and the picture.

    Example:
        >>> import cluster_abm as ca
        >>> found = ca.compare("quickstart", ["none", "jsq"], seeds=4, workers=1, quiet=True)
        >>> found.policies, found.seeds
        (('none', 'jsq'), (1, 2, 3, 4))
        >>> found.best()
        ('jsq',)
        >>> picture = found.plot()

    Attributes:
        scenario: what was run.
        policies: names, in the order asked for (`variants_of`).
        seeds: seeds for which every policy finished; the statistics are over these.
        runs: one row a run: policy, seed, all metrics (parts of the breakdown as breakdown_ms.<part>), jobs.<state>.
        outcome: what became of each run.
        bound: where `srpt-pool` was asked for, the lower bound on the mean response of each seed's jobs [ms]; NaN where
            there is none.
        named_baseline: the policy that the others are compared with; "": the first one.
        are_all_paired: whether every policy is compared with every other one.
        reference: the pooled reference on more seeds, which corrects the policies' own means; None: not asked for.
    """

    scenario: Scenario
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    runs: pd.DataFrame
    outcome: RunsOutcome
    bound: Mapping[int, float] | None = None
    named_baseline: str = ""
    are_all_paired: bool = False
    reference: ReferenceRuns | None = None

    @property
    def baseline(self) -> str:
        """The policy that the others are compared with."""
        return self.named_baseline or self.policies[0]

    @property
    def headline(self) -> str:
        """The measure that policies are compared by (`measure.headline`)."""
        return self.scenario.measure.headline

    @cached_property
    def one_run(self) -> frozenset[str]:
        """The policies of which all seeds, two at least, gave the same run to the last digit: one sample each."""
        return of_one_sample(self.runs[self.runs["seed"].isin(self.seeds)]) if len(self.runs) else frozenset()

    @property
    def is_one_sample(self) -> bool:
        """Whether no seed changes anything under any of the policies: there is nothing to make intervals of."""
        return bool(self.one_run) and self.one_run == set(self.policies)

    @property
    def replications(self) -> int:
        """How many independent samples there are: the seeds, or 1 where all of them give the same runs."""
        return 1 if self.is_one_sample else len(self.seeds)

    def values(self, policy: str, metric: str) -> list[float]:
        """One policy's metric, one value a seed; of `srpt-pool` NaN but for the mean response.

        Raises InputError: no such policy, or metric.
        """
        name = current_name(policy) if isinstance(policy, str) else ""
        if name == SRPT_POOL and self.bound is not None:
            self._check(metric)
            return [self.bound[seed] if metric == BOUNDED else math.nan for seed in self.seeds]
        if name not in self.policies:
            raise InputError(
                f"policy {shortened(policy)}: not among those compared; {nearest(shortened(policy), [*self.policies])}"
            )
        self._check(metric)
        chosen = self.runs[(self.runs["policy"] == name) & self.runs["seed"].isin(self.seeds)]
        return [float(value) for value in chosen.sort_values("seed")[metric]]

    def estimate(self, policy: str, metric: str) -> Estimate:
        """One policy's mean of a metric over seeds, with an interval that keeps to what the metric can be.

        Raises InputError: no such policy, or metric; or no seed has finished for all policies.
        """
        values = self.values(policy, metric)
        if current_name(policy) in self.one_run or (policy == SRPT_POOL and len(set(values)) == 1):
            return Estimate(values[0], None)
        return own_mean(values, metric, self.seeds, self.reference, self.are_replicates)

    def estimates(self, metric: str | None = None) -> pd.DataFrame:
        """Every policy's mean of a metric as a table.

        Args:
            metric: a column of `runs`; default: `headline`.

        Returns:
            index `policy`, in the order asked for, last `srpt-pool` if it was and bounds the metric; columns mean, low,
            high (the 95 % interval over seeds, NaN of one sample), and ratio: how many times the baseline's it
            typically is, seed by seed.

        Raises:
            InputError: `runs` has no such metric, or no seed has finished for all policies.
        """
        metric = self.headline if metric is None else metric
        self._check(metric)
        rows = []
        pairs, first = self.against_baseline(metric), self.estimate(self.baseline, metric).mean
        bounding = [SRPT_POOL] if self.bound is not None and metric == BOUNDED else []
        for name in (*self.policies, *bounding):
            found = self.estimate(name, metric)
            low, high = found.ci95 or (math.nan, math.nan)
            ratio = found.mean / (first or math.nan) if name in bounding else 1.0
            if name in self.policies and name != self.baseline:
                ratio = pairs[name, self.baseline].ratio
            rows.append({"policy": name, "mean": found.mean, "low": low, "high": high, "ratio": ratio})
        return pd.DataFrame(rows).set_index("policy")

    def differences(self, metric: str | None = None) -> pd.DataFrame:
        """`pairs` as a table.

        Args:
            metric: a column of `runs`; default: `headline`.

        Returns:
            index a, b; columns difference (a - b, the mean over seeds), low, high, ratio (a over b, the geometric mean
            over seeds), ratio_low, ratio_high, significant (of the ratio; None where both are one sample), verdict.

        Raises:
            InputError: as of `estimates`.
        """
        metric = self.headline if metric is None else metric
        self._check(metric)
        rows = []
        for (a, b), pair in self.pairs(metric).items():
            low, high = pair.difference.ci95 or (math.nan, math.nan)
            ratio_low, ratio_high = pair.ratio_ci95 or (math.nan, math.nan)
            rows.append(
                (a, b, pair.difference.mean, low, high, pair.ratio, ratio_low, ratio_high, pair.significant,
                 pair.verdict(is_more_better(metric)))
            )  # fmt: skip
        columns = ["a", "b", "difference", "low", "high", "ratio", "ratio_low", "ratio_high", "significant", "verdict"]
        return pd.DataFrame(rows, columns=columns).set_index(["a", "b"])

    def pairs(self, metric: str | None = None) -> Pairs:
        """Each policy against the baseline, or every pair of policies; significance and intervals Holm-corrected.

        `pairs()[a, b]` is a against b, in either order. Raises InputError: as `estimates`.
        """
        metric = self.headline if metric is None else metric
        return self.every_pair(metric) if self.are_all_paired else self.against_baseline(metric)

    def every_pair(self, metric: str | None = None) -> Pairs:
        """Every pair of policies, Holm-corrected. Raises InputError: as `estimates`."""
        metric = self.headline if metric is None else metric
        return Pairs(corrected(all_pairs(self._values(metric), self.one_run, None, self.are_replicates)))

    def against_baseline(self, metric: str | None = None) -> Pairs:
        """Each policy against the baseline, Holm-corrected. Raises InputError: as `estimates`."""
        metric = self.headline if metric is None else metric
        return Pairs(corrected(all_pairs(self._values(metric), self.one_run, self.baseline, self.are_replicates)))

    def _values(self, metric: str) -> dict[str, list[float]]:
        return {name: self.values(name, metric) for name in self.policies}

    def word_of(self, pair: PairedDifference) -> str:
        """Whether a difference of `pairs` is significant, in words."""
        if len(self.seeds) == 1:
            return "not known"
        if pair.significant is None:
            return "one sample"
        return "significant" if pair.significant else "not significant"

    @property
    def has_gap(self) -> bool:
        """Whether both ends of the gap that policies close were asked for: `none` and `srpt-pool`."""
        return bool(self.seeds) and WORST in self.policies and self.bound is not None

    def gap_closed(self, policy: str) -> Estimate | None:
        """The share of the gap in mean response that a policy closes: 0 = as `none`, 1 = as `srpt-pool`.

        (none - policy) / (none - srpt-pool) of the means, as `mean`, and Fieller's 95 % interval of this policy alone
        (see statistics.gap). It is below 0 where a policy is worse than none; no policy reaches more than 1.

        Args:
            policy: one of those compared.

        Returns:
            None where one of the two was not asked for, there is no bound (docs/concepts/statistics.md), or `none` is
            no worse than it; without an interval on one sample, or where the gap itself could be 0.
        """
        if not self.has_gap:
            return None
        ends = [self.values(name, BOUNDED) for name in (WORST, policy, BEST)]
        found = share_of_gap(ends[0], ends[1], ends[2], self.are_replicates)
        if found is not None and all(len(set(one)) == 1 for one in ends):
            return Estimate(found.mean, None)
        return found

    def best(self, metric: str | None = None) -> tuple[str, ...]:
        """Return the policy of the best mean, and after it those than which it is not better (`Verdict`).

        A single name is better than every other one, by Holm's correction over all pairs. The pooled reference is no
        policy: it leads only where nothing else ran.
        """
        metric = self.headline if metric is None else metric
        self._check(metric)
        bounds = {name for name in self.policies if is_pooled(name)}
        more_is_better = is_more_better(metric)
        sign = -1.0 if more_is_better else 1.0
        ranked = sorted(
            [name for name in self.policies if name not in bounds] or self.policies,
            key=lambda name: _last_if_nan(sign * self.estimate(name, metric).mean),
        )
        pairs = self.every_pair(metric)
        leader = ranked[0]
        return tuple(
            name for name in ranked if name == leader or pairs[leader, name].verdict(more_is_better) != "better"
        )

    @property
    def conclusion(self) -> str:
        """How the policies stand against the baseline by the headline, in one sentence; "" where fewer than two
        policies, or no seed, can be compared."""
        if len(self.policies) < 2 or not self.seeds:
            return ""
        metric = self.headline
        pairs = self.against_baseline(metric)
        samples = "one sample" if self.is_one_sample else "one seed" if len(self.seeds) == 1 else ""
        against = {self._called(name): pairs[name, self.baseline] for name in self.policies if name != self.baseline}
        return conclusion_of(self._called(self.baseline), line_words(metric), against, is_more_better(metric), samples)

    def _called(self, name: str) -> str:
        return f"{name} (a reference, no policy)" if is_pooled(name) else name

    @property
    def are_replicates(self) -> bool:
        """Whether each seed drew another log from one log: intervals are then by the spread of the draws."""
        return self.scenario.workload.is_resampled

    @property
    def seeds_words(self) -> str:
        """How many seeds there are, and what the intervals over them are about."""
        return seeds_in_words(self)

    @property
    def slowdown_words(self) -> str:
        """What slowdown is, and below which time it is bounded where the headline says so."""
        words = "slowdown: wall time of a task over its isolated time, alone on its home node"
        if self.headline == "bounded_slowdown":
            words += f"; bounded: of both times, {bound_ms(self.scenario):.4g} ms at least count"
        return words

    @property
    def title(self) -> str:
        """What stands above the picture: scenario, how many policies, nodes, hardware presets."""
        policies = "1 policy" if len(self.policies) == 1 else f"{len(self.policies)} policies on the same jobs"
        hardware = hardware_named(self.scenario.cluster, self.scenario.interconnect)
        words = f"{self.scenario.name}: {policies}, {self.scenario.cluster.nodes} nodes"
        return f"{words}; {hardware}" if hardware else words

    def watch(self, *policies: str, embed: bool = False) -> Shown:
        """Two of the policies beside each other in the player, on the jobs of the first seed (Recording.show).

        The runs are computed again, and recorded.

        Args:
            policies: one or two of those compared; none: the first two.
            embed: in a frame of its own, which plays in exported HTML, too, offline.

        Raises InputError: no such policy, more than two, or no seed has finished for all policies.
        """
        from cluster_abm.model import record
        from cluster_abm.recording.showing import show
        from cluster_abm.study.design.policies import variants_of

        names = [current_name(name) for name in policies or self.policies[:2]]
        for name in names:
            self.values(name, "mean_slowdown")
        if len(names) > 2 or not self.seeds:
            raise InputError(
                f"watch(): {len(names)} policies; the player shows one or two"
                if self.seeds
                else "watch(): no seed has finished for all policies"
            )
        variants = variants_of(self.scenario, names)
        return show([record(one, seed=self.seeds[0]) for one in variants.values()], embed)

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm compare --json` prints."""
        return document_of(self)

    def __repr__(self) -> str:
        seeds = f"{len(self.seeds)} seed{'' if len(self.seeds) == 1 else 's'}"
        words = f"<Comparison of {', '.join(self.policies)} on {self.scenario.name!r}, {seeds}"
        # In a script nothing else says that runs have failed.
        said = [one for one in (*self.outcome.problems, self.conclusion) if one]
        return f"{words}: {'; '.join(said)}>" if said else f"{words}>"

    def _check(self, metric: str) -> None:
        """Raise InputError where there is nothing to compare, or no such metric."""
        if not self.seeds:
            raise InputError(["no seed has finished for all policies", *self.outcome.problems])
        if not isinstance(metric, str) or metric not in self.runs or metric in ("policy", "seed"):
            names = ", ".join(name for name in map(str, self.runs) if name not in ("policy", "seed"))
            absent = why_absent(metric) if isinstance(metric, str) else ""
            raise InputError(f"metric {shortened(metric)}: no run has it{absent}; allowed: {names}")

    def _parts(self) -> Iterator[str]:
        caption = caption_of(self.scenario)
        yield displays.headline(self.title, caption)
        if self.outcome.problems:
            yield displays.paragraph("\n".join(self.outcome.problems))
        if not self.seeds:
            yield displays.paragraph("no seed has finished for all policies: there is nothing to compare")
            return
        headline, against, rows = self.headline, self.against_baseline(), []
        for name in self.policies:
            closed = self.gap_closed(name)
            row = {"policy": name, f"{head_words(headline)} [95 %]": text_of(self.estimate(name, headline))}
            if len(self.policies) > 1:
                row[f"times {self.baseline}"] = ratio_text(against.get((name, self.baseline)))
            asked = self.scenario.measure.metrics
            for metric in ("p95_slowdown", "mean_response_ms", *asked, "cpu_utilisation", "disk_utilisation"):
                if metric in self.runs:
                    row[line_words(metric)] = with_unit(metric, self.estimate(name, metric).mean)
            if self.has_gap:
                row["of the gap, none to srpt-pool"] = "" if closed is None else f"{100 * closed.mean:.0f} %"
            rows.append(row)
        if self.bound is not None:
            least = self.estimate(SRPT_POOL, BOUNDED).mean
            shown = "" if math.isnan(least) else with_unit(BOUNDED, least)
            rows.append(dict.fromkeys(rows[0], "") | {"policy": SRPT_POOL, line_words(BOUNDED): shown})
        yield displays.table(rows)
        yield displays.paragraph(f"{self.seeds_words}; {self.slowdown_words}")
        if self.conclusion:
            yield displays.paragraph(self.conclusion)
        words = [
            {"a": a, "b": b, "a / b": ratio_text(pair), "a is": pair.verdict(is_more_better(headline))}
            for (a, b), pair in self.pairs().items()
        ]
        yield displays.folded(f"{len(words)} pairs, seed by seed", displays.table(words))
        from cluster_abm.results.figures.picture import png_of

        yield displays.image(png_of(self.plot()), f"{self.title}: slowdowns, where the time went, seed by seed")


def _last_if_nan(mean: float) -> float:
    return math.inf if math.isnan(mean) else mean
