"""One run, however it is carried out: in compiled code or in Python, in one go or in steps, again, on the same jobs."""

from __future__ import annotations

import pickle

import pandas as pd
import pytest

from cluster_abm.model import ClusterModel
from cluster_abm.scenario.schema import PolicyChoice
from cluster_abm.testing.subject import SEED, SHORT, Subject, difference, fail, faults_in_words

MODES = ("negotiated", "papers", "head-node")
# What of a finished task no policy can change, on alike nodes.
OF_THE_WORK = ["task", "job", "home", "arrival_ms", "tasks_of_job", "cpu_ms"]


class DecidesTheSame(Subject):
    """The same scenario and seed give the same bytes."""

    @pytest.mark.parametrize("mode", MODES[:2])
    def test_both_forms_decide_the_same(self, mode: str) -> None:
        """What is compiled from the policy's source decides as the source does."""
        compiled = self.model(may_refuse=True, negotiation__mode=mode)
        if compiled.decides_in_python:
            pytest.skip(f"managers decide in Python: {compiled.decides_in_python}")
        self.run(compiled)
        self._same(compiled, self.finished(compiled=False, negotiation__mode=mode), "in compiled code and in Python")

    def test_the_same_seed_repeats_the_run(self) -> None:
        """Chance comes from the run's streams alone."""
        one, other = (self.finished(**SHORT) for _ in range(2))
        self._same(one, other, "twice from one seed")

    def test_steps_and_a_run_are_the_same(self) -> None:
        """Slice by slice, or many slices in one call."""
        stepped = self.model(**SHORT)
        with faults_in_words():
            while stepped.running:
                stepped.step()
        self._same(stepped, self.finished(**SHORT), "step by step and in one go")

    def test_a_run_that_stops_in_between_is_the_same(self) -> None:
        """A page and a notebook run a model piece by piece."""
        halved = self.model(**SHORT)
        with faults_in_words():
            halved.run(until_ms=2000.0)
        self._same(self.run(halved), self.finished(**SHORT), "stopped after two seconds and in one go")

    def test_all_policies_get_the_same_jobs(self) -> None:
        """Common random numbers: policies are compared on the same arrivals, homes and demands."""
        model = self.finished(compiled=False)
        under_none = ClusterModel(model.setup.model_copy(update={"policy": PolicyChoice(name="none")}), seed=SEED)
        mine, theirs = self._work(model), self._work(self.run(under_none))
        if not mine.equals(theirs):
            differ = [name for name in OF_THE_WORK if not mine[name].equals(theirs[name])] or ["their number"]
            fail(
                f"the jobs are not those of a run under 'none': {', '.join(differ)} differ; a policy changes no demands"
            )

    def test_it_keeps_no_state_in_itself(self) -> None:
        """One object serves all managers, and several runs."""
        model = self.model(compiled=False)
        before = self._state(model)
        self.run(model)
        after = self._state(model)
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        if changed:
            fail(
                f"a run changes self.{', self.'.join(changed)}: all load managers share the object, so each would see "
                "what others did; what one manager remembers goes into view.notes"
            )

    def _work(self, model: ClusterModel) -> pd.DataFrame:
        return model.jobs_frame().sort_values("task")[OF_THE_WORK].reset_index(drop=True)

    def _state(self, model: ClusterModel) -> dict[str, bytes]:
        return {name: _bytes(value) for name, value in vars(model.policy).items()}

    def _same(self, one: ClusterModel, other: ClusterModel, how: str) -> None:
        found = difference(one, other)
        if found:
            fail(
                f"run {how}, the policy decides differently: {found}; does it read or keep something outside view and "
                "task?"
            )


def _bytes(value: object) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:
        # A class of a function, a file: told apart by what it shows.
        return repr(value).encode()
