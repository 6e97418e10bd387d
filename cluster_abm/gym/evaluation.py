"""How good a learner is: on held-out scenarios, against the shipped policies, on the same jobs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.gym.env import PlacementEnv
from cluster_abm.gym.held_out import HELD_OUT, held_out
from cluster_abm.model import ClusterModel
from cluster_abm.policies import available, class_of
from cluster_abm.policy.parts.scorer import Scorer
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.study.compare import compare
from cluster_abm.study.design.policies import with_policy
from cluster_abm.study.statistics.estimates import Estimate, estimate
from cluster_abm.study.statistics.paired import PairedDifference, corrected, paired

# By what is observed at one decision, shape (nodes, features), the node.
Player = Callable[[Any], Any]
OPPONENTS = ("none", "random", "jsq", "power-of-d", "iolb", "wal-re")


@dataclass(frozen=True)
class Evaluation:
    """A learner beside its opponents on one scenario.

    Attributes:
        scenario: its name.
        name: what the learner is called.
        seeds: of the runs; every value is of one of them, in this order.
        values: the headline measure of each run, by policy; the learner first.
        left_out: opponents that cannot run here, and why.
    """

    scenario: str
    name: str
    seeds: tuple[int, ...]
    values: Mapping[str, Sequence[float]]
    left_out: Mapping[str, str]

    def estimates(self) -> dict[str, Estimate]:
        """The measure's mean of each, with its 95 % interval over seeds."""
        return {name: estimate(list(values)) for name, values in self.values.items()}

    def differences(self) -> dict[str, PairedDifference]:
        """Learner against opponent on the same jobs: a ratio below 1 where the learner is typically better;
        `significant` by Holm's correction over the opponents."""
        mine = list(self.values[self.name])
        return corrected({name: paired(mine, list(of)) for name, of in self.values.items() if name != self.name})

    def lines(self) -> list[str]:
        """One line a policy: mean of the measure; learner over opponent with its interval; what may be said."""
        estimates, differences = self.estimates(), self.differences()
        shown = [f"{self.scenario}, {len(self.seeds)} seeds", f"  {self.name:<14}{estimates[self.name].mean:9.3f}"]
        for name, difference in differences.items():
            low, high = difference.ratio_ci95 or (math.nan, math.nan)
            numbers, verdict = f"{estimates[name].mean:9.3f}{difference.ratio:9.3f}", difference.verdict()
            said = verdict if verdict.startswith("not ") else f"{self.name} is {verdict}"
            shown.append(f"  {name:<14}{numbers}  [{low:.3f}, {high:.3f}]  {said}")
        shown += [f"  {name:<14}cannot run here: {why}" for name, why in self.left_out.items()]
        return shown


def evaluate(
    learner: str | Scorer | Player,
    scenario: str | Scenario = "quickstart",
    opponents: Sequence[str] | None = OPPONENTS,
    seeds: int | None = None,
    *,
    name: str = "learner",
    workers: int | None = None,
) -> Evaluation:
    """Run a learner and its opponents on the same jobs.

    Args:
        learner: the name of a policy; a Scorer; or a function of one decision's observation, shape (nodes, features),
            that gives the node.
        scenario: the name of one of HELD_OUT, with the seeds that its name stands for; or any other scenario, from its
            seed on.
        opponents: names of policies; None: all there are. Those that cannot run on this scenario are left out, and
            named.
        seeds: how many; default: all of a held-out scenario's, else the scenario's `compare.seeds`.
        name: what the learner is called, if it is no policy.
        workers: processes of the opponents' runs; default: as `compare`.

    Raises:
        InputError: an unknown scenario or policy; more seeds than a held-out scenario has; a run that fails.
    """
    is_held_out = isinstance(scenario, str) and scenario in HELD_OUT
    setup = held_out(scenario) if is_held_out else scenario  # type: ignore[arg-type]
    setup = setup if isinstance(setup, Scenario) else load_scenario(setup)
    count = seeds or (len(HELD_OUT[setup.name].seeds) if is_held_out else setup.compare.seeds)
    if is_held_out and count > len(HELD_OUT[setup.name].seeds):
        raise InputError(f"seeds = {count}: {setup.name} has {len(HELD_OUT[setup.name].seeds)}")
    first = setup.run.seed
    name = learner if isinstance(learner, str) else name
    others = [policy for policy in (opponents or available()) if policy != learner]
    if name in others:
        raise InputError(f"name = {name!r}: an opponent is called so")
    wanted, left_out = _able(setup, others)
    names = [name, *wanted] if isinstance(learner, str) else wanted
    values: dict[str, list[float]] = {}
    if not isinstance(learner, str):
        player = by_scores(learner) if isinstance(learner, Scorer) else learner
        values[name] = play(player, setup, range(first, first + count))
    if names:
        found = compare(setup, names, count, workers, quiet=True)
        if len(found.seeds) < count:
            told = [*found.outcome.errors, *found.outcome.policy_faults]
            raise InputError([f"{setup.name}: {problem}" for problem in told] or f"{setup.name}: interrupted")
        values |= {name: found.values(name, found.headline) for name in names}
    return Evaluation(setup.name, name, tuple(range(first, first + count)), values, left_out)


def by_scores(scorer: Scorer) -> Player:
    """A player that takes the node of the highest score, as the policy `learned` does."""
    return lambda observation: scorer.choose(observation.T)


def play(player: Player, scenario: str | Scenario, seeds: Sequence[int]) -> list[float]:
    """The scenario's headline measure of an episode from each seed, under a function of one decision's observation that
    gives the node.

    NaN of an episode in which no job finished.
    """
    env, found = PlacementEnv(scenario), []
    for seed in seeds:
        observation, info = env.reset(seed=seed)
        while "summary" not in info:
            observation, _, _, _, info = env.step(player(observation))
        value = info["summary"]["metrics"][env.scenario.measure.headline]
        found.append(math.nan if value is None else float(value))
    return found


def _able(scenario: Scenario, names: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Those of the policies that can run on a scenario, and why others cannot. Raises InputError for unknown ones."""
    able, left_out = [], {}
    for name in names:
        under = with_policy(scenario, name)
        if class_of(name) is None:
            ClusterModel(under)
        try:
            ClusterModel(under, keep_decisions=False, compile_decisions=False)
            able.append(name)
        except InputError as problem:
            left_out[name] = problem.problems[0]
    return able, left_out
