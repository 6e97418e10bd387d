"""Policies that other processes carry out: from a file, a module, a notebook; or that they cannot have."""

from __future__ import annotations

import json
import linecache
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from studies import study_path
from support import busy, same_records, scenario

from cluster_abm import ClusterModel, policies
from cluster_abm.errors import InputError
from cluster_abm.policies import Decision, Policy, admit, available, name_of, sources_of
from cluster_abm.policy.finding import files, registry, sources
from cluster_abm.policy.finding.source_text import module_text
from cluster_abm.results.files import to_json
from cluster_abm.study.batch import run_batch
from cluster_abm.study.compare import compare
from cluster_abm.study.design.fingerprint import cell_key
from cluster_abm.study.design.policies import with_own_parameters
from cluster_abm.study.design.policy_sources import policy_version
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor
from cluster_abm.study.runner.one_run import Assignment, carry_out
from cluster_abm.study.runner.tasks import SeededRun, run_all
from cluster_abm.study.status import status_of

SHORT = busy(workload__duration_s=3.0)
POLICY = """
from cluster_abm.policies import Decision, Policy
{more}

class Mine(Policy):
    def place(self, task, view):
        return Decision({target}, "own")
"""
CELL_FILE = "cell_1.py"
# A cell of a notebook: it reads names of other cells, and calls what must not be called again elsewhere.
CELL = """
import numpy as np
from cluster_abm import load
from cluster_abm.policies import Decision, Policy
FIRST = 1
RULES = ("own", "other")

def turned(view):
    return (view.me + FIRST) % view.nodes

class Base(Policy):
    index = load.io_ms

class Notebook(Base):
    class Parameters(Policy.Parameters):
        step: int = 0

    def place(self, task, view):
        rule = RULES[0] if np.pi > 3 else RULES[1]
        return Decision((turned(view) + self.parameters.step) % view.nodes, rule, self.index)

cells_run = globals().get("cells_run", 0) + 1
"""


class OfThisModule(Policy):
    def place(self, task, view):
        return Decision(view.next_node, "own")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(target="view.me", more=""):
        Path("mine.py").write_text(POLICY.format(target=target, more=more))
        return "mine.py:Mine"

    write()
    return write


@pytest.fixture
def notebook(monkeypatch):
    """The namespace of a notebook after a cell."""

    def namespace(cell=CELL):
        main = ModuleType("__main__")
        monkeypatch.setitem(sys.modules, "__main__", main)
        lines = cell.splitlines(keepends=True)
        monkeypatch.setitem(linecache.cache, CELL_FILE, (len(cell), None, lines, CELL_FILE))
        exec(compile(cell, CELL_FILE, "exec"), vars(main))
        return main

    return namespace


def in_another_process(given):
    """What is known where nothing has been loaded yet."""
    for module in [one for one in sys.modules if one.startswith(("policy_file_", "policy_text_"))]:
        del sys.modules[module]
    files._IMPORTED.clear()
    sources._texts.clear()
    for name in list(registry._given):
        del registry._given[name], available()[name]
    return pickle.loads(pickle.dumps(given))


def assignment(name, seed=1):
    setup = scenario(**SHORT | {"policy__name": name})
    return Assignment(setup, "key", seed, policy_version(name), "none", False, policies=sources_of([name]))


@pytest.mark.slow
def test_a_file_is_found_by_another_process(mine):
    given = assignment(name_of(mine()))
    here = carry_out(given)
    there = carry_out(in_another_process(given))
    assert not here.failed
    assert to_json(there.metrics) == to_json(here.metrics)


@pytest.mark.slow
def test_what_a_policy_without_a_name_does_wrong_is_said_of_its_class_there_too(mine):
    given = assignment(name_of(mine("view.nodes")))
    carried = carry_out(in_another_process(given))
    assert "policy 'mine': it chose node 4" in carried.error


def test_what_another_policy_of_a_study_knows_alone_does_not_end_a_run_there(mine, monkeypatch):
    mine()
    fields = "(Policy):\n    class Parameters(Policy.Parameters):\n        most: int = 4\n\n"
    Path("mine.py").write_text(Path("mine.py").read_text().replace("(Policy):\n", fields))
    name_of("mine.py:Mine")
    setup = scenario(**SHORT | {"policy__name": "none", "policy__most": 2})
    sent = []

    class Elsewhere(InlineExecutor):
        """Carries a run out where no file of a policy has been read."""

        is_in_process = False

        def submit(self, function, given):
            sent.append(given)
            return super().submit(function, in_another_process(given))

    outcome = run_all([SeededRun(setup, 1)], quiet=True, executor=Elsewhere())
    assert outcome.problems == []
    assert outcome.finished == 1
    # Its own parameters go with it, and what no policy knows: it is told of.
    assert sent[0].scenario.policy.parameters == {}


def test_a_runs_own_parameters_are_sent():
    asked = {"policy__name": "power-of-d", "policy__d": 3, "policy__cpu_weight": 0.5, "policy__most_of_all": 1}
    assert with_own_parameters(scenario(**asked)).policy.parameters == {"d": 3, "most_of_all": 1}


def test_a_file_that_is_another_one_there_is_refused(mine):
    given = assignment(name_of(mine()))
    mine("view.next_node")
    with pytest.raises(InputError, match=r"worker on .*mine\.py: has another content .*edited since; start again"):
        carry_out(in_another_process(given))
    Path("mine.py").unlink()
    with pytest.raises(InputError, match=r"mine\.py: is not on this machine: put it where all machines see it"):
        carry_out(in_another_process(given))


@pytest.mark.slow
def test_a_long_lived_worker_takes_the_edited_file(mine):
    first = in_another_process(assignment(name_of(mine())))
    carry_out(first)
    second = in_another_process(assignment(name_of(mine("view.next_node"))))
    admit(second.policies)
    assert second.policies[0].digest == policy_version("mine") != first.policy_version
    assert not carry_out(second).failed


@pytest.mark.slow
def test_a_class_of_a_module_is_imported(mine):
    given = assignment(name_of(OfThisModule))
    assert given.policies[0].kind == "module"
    assert not carry_out(in_another_process(given)).failed
    gone = given.policies[0]._replace(place="no_such_module")
    with pytest.raises(InputError, match=r"cannot be had from its module no_such_module .*FILE\.py:CLASS"):
        admit(in_another_process((gone,)))


@pytest.mark.slow
def test_a_class_of_a_notebook_goes_by_its_source(notebook):
    of = notebook().Notebook
    here = ClusterModel(scenario(**SHORT), policy=of(step=1), seed=2)
    here.run()
    assert here.decides_in_python == ""
    (source,) = sources_of(["notebook"])
    assert "cells_run" not in source.place
    admit(in_another_process((source,)))
    there = ClusterModel(scenario(**SHORT | {"policy__name": "notebook"}), seed=2, policy__step=1)
    there.run()
    assert type(there.policy) is not of
    assert there.decides_in_python == ""
    assert same_records(here, there)
    assert there.decisions_frame().equals(here.decisions_frame())
    # It can be sent on.
    assert sources_of(["notebook"]) == (source,)


def test_another_cell_is_another_policy(notebook):
    keys = set()
    for cell in (CELL, CELL.replace("FIRST = 1", "FIRST = 2"), CELL.replace("% view.nodes\n", "% view.nodes  # \n")):
        name = name_of(notebook(cell).Notebook)
        keys.add(cell_key(scenario(**SHORT | {"policy__name": name})))
    assert len(keys) == 3


def test_what_cannot_be_sent_says_how(notebook):
    main = notebook(CELL + "def made(target):\n    class Inner(Policy):\n        def place(self, task, view):\n"
                           "            return Decision(target, 'own')\n    return Inner\n")  # fmt: skip
    for policy, said in (
        (main.made(0), r"policy Inner: 'target' of the function around it is not in its source: put .*FILE\.py:CLASS"),
        (type("Made", (Policy,), {"__module__": "__main__"}), r"the source of 'Made' cannot be had here: put the"),
    ):
        # In this process it works, in others not; and no other one's results are taken for its.
        name = name_of(policy)
        assert policy_version(name).startswith("without source")
        with pytest.raises(InputError, match=said):
            sources_of([name])
    main.FIRST = object()
    with pytest.raises(InputError, match=r"reads 'FIRST', which other processes cannot have: put"):
        module_text(main.Notebook)
    found = compare(scenario(**SHORT), [main.made(0)], seeds=1, workers=1, quiet=True)
    assert found.policies == ("inner",)


@pytest.mark.slow
def test_processes_give_the_same(mine):
    given = (scenario(**SHORT), [mine(), OfThisModule, "jsq"], 2)
    here = compare(*given, workers=1, quiet=True).as_json()
    assert compare(*given, workers=2, quiet=True).as_json() == here


@pytest.mark.slow
@pytest.mark.parametrize("as_script", [True, False])
def test_a_script_and_a_notebook_may_use_processes(tmp_path, as_script):
    use = """
    import json
    if __name__ == "__main__":
        from cluster_abm import compare
        found = [compare("cpu-bound", [Notebook, Notebook(step=2), "none"], 2, workers, True) for workers in (1, 2)]
        assert found[0].as_json() == found[1].as_json()
        print(json.dumps(found[0].policies))
    """
    text = CELL + textwrap.dedent(use)
    if as_script:
        (tmp_path / "script.py").write_text(text)
        arguments = ["script.py"]
    else:
        entry = "linecache.cache['cell_2.py'] = (1, None, text.splitlines(True), 'cell_2.py')"
        arguments = ["-c", f"import linecache\ntext = {text!r}\n{entry}\nexec(compile(text, 'cell_2.py', 'exec'))"]
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(policies.__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["notebook", "notebook[step=2]", "none"]


@pytest.mark.slow
def test_a_study_of_a_policy_in_a_file_is_resumed_until_it_is_edited(mine, tmp_path):
    path = study_path(tmp_path, policies=["none", mine()])

    def run():
        return run_batch(load_study(path, name_of), tmp_path / "out", "inline", quiet=True)

    assert run().made == 12
    assert run().made == 0
    # `batch status` is another process: it reads the file, and does not import it.
    mine("view.me", more="raise RuntimeError('imported')")
    in_another_process(())
    assert status_of(tmp_path / "out").code_now != status_of(tmp_path / "out").code
    mine()
    found = status_of(tmp_path / "out")
    assert (found.code_now, found.finished) == (found.code, 12)
    assert "mine" not in available()
    mine("view.next_node")
    assert run().made == 6
