"""What to try after a comparison: commands that can be pasted, and that take every option in them."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cluster_abm.cli.effects import without_effect
from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.options import ONLY_COMPARE, as_given, file_name, overrides_of, settings_of
from cluster_abm.errors import InputError

if TYPE_CHECKING:
    from cluster_abm.study.comparison import Comparison

# Keys that a comparison does not use, with the reason.
NOT_COMPARED = {
    "policy.name": "`compare` runs the policies of --policies, or of compare.policies",
    "measure.period_ms": "`compare` takes no measurements; `run` does",
}
ANOTHER_SETTING = "workload.io_per_ms.mean=0.02"
BATCH_RULES = ("batch-system", "easy", "conservative")
PLACING_RULES = ("jsq", "power-of-d", "random")
ALWAYS = (
    "cluster-abm reproduce iolb-table-1 --quick    (a paper's table beside the published numbers)",
    "cluster-abm scenarios; cluster-abm policies    (what else there is)",
)


class Asked(NamedTuple):
    """What a comparison was asked for: the scenario, the options --set, --trace and its own, --policies."""

    scenario: str
    settings: Sequence[str]
    trace: FromLog
    policies: Sequence[str] | None


def not_compared(policies: Sequence[str] | None, seeds: int | None) -> dict[str, str]:
    """Keys that a comparison with these options does not use, each with the reason."""
    by_option = {"compare.policies": ("--policies", policies), "compare.seeds": ("--seeds", seeds)}
    return NOT_COMPARED | {key: f"{option} says it" for key, (option, given) in by_option.items() if given is not None}


def suggestions(found: Comparison, asked: Asked) -> list[str]:
    """Commands to try next."""
    from cluster_abm.policies import is_pooled

    # A bound is no policy to go on with.
    policies = [name for name in found.policies if not is_pooled(name)] or found.policies
    means = {name: found.estimate(name, found.headline).mean for name in policies}
    best = min(means, key=lambda name: math.inf if math.isnan(means[name]) else means[name])
    return [*_further(asked, best), *ALWAYS]


def _further(asked: Asked, best: str) -> Iterator[str]:
    """Those that go on from the same scenario; settings that have no effect there are left out."""
    from cluster_abm.policies import class_of, reference_of

    def shown(policies: Sequence[str]) -> str:
        return shlex.quote(",".join(map(reference_of, policies)))

    one = _taken(asked, asked.settings, [best], ONLY_COMPARE)
    if one is not None:
        run = f"cluster-abm run {one} --policy {shown([best])} --out {shlex.quote(f'out/{file_name(best)}')}"
        yield f"{run}    (one run in detail: tables and a picture)"
    # Rules that let jobs wait for nodes of their own, and rules that do not, are different systems.
    of_best = class_of(best)
    holds = of_best is not None and of_best.holds_jobs
    rivals = list(dict.fromkeys([best, *(BATCH_RULES if holds else PLACING_RULES)]))
    more = _taken(asked, asked.settings, rivals, not_compared(rivals, 16))
    if more is not None:
        yield f"cluster-abm compare {more} --policies {shown(rivals)} --seeds 16"
    if asked.trace.file is not None:
        # What a log says is not drawn, whatever is set.
        return
    other = _taken(asked, [*asked.settings, ANOTHER_SETTING], asked.policies, not_compared(asked.policies, None))
    if other is not None and ANOTHER_SETTING in other:
        policies = "" if asked.policies is None else f" --policies {shown(asked.policies)}"
        yield f"cluster-abm compare {other}{policies}    (or any key of the scenario file)"


def _taken(
    asked: Asked, settings: Sequence[str], policies: Sequence[str] | None, others: Mapping[str, str]
) -> str | None:
    """Scenario and options as a command takes them; None if it would refuse them."""
    from cluster_abm.scenario import load_scenario
    from cluster_abm.scenario.unused import dotted

    try:
        overrides = overrides_of(settings, asked.trace)
        scenario = load_scenario(asked.scenario, overrides)
    except InputError:
        return None
    refused = without_effect(scenario, overrides, policies or scenario.compare.policies, others)
    left = [one for one in settings if refused.keys().isdisjoint(dotted(settings_of("--set", [one])))]
    return as_given(asked.scenario, left, asked.trace)
