"""Mutated inputs (`python tests/fuzz/run.py --help`), and that what misbehaves is noticed at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# What the verdict on each command of stubs.py has to speak of; nothing: all is well.
SAID = {
    "fine": "",
    "refuse": "",
    "refuse without words": "without a line that begins with error:",
    "refuse at length": "a line of more than 1000 characters",
    "raise": "exit code 1: RuntimeError: on purpose",
    "warn": "a warning of Python's",
    "hang": "not over after 2 s",
    "eat": "memory above 400 MB",
    "have a child eat": "memory above 400 MB",
    "ask for all": "exit code 1: MemoryError",
    "die": "exit code -6",
    "print nan": "not one JSON document",
    "print two": "not one JSON document",
    "leave a folder": "empty folders behind: out",
    "fill": "exit code 1: OSError",
}


@pytest.mark.slow
def test_what_misbehaves_is_noticed():
    done = subprocess.run(
        [sys.executable, HERE / "stubs.py", *SAID], capture_output=True, text=True, timeout=300, check=True
    )
    found = json.loads(done.stdout)

    assert {name: [] for name, words in SAID.items() if not words} == {
        name: found[name] for name, words in SAID.items() if not words
    }
    for name, words in SAID.items():
        if words:
            assert any(words in problem for problem in found[name]), (name, found[name])


@pytest.mark.slow
def test_a_case_follows_from_seed_and_number():
    """In another process, whose hashes are seeded otherwise, and in whatever order they are asked for."""
    digest = (
        "import hashlib, sys; sys.path.insert(0, sys.argv[1]); from making import make_case\n"
        "for number in map(int, sys.argv[2:]):\n"
        "    kinds = 'scenario', 'setting', 'trace', 'option', 'program', 'network', 'study'\n"
        "    case = make_case(7, number, kinds[number % 7])\n"
        "    text = repr((number, case.arguments, case.files, case.changes, case.as_process))\n"
        "    print(hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest())\n"
    )
    numbers = [str(number) for number in range(140)]
    one, other = (
        subprocess.run(
            [sys.executable, "-c", digest, HERE, *order],
            capture_output=True,
            text=True,
            cwd=HERE.parent.parent,
            check=True,
        ).stdout.split()
        for order in (numbers, numbers[::-1])
    )

    assert one == other[::-1]
    assert len(set(one)) == len(one) == len(numbers)


@pytest.mark.slow
def test_mutated_inputs_are_borne():
    done = subprocess.run(
        [sys.executable, HERE / "run.py", "--cases", "40", "--seed", "1", "--workers", "2"],
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2000:]
