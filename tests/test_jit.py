"""Compiled code is kept by all that it can come from, and serves nothing else."""

import json
import math
import os
import subprocess
import sys
import time
from collections import namedtuple
from types import ModuleType

import numba
import numpy as np
import pytest
from support import busy, scenario

from cluster_abm import ClusterModel, jit
from cluster_abm.compiling.stamps import stamp_of_policy
from cluster_abm.engine.admission import Starts
from cluster_abm.engine.loads import measure
from cluster_abm.formulas.sums import total
from cluster_abm.jit import kept
from cluster_abm.jit.reach import Sources
from cluster_abm.policies import Decision, Policy, create, load
from cluster_abm.scenario.schema import PolicyChoice


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder for compiled code."""
    monkeypatch.setattr(kept, "cache_folder", lambda: str(tmp_path))
    return tmp_path


def hits(numbers=(1.0, 2.0)):
    """How often the code of a kernel made anew is found on the disk."""
    again = jit.allocating_kernel(total.py_func)
    assert again(np.array(numbers)) == math.fsum(numbers)
    return sum(again.stats.cache_hits.values())


@pytest.mark.slow
def test_code_that_is_kept_serves_a_function_of_the_same_sources_alone(folder, monkeypatch):
    assert [hits(), hits()] == [0, 1]
    with monkeypatch.context() as patch:
        patch.setattr(Sources, "stamp", lambda self, *starts: "of an edited source")
        assert [hits(), hits()] == [0, 1]
    assert hits() == 1
    monkeypatch.setattr(kept, "_compiler", lambda: "another version")
    assert hits() == 0


@pytest.mark.slow
def test_damaged_code_is_compiled_anew(folder):
    hits()
    (file,) = folder.glob("*/*.code")
    file.write_bytes(file.read_bytes()[:1000])
    assert [hits(), hits()] == [0, 1]


@pytest.mark.slow
def test_what_was_written_since_the_import_is_neither_kept_nor_served(folder, monkeypatch):
    """The functions of this process may be those from before the edit, the sources those from after it."""
    monkeypatch.setattr(Sources, "are_unchanged", lambda self: False)
    kept._are_as_imported.cache_clear()
    try:
        assert [hits(), hits()] == [0, 0]
    finally:
        kept._are_as_imported.cache_clear()
    assert list(folder.glob("*/*.code")) == []


def test_sources_know_that_a_file_was_written(tmp_path):
    (tmp_path / "a.py").write_text("X = 1\n")
    sources = Sources(tmp_path)
    assert sources.are_unchanged()
    (tmp_path / "a.py").write_text("X = 2\n")
    assert not sources.are_unchanged()
    (tmp_path / "a.py").unlink()
    assert not sources.are_unchanged()


@pytest.mark.slow
def test_without_a_folder_and_of_a_function_from_elsewhere_nothing_is_kept(folder, monkeypatch):
    mine = jit.kernel(lambda x: x + 1)
    assert mine(1) == 2
    assert list(folder.iterdir()) == []
    monkeypatch.setattr(kept, "cache_folder", lambda: None)
    assert [hits(), hits()] == [0, 0]


def test_types_of_arguments_are_told_apart_by_all_that_they_have():
    def told(*values):
        return kept.described(numba.typeof(values[0] if len(values) == 1 else values))

    number = np.zeros(1, np.int64)
    starts = Starts(*(number,) * 6)
    turned = namedtuple("Starts", Starts._fields[::-1], module=Starts.__module__)
    assert told(starts) != told(turned(*(number,) * 6))
    assert told(np.zeros(1, [("a", "i8")])) != told(np.zeros(1, [("b", "i8")]))
    assert told(number, 1.0) != told(number, 1)
    assert told(number) != told(np.zeros((2, 2), np.int64)[:, 0])


def test_the_entry_of_a_kernel_does_what_the_kernel_does():
    model = ClusterModel(scenario(**busy()), seed=1)
    model.run(until_ms=5000)
    engine = model.engine
    by_entry, by_kernel = engine.empty_loads(), engine.empty_loads()
    engine.measure(model.now_ns, by_entry)
    measure(engine.nodes, engine.tasks, model.now_ns, by_kernel, 0, len(by_kernel), engine.effective_rates, True, False)
    assert by_entry["tasks"].sum() > 0
    assert by_entry.tobytes() == by_kernel.tobytes()


def test_code_that_no_process_uses_any_more_goes(tmp_path):
    """Each edit of what a kernel reaches leaves some; of each kernel the newest stay."""
    now = time.time()

    def put(name, days):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("x")
        os.utime(file, (now - days * 86_400,) * 2)

    for number, days in enumerate([0, 0.5, 2, 3, 4, 5, 0.1]):
        put(f"kernel/{number:020x}-a.code", days)
    # Two forms of one source: the one used last counts.
    put(f"kernel/{5:020x}-b.code", 0.7)
    put(f"rare/{1:020x}-a.code", 50)
    put(f"gone/{1:020x}-a.code", 70)
    put("engine.x.compiled", 0.5)
    put("policy.x.compiled", 2)
    # What is remembered of five states of the sources.
    for days in (2, 3, 4, 5, 6):
        put(f"reach/stamps-cp311-{days}.json", days)
    for name, days in {"0123456789abcdef": 2, "0123456789abcde0": 0.5}.items():
        put(f"{name}/kernel.nbi", days)
        os.utime(tmp_path / name, (now - days * 86_400,) * 2)
    kept.prune(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    # The four used last, and what was used within a day.
    assert left == {f"kernel/{number:020x}-a.code" for number in (0, 6, 1, 5)} | {
        f"kernel/{5:020x}-b.code", f"rare/{1:020x}-a.code", "engine.x.compiled", "0123456789abcde0/kernel.nbi"
    } | {f"reach/stamps-cp311-{days}.json" for days in (2, 3, 4, 5)}  # fmt: skip


POLICY = '''
from cluster_abm import Decision, Policy, load
from beside import SHARE
def share(view):
    return SHARE
class Mine(Policy):
    """Words."""
    name = "mine"
    def place(self, task, view):
        return Decision(view.least(load.tasks), rule="least", task_load=share(view))
'''


@pytest.fixture
def stamp_of(tmp_path, monkeypatch):
    """A function that gives the stamp of the policy of a file, which imports another one."""
    monkeypatch.syspath_prepend(tmp_path)

    def stamp(text=POLICY, beside="SHARE = 0.5\n"):
        (tmp_path / "mine.py").write_text(text)
        (tmp_path / "beside.py").write_text(beside)
        space = {}
        for name in ("beside", "mine"):
            monkeypatch.delitem(sys.modules, name, raising=False)
            space[name] = module = ModuleType(name)
            module.__file__ = str(tmp_path / f"{name}.py")
            monkeypatch.setitem(sys.modules, name, module)
            exec(compile((tmp_path / f"{name}.py").read_text(), module.__file__, "exec"), vars(module))
        return stamp_of_policy(space["mine"].Mine)

    return stamp


def test_a_policy_of_a_file_is_compiled_anew_after_an_edit_of_its_code_alone(stamp_of):
    stamp = stamp_of()
    assert stamp_of() == stamp
    assert stamp_of("# Words.\n\n" + POLICY.replace('"""Words."""', '"""Other words."""')) == stamp
    edits = [("return SHARE", "return SHARE + 1"), ('rule="least"', 'rule="fewest"'), ("load.tasks", "load.queue")]
    others = [stamp_of(POLICY.replace(*edit)) for edit in edits] + [stamp_of(beside="SHARE = 0.25\n")]
    assert len({stamp, *others}) == 5


def test_a_policy_without_a_module_has_a_stamp_too():
    def made(share):
        def place(self, task, view):
            return Decision(view.least(load.tasks), rule="least", task_load=share)

        made = type("Mine", (Policy,), {"name": "mine", "place": place, "share": share})
        made.__module__ = None
        return made

    assert stamp_of_policy(made(0.5)) == stamp_of_policy(made(0.5))
    assert stamp_of_policy(made(0.5)) != stamp_of_policy(made(0.25))


def test_a_method_that_other_code_has_put_there_counts(monkeypatch):
    of = type(create(PolicyChoice(name="jsq")))
    before = stamp_of_policy(of)
    monkeypatch.setattr(of, "place", lambda self, task, view: Decision(0, rule="first"))
    assert stamp_of_policy(of) != before


COUNTED = """
import json, sys
import numba.core.event
from cluster_abm.jit import kept
compiled = []


class Listener(numba.core.event.Listener):
    def on_start(self, event):
        of = event.data["dispatcher"]
        if isinstance(of._cache, kept.KeptCode):
            compiled.append(of.py_func.__qualname__)

    def on_end(self, event):
        pass


numba.core.event.register("numba:compile", Listener())
from cluster_abm import ClusterModel
model = ClusterModel("wal-pm-fig2", policy__name=sys.argv[1], run__until=20_000.0)
model.run()
print(json.dumps([compiled, model.decides_in_python]))
"""


@pytest.mark.slow
def test_kernels_compiled_under_one_policy_serve_another_one_in_another_process():
    def told(policy):
        command = [sys.executable, "-c", COUNTED, policy]
        return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    told("io-pm")
    assert told("wal-pm")[0] == []
