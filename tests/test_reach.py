"""An edit compiles what it concerns: stamps of kernels follow all that their code can come from, and nothing else."""

import dis
import importlib
import inspect
import pkgutil
import shutil
from pathlib import Path
from types import ModuleType

import pytest

import cluster_abm
from cluster_abm import jit
from cluster_abm.compiling.stamps import ENTRIES, ENTRIES_OF_TALK
from cluster_abm.jit import kept
from cluster_abm.jit.outlines import outline_of
from cluster_abm.jit.reach import Sources

VIEWS = "methods", "noted", "queues"
PACKAGE = Path(cluster_abm.__file__).parent
ENGINE, PLACEMENT = "cluster_abm.engine", "cluster_abm.model.deciding.compiled.arriving:place_arrivals"
MEASURE, ADVANCE = f"{ENGINE}.loads:measure", f"{ENGINE}.advance:advance"


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    """A function that edits a file of a copy of the package, and gives the kernels whose stamps are others then."""
    copy, memory = tmp_path_factory.mktemp("copy") / "cluster_abm", tmp_path_factory.mktemp("memory")
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))

    def stamps():
        sources = Sources(copy, memory)
        return {name: sources.stamp(name) for name in sources.kernels("cluster_abm")}

    before = stamps()
    assert len(before) >= 40

    def edit(path, old, new):
        file = copy / path
        text = file.read_text()
        assert text.count(old) == 1
        file.write_text(text.replace(old, new))
        try:
            return {name for name, stamp in stamps().items() if stamp != before.get(name)}
        finally:
            file.write_text(text)

    return edit


@pytest.mark.slow
@pytest.mark.parametrize(("path", "old", "new"), [
    ("policy/view.py", '"""What a load manager may know', '"""Words about what a load manager may know'),
    ("engine/loads.py", '"""Fill rows', '"""Comment\n\n\n\nFill rows'),
    ("engine/loads.py", "        load = loads[index]\n", "        # Words.\n\n        load = loads[index]\n"),
    ("engine/loads.py", "tasks: Table,\n    now_ns: int,\n    loads", "tasks: object,\n    now_ns: int,\n    loads"),
    ("cli/run.py", "import click\n", "import click\nX = 1\n"),
    ("policies/references.py", "from __future__ import annotations\n", "from __future__ import annotations\nX = 1\n"),
])  # fmt: skip
def test_what_concerns_no_code_compiles_nothing(edited, path, old, new):
    assert edited(path, old, new) == set()


@pytest.mark.slow
def test_an_edit_compiles_the_kernels_that_reach_it(edited):
    scan = "cluster_abm.workload.traces.swf_scan:scan_lines"
    text = (PACKAGE / "workload/traces/swf_scan.py").read_text()
    assert edited("workload/traces/swf_scan.py", text, text.replace(" 10", " 11")) == {scan}
    # The body of a kernel: it, and those that it is compiled into.
    concerned = edited("engine/loads.py", "load.memory_mb = demand_kb / 1000.0", "load.memory_mb = demand_kb / 1024.0")
    assert MEASURE in concerned
    assert len(concerned) < 8
    # A part that is joined to its callers; a formula that parts of kernels call.
    concerned = edited("engine/disk.py", "def busy_since_booked_ns(", "def busy_since_booked_ns(more, ")
    assert concerned == {f"{ENGINE}.loads:busy", f"{ENGINE}.failing:orphan_tasks"}
    concerned = edited("formulas/buffer.py", "def hit_rate(", "def hit_rate(more, ")
    assert {MEASURE, ADVANCE} <= concerned
    assert PLACEMENT not in concerned
    # A constant that other modules import.
    concerned = edited("engine/tables.py", "NS_PER_MS = 1_000_000", "NS_PER_MS = 1_000_001")
    assert {MEASURE, ADVANCE} <= concerned
    assert scan not in concerned
    # How kernels are compiled.
    assert len(edited("jit/__init__.py", 'NO_COUNTS: dict[str, Any] = {"_nrt": False}', "NO_COUNTS = {}")) >= 40
    assert edited("jit/kept.py", "GENERATIONS, UNUSED_S", "GENERATIONS, OTHER_S") == set()


@pytest.mark.slow
def test_the_methods_of_values_count_though_no_kernel_names_them(edited):
    """A numba extension is registered when its module is imported; a view's methods are compiled from their source."""
    assert PLACEMENT in edited("compiling/operations.py", "lambda value: value.row.nodes", "lambda value: value.row.me")
    source = inspect.getsource(cluster_abm.View.cost_ms)
    concerned = edited("policy/view.py", source, source.replace("return ", "return 1.0 + "))
    assert PLACEMENT in concerned
    assert MEASURE not in concerned


@pytest.mark.slow
@pytest.mark.parametrize("entries", [ENTRIES, ENTRIES_OF_TALK])
@pytest.mark.parametrize(
    "path", ["blocks.py", "views/methods.py", "views/noted.py", "views/queues.py", "operations.py"]
)
def test_an_edit_of_what_views_do_compiles_policies(entries, path, tmp_path):
    copy = tmp_path / "cluster_abm"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = Sources(copy).stamp(*entries)
    file = copy / "compiling" / path
    file.write_text("    return 1 and ".join(file.read_text().rsplit("    return ", 1)))
    assert Sources(copy).stamp(*entries) != before


@pytest.mark.slow
def test_all_that_a_kernel_calls_is_in_its_reach():
    """What compiled code looks up in its module, and what that looks up, was found in the sources."""
    sources = kept.sources()
    kernels = 0
    for found in pkgutil.walk_packages(cluster_abm.__path__, "cluster_abm."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for value in vars(module).values():
            function = getattr(value, "py_func", None)
            start = function and jit.start_of(function)
            if function is None or not isinstance(value._cache, kept.KeptCode) or function.__module__ != found.name:
                continue
            kernels += 1
            reached = set(sources.reached([start]))
            for callee in _callees(function, set()):
                assert set(sources.reached([jit.start_of(callee)])) <= reached, (start, callee)
    assert kernels >= 40


def _callees(function, seen):
    """Functions of the package that a function looks up by name, or as an attribute of a module, and those they do."""
    values, last = [], None
    for step in dis.get_instructions(function):
        is_attribute = step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(last, ModuleType)
        last = getattr(last, step.argval, None) if is_attribute else None
        last = function.__globals__.get(step.argval) if step.opname == "LOAD_GLOBAL" else last
        values.append(last)
    for value in values:
        callee = getattr(value, "py_func", value)
        # One that is made from a text has no module: it follows from the statement that makes it.
        if inspect.isfunction(callee) and str(callee.__module__).startswith("cluster_abm.") and callee not in seen:
            seen.add(callee)
            _callees(callee, seen)
    return seen


CALLS = "from cluster_abm.b import rule\n@kernel\ndef work(x):\n    return rule(x)\n"
OF_MODULE = "import cluster_abm.b as b\ndef work(x):\n    return b.rule(x)\n"
INSIDE = "def work(x):\n    from . import b\n    return b.rule(x)\n"
OF_FOLDER = "from cluster_abm.d.e import rule\n"
RULE = "def rule(x):\n    return x\n"
OTHER = RULE.replace("return x", "return 2")
REGISTERED = "@overload(len)\ndef _(x):\n    return x\n"
NOT_THERE = "from cluster_abm.c import X\ndef __getattr__(name):\n    return X\n"
DIFFERENCE = "from cluster_abm.b import X\nfrom cluster_abm.c import Y\ndef work():\n    return X - Y\n"


@pytest.mark.parametrize(("files", "edits", "is_other"), [
    # Where a name comes from: another module of the package, or of Python.
    ({"a": CALLS, "b": RULE, "c": RULE}, {"a": CALLS.replace(".b", ".c")}, True),
    ({"a": CALLS, "b": "from math import sin as rule\n"}, {"b": "from math import cos as rule\n"}, True),
    # Imports of modules, in a function, and through a folder.
    ({"a": OF_MODULE, "b": RULE}, {"b": OTHER}, True),
    ({"a": OF_MODULE, "b": RULE}, {"b": RULE + "Y = 1\n"}, False),
    ({"a": INSIDE, "b": RULE}, {"b": OTHER}, True),
    ({"a": CALLS.replace(".b", ".d"), "d/__init__": OF_FOLDER, "d/e": RULE}, {"d/e": OTHER}, True),
    # A name that leads nowhere: the whole module counts, and what it imports.
    ({"a": CALLS, "b": "globals()['rule'] = 1\nY = 1\n"}, {"b": "globals()['rule'] = 1\nY = 2\n"}, True),
    ({"a": CALLS, "b": "from cluster_abm.c import *\n", "c": RULE}, {"c": OTHER}, True),
    ({"a": CALLS, "b": NOT_THERE, "c": "X = 1\n"}, {"c": "X = 2\n"}, True),
    # The later of two definitions counts, and what changes a thing after its definition.
    ({"a": CALLS, "b": RULE + OTHER}, {"b": OTHER + RULE}, True),
    ({"a": CALLS, "b": RULE + "rule.x = 1\n"}, {"b": RULE + "rule.x = 2\n"}, True),
    ({"a": CALLS, "b": RULE + "Y = 1\n"}, {"b": "# Words.\n" + RULE.replace(":\n", ":\n    'words'\n")}, False),
    # What the modules of a folder register counts once one of them is reached.
    ({"a": CALLS.replace(".b", ".d.e"), "d/e": RULE, "d/f": REGISTERED}, {"d/f": REGISTERED + "print()\n"}, True),
    # Which of two names stands for which of two values.
    ({"a": DIFFERENCE, "b": "X = 1\n", "c": "Y = 2\n"}, {"b": "X = 2\n", "c": "Y = 1\n"}, True),
])  # fmt: skip
def test_names_lead_to_definitions(tmp_path, files, edits, is_other):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    before = Sources(tmp_path).stamp("cluster_abm.a:work")
    for name, text in edits.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert (Sources(tmp_path).stamp("cluster_abm.a:work") != before) == is_other


def test_stamps_are_remembered_and_are_the_same(tmp_path):
    folder, memory = tmp_path / "cluster_abm", tmp_path / "memory"
    folder.mkdir()
    (folder / "a.py").write_text("X = 1\ndef work():\n    return X\n")
    stamp = Sources(folder, memory).stamp("cluster_abm.a:work")
    assert Sources(folder, memory).stamp("cluster_abm.a:work") == stamp == Sources(folder).stamp("cluster_abm.a:work")
    # Outlines are remembered of each file, stamps of all of them; damaged ones are as if they were not there.
    (folder / "b.py").write_text("")
    assert Sources(folder, memory).stamp("cluster_abm.a:work") == stamp
    for file in memory.iterdir():
        file.write_text("{")
    assert Sources(folder, memory).stamp("cluster_abm.a:work") == stamp


def test_an_outline_tells_what_acts():
    kinds = {
        "@kernel\ndef a():\n    pass\n": "kernel", "@register\ndef a():\n    pass\n": "acts", "a = 1\n": "",
        "print(1)\n": "acts", "a.b = 2\n": "acts", "@cache\ndef a():\n    pass\n": "",
        "if TYPE_CHECKING:\n    a = 1\n": "", "if x:\n    a = 1\n": "acts",
    }  # fmt: skip
    outline = outline_of("".join(kinds).encode(), "cluster_abm.a")
    assert [one.kind for one in outline.statements] == list(kinds.values())
