"""Policies in both forms (`python tests/fuzz/policies.py --help`): compiled and in Python they end alike."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# One of each kind of what compiled code once understood otherwise.
PICKED = (
    'x = view.load("cpu_ms", 2**40)',
    'x = view.load("cpu_ms", view.nodes)',
    'view.column("cpu_ms")[0] = 0.0',
    "sums that wrap",
    "a = int(math.nan * x)",
    "a = (b + 1) ** -1",
    "global counted",
    "a = view.slice_ms",
    "notes of another kind later",
)


def tried(*options: str) -> None:
    """Carry out cases; all of them have to be right."""
    done = subprocess.run(
        [sys.executable, HERE / "policies.py", "--workers", "1", *options], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.long
def test_the_forms_of_a_few_policies_end_alike():
    tried(*(f"--named={name}" for name in PICKED))


@pytest.mark.slow
@pytest.mark.long
def test_the_forms_of_many_policies_end_alike():
    tried("--cases", "16", "--seed", "1")


@pytest.mark.slow
@pytest.mark.long
def test_the_forms_of_odd_policies_end_alike():
    tried("--what", "odd", "--every", "80")


@pytest.mark.slow
@pytest.mark.long
def test_features_of_scenarios_combined_run_and_step_alike_in_both_forms():
    tried("--what", "features", "--cases", "10", "--seed", "1")
