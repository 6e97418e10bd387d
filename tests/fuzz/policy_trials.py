"""A policy tried in both of its forms: each in a fork of this warm process, so that one that crashes is a finding.

Both have to end alike: with the same bytes (records of tasks, decisions, loads of nodes, summary), or told of the same
fault. Anything but InputError, a signal, and a form that goes on and on are findings in themselves.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from carrying_out import Ending, Limits, carry_out
from case import Case
from policy_bodies import LAST, SITUATIONS, Trial, file_of

# As on a machine that has nothing else to do [s]; a run takes some milliseconds, to compile a policy one second.
LIMITS = Limits(wall_s=20.0)
FILE = "mine.py"
BASE: dict[str, Any] = {
    "workload__duration_s": 1.5,
    "cluster__nodes": 4,
    "workload__utilisation": 0.6,
    "run__until": 8000.0,
}


@dataclass
class Outcome:
    """What one form did.

    Attributes:
        ending: "done", "told" (InputError), "raised" (anything else), "crashed" or "killed".
        words: the message, if it ended in another way than "done".
        tables: columns of what it left, by table and name.
        in_python: why it decided in Python; "": it was compiled.
    """

    ending: str
    words: str = ""
    tables: dict[str, Any] = field(default_factory=dict)
    in_python: str = ""


def settings_of(trial: Trial) -> dict[str, Any]:
    """All overrides of a trial's run."""
    from support import busy

    return busy(policy__name="none", negotiation__remote_execution_ms=2.0) | BASE | trial.settings


def outcome_of(trial: Trial, compiles: bool) -> Outcome:
    """Carry out one form, in a fork."""
    case = Case("policy", [], {FILE: trial.text.encode("utf-8", "surrogatepass")})
    # A TemporaryDirectory would be removed when the fork ends.
    folder = Path(tempfile.mkdtemp(prefix="fuzz-policy-"))
    try:
        ending = carry_out(case, lambda _: _leave(trial, compiles, folder / "outcome"), LIMITS)
        if ending.code == 0 and not ending.killed:
            outcome: Outcome = pickle.loads((folder / "outcome").read_bytes())
            return outcome
    finally:
        shutil.rmtree(folder)
    stderr = ending.stderr.decode("utf-8", "replace").strip()
    if ending.killed:
        return Outcome("killed", ending.killed)
    if ending.code < 0:
        return Outcome("crashed", f"signal {-ending.code}")
    return Outcome("raised", stderr.splitlines()[-1] if stderr else "?")


def _leave(trial: Trial, compiles: bool, left: Path) -> None:
    left.write_bytes(pickle.dumps(_carried_out(trial, compiles)))


def _carried_out(trial: Trial, compiles: bool) -> Outcome:
    """In the fork: load the file, run, and gather what there is."""
    from cluster_abm import ClusterModel, InputError
    from cluster_abm.policy.finding.files import load_policy

    why = "?"
    try:
        model = ClusterModel(
            _scenario(trial), policy=load_policy(f"{FILE}:Mine"), seed=trial.seed, compile_decisions=compiles
        )
        why = model.decides_in_python
        model.run()
        return Outcome("done", tables=tables_of(model), in_python=why)
    except InputError as problem:
        # Each form has a folder of its own.
        words = f"{type(problem).__name__}: {problem}".replace(f"{Path.cwd()}{os.sep}", "")
        return Outcome("told", words, in_python=why)


def _scenario(trial: Trial) -> Any:
    from support import scenario

    return scenario(**settings_of(trial))


def tables_of(model: Any) -> dict[str, Any]:
    records = model.engine.sorted_records()
    found = {f"records.{name}": records[name].copy() for name in records.dtype.names}
    for table in ("decisions", "nodes"):
        frame = getattr(model, f"{table}_frame")()
        found |= {f"{table}.{name}": _values(frame[name]) for name in frame.columns}
    found["summary"] = np.array([repr(model.summary())], object)
    return found


def _values(column: Any) -> Any:
    values = column.to_numpy()
    return values if values.dtype.kind in "fiub" else np.array([str(value) for value in values], object)


def differences(trial: Trial) -> tuple[list[str], Outcome]:
    """What differs between the two forms, or is a fault of either, each in a line; and what the compiled one did."""
    python, compiled = outcome_of(trial, False), outcome_of(trial, True)
    found = []
    for form, outcome in (("Python", python), ("compiled", compiled)):
        if outcome.ending not in ("done", "told"):
            found.append(f"{form}: {outcome.ending}: {outcome.words[:200]}")
    if found:
        other = compiled if found[0].startswith("Python") else python
        if len(found) == 1:
            found[0] += f" | the other: {other.ending} {other.words[:160]}"
    elif python.ending != compiled.ending:
        found.append(
            f"Python: {python.ending} {python.words[:200]} | compiled: {compiled.ending} {compiled.words[:200]}"
        )
    elif python.words != compiled.words:
        found.append(f"Python told: {python.words[:200]} | compiled told: {compiled.words[:200]}")
    else:
        found += unlike(python.tables, compiled.tables)
    # What is printed goes where the caller's stdout is; that of a command is held for results (`_by_command`).
    return found, compiled


def unlike(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """The first column that is not the same, bit by bit but for kinds of NaN; decisions come first."""
    for name in sorted(one, key=lambda name: not name.startswith("decisions.")):
        first, second = one[name], other[name]
        if len(first) != len(second):
            return [f"{name}: {len(first)} rows in Python | {len(second)} compiled"]
        if first.dtype == object or first.dtype != second.dtype:
            rows = [row for row in range(len(first)) if first[row] != second[row]]
        else:
            same = first.view(f"V{first.itemsize}") == second.view(f"V{first.itemsize}")
            if first.dtype.kind == "f":
                same |= np.isnan(first) & np.isnan(second)
            rows = np.flatnonzero(~same).tolist()
        if rows:
            shown = (repr(values[rows[0]])[:120] for values in (first, second))
            return [
                f"{name}, {len(rows)} of {len(first)} rows, row {rows[0]}: " + " in Python | ".join(shown) + " compiled"
            ]
    return []


def command_of(trial: Trial) -> Ending:
    """The same by the command `run`, in a fork: its exit code, and what is printed."""
    import tomli_w

    from cluster_abm.cli import main

    tables: dict[str, Any] = {"name": "test"}
    for key, value in settings_of(trial).items():
        at = tables
        *sections, name = key.split("__")
        for section in sections:
            at = at.setdefault(section, {})
        at[name] = value
    tables["policy"].pop("name")
    files = {FILE: trial.text.encode("utf-8", "surrogatepass"), "s.toml": tomli_w.dumps(tables).encode()}
    words = ["run", "s.toml", "--policy", f"{FILE}:Mine", "--seed", str(trial.seed), "--json", "--out", "o"]
    return carry_out(Case("policy", words, files), main, LIMITS)


def faults_of_command(trial: Trial, ran: Outcome) -> list[str]:
    """What is wrong with the way in which the command ends, after the model ended so."""
    ending = command_of(trial)
    stderr = ending.stderr.decode("utf-8", "replace")
    last = stderr.strip().splitlines()[-1] if stderr.strip() else ""
    if ending.killed or ending.code not in (0, 2):
        return [f"command: {ending.killed or f'exit code {ending.code}'}: {last[:200]}"]
    found = []
    if (ending.code == 0) != (ran.ending == "done"):
        found.append(f"command: exit code {ending.code} ({last[:160]}), but the model {ran.ending} {ran.words[:160]}")
    if "Traceback" in stderr:
        found.append(f"command: a traceback: {last[:200]}")
    if ending.code == 0:
        try:
            json.loads(ending.stdout)
        except ValueError as problem:
            found.append(f"command: not one JSON document on stdout: {problem}")
    return found


def warm_up() -> None:
    """Import and compile what all trials need, of the shipped policies that are like them."""
    from support import scenario

    from cluster_abm import ClusterModel

    assert "cluster_abm" in sys.modules
    for settings in ({}, {"policy__name": "jsq"}, {"policy__name": "wal-pm"}):
        for compiles in (True, False):
            overrides = settings_of(Trial("", settings))
            ClusterModel(scenario(**overrides), seed=1, compile_decisions=compiles).run()
    # As the base class has them, in a form for policies from elsewhere.
    folder = tempfile.mkdtemp(prefix="fuzz-policy-")

    here = Path.cwd()
    os.chdir(folder)
    Path(FILE).write_text(file_of([], LAST, []))
    for _, settings in SITUATIONS.values():
        for compiles in (True, False):
            _carried_out(Trial("", dict(settings)), compiles)
    os.chdir(here)
    shutil.rmtree(folder)
