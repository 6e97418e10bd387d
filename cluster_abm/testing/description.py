"""What a policy says of itself, and what it takes as parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from pydantic.fields import FieldInfo

from cluster_abm.errors import InputError
from cluster_abm.policies import Policy, choice_of, create, describe
from cluster_abm.policy.reasons import reason_of, rules_of
from cluster_abm.testing.subject import SHORTEST, Subject, fail, faults_in_words


class Bound(NamedTuple):
    """A bound of a parameter: the last value that is allowed, and one beyond it."""

    name: str
    allowed: float | None
    beyond: float


def bounds_of(name: str, field: FieldInfo) -> Iterator[Bound]:
    """The bounds of a parameter that is a number."""
    whole = field.annotation is int
    for item in field.metadata:
        for word, sign in (("ge", -1), ("le", 1), ("gt", -1), ("lt", 1)):
            bound = getattr(item, word, None)
            if isinstance(bound, int | float) and math.isfinite(bound):
                step = 1 if whole else max(abs(bound), 1.0)
                is_allowed = word in ("ge", "le")
                yield Bound(name, bound if is_allowed else None, bound + sign * step if is_allowed else bound)


class SaysWhatItIs(Subject):
    """Name, source, summary, words, parameters."""

    def test_it_is_found_by_its_name(self) -> None:
        """A scenario names it."""
        with faults_in_words():
            name = choice_of(self.policy, {}).name
        if self.created().name not in (name, name.rpartition(".")[2]):
            fail(f"the policy is entered as {name!r}, but an object of it is called {self.created().name!r}")

    def test_it_says_what_it_is(self) -> None:
        """Listings and reports show it."""
        for attribute, words in (
            ("source", "the paper and the place in it, or where the idea comes from"),
            ("summary", "one line on what it does"),
            ("__doc__", "a docstring on how it decides"),
        ):
            if not (getattr(self.kind, attribute) or "").strip():
                fail(f"the class {self.kind.__name__} has no `{attribute}`: write {words}")

    def test_each_parameter_has_a_meaning(self) -> None:
        """`cluster-abm policies NAME` shows it."""
        described = describe([choice_of(self.policy, {}).name])[0]
        for parameter in described["parameters"]:
            if not parameter["meaning"]:
                fail(f"the parameter {parameter['name']!r} has no meaning: write Field(..., description=...)")

    def test_each_rule_has_words(self) -> None:
        """A decision is explained by the words of its rule."""
        if not any("rules" in vars(base) for base in self.kind.__mro__[: self.kind.__mro__.index(Policy)]):
            pytest.skip("the class has no `rules`: pages and reports show the names of rules as they are")
        model = self.finished(compiled=False, workload__utilisation=0.8)
        known = rules_of(self.kind)
        for row in model.decisions_frame().drop_duplicates(["rule", "reason"]).itertuples():
            rule = str(row.rule)
            if rule not in known and not any("{}" in one and rule.startswith(one[:-2]) for one in known):
                fail(f"a decision names the rule {rule!r}, and `rules` has no words for it")
            if not reason_of(self.kind, row).words.strip():
                fail(f"a decision by the rule {row.rule!r} has no words: give it a clause in `rules`, or a reason")

    def test_it_is_made_again_from_its_parameters(self) -> None:
        """Other processes make it from what a scenario says."""
        made = self.created()
        again = self.created(**made.parameters.model_dump())
        if made.parameters != again.parameters:
            fail(f"made again from its own parameters it has others: {made!r} and {again!r}")

    def test_an_unknown_parameter_is_refused(self) -> None:
        """A misspelt parameter would be ignored."""
        self._refused("no_such_parameter", 1)

    def test_a_parameter_beyond_its_bounds_is_refused(self) -> None:
        """The message names the parameter."""
        for name, field in self.kind.Parameters.model_fields.items():
            self._refused(name, object())
            for bound in bounds_of(name, field):
                self._refused(name, bound.beyond)

    def test_it_runs_with_parameters_at_their_bounds(self) -> None:
        """What is allowed works."""
        for name, field in self.kind.Parameters.model_fields.items():
            for bound in bounds_of(name, field):
                if bound.allowed is not None and self._is_taken(name, bound.allowed):
                    settings: dict[str, Any] = {f"policy__{name}": bound.allowed, **SHORTEST}
                    model = self.model(compiled=False, **settings)
                    with faults_in_words():
                        # At a bound jobs may wait for days.
                        model.run(until_ms=10_000.0)

    def _is_taken(self, name: str, value: Any) -> bool:
        try:
            create(choice_of(self.policy, {}).model_copy(update={name: value}))
        except InputError:
            # Another parameter does not allow it.
            return False
        return True

    def _refused(self, name: str, value: Any) -> None:
        shown = "an object of no known kind" if type(value) is object else repr(value)
        try:
            self.kind(**{name: value})
        except InputError as refusal:
            if name not in str(refusal):
                fail(f"the refusal of {name} = {shown} does not name the parameter: {refusal}")
        except Exception as problem:
            fail(f"{name} = {shown} raises {type(problem).__name__} and no InputError: {problem}")
        else:
            fail(f"{name} = {shown} is taken: declare the parameter, with its bounds, in the class `Parameters`")
