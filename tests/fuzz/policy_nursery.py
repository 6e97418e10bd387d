"""A warm process that tries policies in forks of itself. Reads a request a line, answers with a line of JSON."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

from policy_bodies import ODDITIES, make_trial, odd_trial
from policy_trials import differences, faults_of_command, warm_up

# Of cases, each n-th by the command too, and those in which there is one of these.
COMMANDS = 8
TOLD = ("print(", "ud800", "property", "__eq__", "SystemExit", "__len__", "upper()")


def tried(seed: int, number: int, odd: bool, keep: str | None) -> dict[str, object]:
    """The verdict on a case: of the oddities, or of what is drawn."""
    trial = odd_trial(sorted(ODDITIES)[number]) if odd else make_trial(seed, number)
    problems, compiled = differences(trial)
    if number % COMMANDS == 0 or any(word in trial.text for word in TOLD):
        problems += faults_of_command(trial, compiled)
    if problems and keep is not None:
        folder = Path(keep) / f"{'odd' if odd else seed}-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "mine.py").write_bytes(trial.text.encode("utf-8", "surrogatepass"))
        (folder / "case.json").write_text(json.dumps({"settings": trial.settings, "problems": problems}, indent=1))
    return {
        "kind": "policy", "command": " + ".join(trial.odd) or "drawn", "problems": problems, "in_python": compiled.in_python,
        "ending": compiled.ending,
    }  # fmt: skip


def serve() -> None:
    """Answer requests until there are no more."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warm_up()
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = tried(**request)
        except Exception:
            answer = {"kind": "?", "command": "?", "problems": ["the harness failed: " + traceback.format_exc()[-600:]]}
        print(json.dumps(answer | {"number": request["number"]}), file=answers, flush=True)


if __name__ == "__main__":
    serve()
