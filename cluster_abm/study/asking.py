"""What studies with a question share: seeds, keys with ranges, the runs of one call, and what came of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError, gathered
from cluster_abm.limits import counted
from cluster_abm.policies import available
from cluster_abm.policy.finding.other_names import policy_hint
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.mixture import check_one_policy
from cluster_abm.study.runner.counted_runs import CountedRuns, counted_runs
from cluster_abm.study.runner.tasks import Where

Value = bool | int | float | str

# Sections and keys of a scenario on which no result of these studies depends.
OF_NO_RESULT: Any = {"compare": True, "measure": {"period_ms"}}


class Question:
    """A question that runs of one scenario answer, from several seeds; its classes are dataclasses with these fields.

    Attributes:
        command: the command that asks it, e.g. "tune".
        words: what its folder holds, e.g. "a search".
        scenario: as it stands.
        seeds: runs of each set of values, from the scenario's seed on.
    """

    command: ClassVar[str]
    words: ClassVar[str]
    scenario: Scenario
    seeds: int

    @property
    def seeds_used(self) -> range:
        """The seeds, the same for every set of values."""
        return range(self.scenario.run.seed, self.scenario.run.seed + self.seeds)

    @property
    def expected_runs(self) -> int:
        """How many runs the study takes, about: for the progress bar."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise InputError for whatever is wrong."""
        raise NotImplementedError

    def own_json(self) -> dict[str, Any]:
        """Everything but the scenario on which the result depends, for JSON."""
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """What the command was, as far as its result depends on it."""
        return self.own_json() | {"scenario": self.scenario.model_dump(mode="json", exclude=OF_NO_RESULT)}

    @contextmanager
    def runs(
        self, workers: int | None, quiet: bool, where: Where | None, folder: Path | None, keeps_responses: bool = False
    ) -> Iterator[CountedRuns]:
        """Check the question, and open what carries out its runs (arguments as of `counted_runs`)."""
        self.check()
        with counted_runs(
            self.command, self.expected_runs, self.as_json(), self.words, workers=workers, quiet=quiet, where=where,
            folder=folder, keeps_responses=keeps_responses,
        ) as runs:  # fmt: skip
            yield runs


class QuestionOfRanges(Question):
    """A question about keys of a scenario, each within a range, under one policy.

    Attributes:
        overs: the keys and ranges (tuning.ranges.Over).
    """

    overs: tuple[Any, ...]

    def defaults(self) -> dict[str, Value | None]:
        """What the scenario itself says of the keys; None: nothing."""
        return {over.key: value_at(self.scenario, over.key) for over in self.overs}

    def check_policy(self) -> None:
        """Raise InputError unless all nodes have one policy, which exists."""
        name, known = self.scenario.policy.name, available()
        with gathered() as gather:
            with gather:
                check_one_policy(self.scenario, self.words)
            if name not in known:
                gather.problems.append(f"policy {shortened(name)}: no such policy; {policy_hint(name, known)}")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of a study: its runs. Each study adds its own results."""

    runs: int  # how many were asked for
    made: int  # how many of them this call carried out; the others were in the folder
    faults: list[str] = field(default_factory=list)  # of this program, that ended runs
    policy_faults: dict[str, int] = field(default_factory=dict)  # faults of policies, and how many runs each ended

    @classmethod
    def after(cls, taken: CountedRuns, *results: Any) -> Self:
        """The answer with a study's own results, and the runs that they took."""
        return cls(*results, runs=taken.asked, made=taken.made, faults=taken.errors, policy_faults=taken.policy_faults)


def value_at(scenario: Scenario, key: str) -> Value | None:
    """What a scenario says of a key; of a parameter that it does not name, the policy's default."""
    section, _, parameter = key.partition(".")
    if section == "policy":
        fields = available()[scenario.policy.name].Parameters.model_fields
        found: Any = scenario.policy.parameters.get(parameter, fields[parameter].default)
    else:
        found = scenario
        for part in key.split("."):
            found = getattr(found, part)
    return found if isinstance(found, bool | int | float | str) else None


def check_seeds(first: int, count: int) -> None:
    """Raise InputError if a run's seed would not fit into 63 bits."""
    if first + count > 2**63:
        seeds_words = f"seeds from {counted(first)} on, {counted(count)} of them"
        raise InputError(f"{seeds_words}: a seed must be below 2^63 = {2**63:,}")


def too_few_seeds(count: int, option: str = "seeds") -> list[str]:
    """What is wrong with a number of seeds: from one alone nothing is known of chance."""
    return [] if count >= 2 else [f"--{option} {count}: 2 at least are needed: one seed gives no interval"]
