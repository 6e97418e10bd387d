"""Keys that a study sets and on which none of its runs depends."""

from __future__ import annotations

from cluster_abm.policies import available, class_of
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.unused import keys_without_effect, reason_without_effect
from cluster_abm.study.design.study_file import Study


class Effects:
    """Which of the keys of a study have an effect at some point.

    Args:
        study: its overrides and swept keys are looked at; its policies exist.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._keys = list(dict.fromkeys([*study.overrides, *study.swept]))
        self._undecided = [key for key in self._keys if not key.startswith("policy.")]
        self._because: dict[str, str] = {}

    def note(self, scenario: Scenario) -> None:
        """Take in the scenario of a point."""
        if not self._undecided:
            return
        unused = keys_without_effect(scenario)
        reasons = {key: reason_without_effect(key, unused) for key in self._undecided}
        self._because = {key: reason for key, reason in reasons.items() if reason is not None}
        self._undecided = list(self._because)

    def problems(self) -> list[str]:
        """A line for each parameter that none of the study's policies knows, but another policy does.

        What no policy knows at all is an unknown key, which each policy says itself.
        """
        classes = filter(None, map(class_of, self._study.policies))
        here = {name for one in classes for name in one.Parameters.model_fields}
        found = []
        for key in self._keys:
            section, _, parameter = key.partition(".")
            knowing = [name for name, one in available().items() if parameter in one.Parameters.model_fields]
            if section == "policy" and knowing and parameter not in here:
                known = ", ".join(knowing[:3])
                found.append(f"{self._study.file}: {key}: has no effect: no policy of the study knows it, but {known}")
        return found

    def remarks(self) -> list[str]:
        """A line for each other key that has an effect at no point."""
        return [
            f"{self._study.file}: {key}: has no effect at any point: {reason}" for key, reason in self._because.items()
        ]
