"""A warm process that tries policies and combinations in forks of itself: a request a line, a line of JSON back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from combinations import make_combination, tried_combination
from nursery import serve
from policy_bodies import ODDITIES, Trial, make_trial, odd_trial
from policy_trials import differences, faults_of_command, warm_up

# Of policies, each n-th by the command too, and those in which there is one of these.
COMMANDS = 8
TOLD = ("print(", "ud800", "property", "__eq__", "SystemExit", "__len__", "upper()")


def tried(seed: int, number: int, what: str, keep: str | None) -> dict[str, Any]:
    """The verdict on an oddity alone ("odd"), a drawn policy ("drawn"), or features of scenarios ("features")."""
    if what == "features":
        combination = make_combination(seed, number)
        problems, said = tried_combination(combination)
        ending = "told" if said else "done"
        return {"kind": what, "command": " + ".join(combination.names), "problems": problems, "ending": ending}
    trial = odd_trial(sorted(ODDITIES)[number]) if what == "odd" else make_trial(seed, number)
    problems, compiled = differences(trial)
    if number % COMMANDS == 0 or any(word in trial.text for word in TOLD):
        problems += faults_of_command(trial, compiled)
    if problems and keep is not None:
        _keep(trial, problems, Path(keep) / f"{seed if what == 'drawn' else what}-{number}")
    name = " + ".join(trial.odd) or "drawn"
    ending = {"in_python": compiled.in_python, "ending": compiled.ending}
    return {"kind": "policy", "command": name, "problems": problems} | ending


def _keep(trial: Trial, problems: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mine.py").write_bytes(trial.text.encode("utf-8", "surrogatepass"))
    case = {"settings": trial.settings, "seed": trial.seed, "problems": problems}
    (folder / "case.json").write_text(json.dumps(case, indent=1))


if __name__ == "__main__":
    serve(warm_up, tried)
