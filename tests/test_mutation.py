"""The command `tests/mutation.py`: which faults a text can be given, and what becomes of one that is tried."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from mutants.covering import Covering
from mutants.faults import drawn, faults_of
from mutants.trials import Trials

TEXT = '''
def share(ready: int, cores: int = 1) -> float:
    """Not 2 of these words is a fault."""
    if ready <= cores:
        return 1.0
    waiting = ready - cores
    seen[ready] += waiting
    return -min(waiting * 0.5, 8)
'''
# By line of the text, each fault as the piece that changes.
FAULTS = {
    2: ["cores: int = 2"],
    4: ["if not (ready <= cores):", "if False:", "if ready < cores:", "if ready >= cores:"],
    5: ["return 10.0"],
    6: ["waiting = ready + cores"],
    7: ["pass", "seen[ready] -= waiting"],
    8: [
        "return min(waiting * 0.5, 8)", "return -max(waiting * 0.5, 8)", "return -min(waiting / 0.5, 8)",
        "return -min(waiting, 8)", "return -min(waiting * 5.0, 8)", "return -min(waiting * 0.5, 9)",
    ],
}  # fmt: skip


def test_the_faults_of_each_line():
    faults = faults_of("share.py", TEXT)
    assert {fault.line for fault in faults} == set(FAULTS)
    for line, expected in FAULTS.items():
        after = [fault.shown(TEXT)[1] for fault in faults if fault.line == line]
        assert len(after) == len(expected), (line, after)
        assert all(any(piece in text for text in after) for piece in expected), (line, after)


@pytest.mark.slow
def test_a_sample_is_of_different_lines_and_follows_from_its_seed(tmp_path):
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "share.py").write_text(TEXT)
    sample = drawn(tmp_path, ["package"], 4, 1)
    assert len({fault.line for fault in sample}) == 4
    assert sample == drawn(tmp_path, ["package"], 4, 1)
    assert {fault.line for seed in range(20) for fault in drawn(tmp_path, ["package"], 4, seed)} == set(FAULTS)


TESTS = {
    "test_alone": "def test_alone():\n    assert share(0) == 1.0\n",
    "test_border": "def test_border():\n    assert share(2, 2) == 1.0\n",
    "test_end": "def test_end():\n    while share(3) > 0:\n        pass\n",
    # As where kernels are compiled: the first time it takes too long.
    "test_waits": (
        "import pathlib, time\n\n\ndef test_waits():\n    compiled = pathlib.Path('compiled')\n"
        "    if not compiled.exists():\n        compiled.touch()\n        time.sleep(60)\n"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("after", "by"),
    [
        ("return 10.0", "tests/near/test_alone.py::test_alone"),
        ("if ready < cores:", "tests/near/test_border.py::test_border"),
        ("return min(waiting * 0.5, 8)", "tests/near/test_end.py::test_end (hangs)"),
        ("return -min(waiting * 5.0, 8)", ""),
    ],
)
def test_a_fault_is_noticed_by_the_first_test_that_fails_or_hangs(tmp_path, monkeypatch, after, by):
    """The clone is as before afterwards, its times of change too."""
    clone = tmp_path / "clone"
    (clone / "tests" / "near").mkdir(parents=True)
    source = clone / "share.py"
    source.write_text(TEXT.replace("return -", "seen = {}\n    return -").replace("    seen[ready]", "    # "))
    for name, text in TESTS.items():
        (clone / "tests" / "near" / f"{name}.py").write_text(f"from share import share\n\n\n{text}")
    tests = [f"tests/near/{name}.py::{name}" for name in TESTS]
    monkeypatch.setattr("mutants.trials.HANGS_S", 10.0)
    monkeypatch.setattr("mutants.trials.COMPILES_S", 0.0)
    trials = Trials(clone, Covering(dict.fromkeys(tests, 0.01), {}, []), 1.0)
    text, before = source.read_text(), source.stat().st_mtime_ns
    fault = next(fault for fault in faults_of("share.py", text) if fault.shown(text)[1] == after)
    verdict = trials.judged(fault)
    assert (verdict.noticed, verdict.by) == (bool(by), by)
    assert (source.read_text(), source.stat().st_mtime_ns) == (text, before)


def test_what_is_listed_as_not_observable_has_a_reason_and_is_one_place():
    """The same line at another place of the file may well be observable."""
    listed = tomllib.loads((Path(__file__).parent / "mutants" / "not_observable.toml").read_text(encoding="utf-8"))
    for one in listed.get("fault", []):
        assert set(one) == {"path", "before", "after", "why"}, json.dumps(one)
        text = " ".join((Path(__file__).parents[1] / one["path"]).read_text(encoding="utf-8").split())
        assert text.count(" ".join(one["before"].split())) == 1, json.dumps(one)
