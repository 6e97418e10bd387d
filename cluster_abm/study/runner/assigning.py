"""From the name of a run to its assignment; what runs of one key share is made once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from cluster_abm.policies import sources_of
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.mixture import policies_in
from cluster_abm.study.design.policies import with_own_parameters
from cluster_abm.study.design.policy_sources import policy_version
from cluster_abm.study.runner.one_run import Assignment
from cluster_abm.study.store.store import RunName

# Keys whose assignments are kept: a study may have very many, and a checked scenario takes some kilobytes.
MOST_KEPT = 128


class Assigning:
    """Makes assignments.

    Args:
        scenario: the scenario of a run: the same for all runs of a key.
        raises_bad_input, keeps_responses: as of `Assignment`.
        load_seed: the seed of the runs of which the load over time is kept; None: of none.
    """

    def __init__(
        self,
        scenario: Callable[[RunName], Scenario],
        load_seed: int | None = None,
        raises_bad_input: bool = False,
        keeps_responses: bool = False,
    ) -> None:
        self._scenario, self._load_seed = scenario, load_seed
        self._raises_bad_input, self._keeps_responses = raises_bad_input, keeps_responses
        self._kept: OrderedDict[tuple[str, bool], Assignment] = OrderedDict()

    def of(self, run: RunName, is_in_process: bool) -> Assignment:
        """The assignment of a run.

        Args:
            run: its name.
            is_in_process: whether it is carried out in this process, where all policies are found.
        """
        key, seed = run
        first = self._kept.get((key, is_in_process))
        if first is None:
            first = self._kept[key, is_in_process] = self._first(run, is_in_process)
        self._kept.move_to_end((key, is_in_process))
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return replace(first, seed=seed, keeps_load=seed == self._load_seed)

    def _first(self, run: RunName, is_in_process: bool) -> Assignment:
        scenario = with_own_parameters(self._scenario(run))
        return Assignment(
            scenario=scenario,
            key=run[0],
            seed=run[1],
            policy_version=policy_version(scenario.policy.name),
            keeps_load=False,
            raises_bad_input=self._raises_bad_input,
            policies=() if is_in_process else sources_of(policies_in(scenario)),
            keeps_responses=self._keeps_responses,
        )
