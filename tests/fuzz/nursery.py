"""A warm process that carries out cases in forks of itself: each begins with all imports and compiled kernels, and with
nothing that an earlier case has done. Reads a number a line, answers with a line of JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

from carrying_out import Ending, Limits, carry_out
from case import Case
from judging import problems_of
from making import make_case


def warm_up() -> None:
    """Import and compile all that cases will need, by commands that are right."""
    import planned
    import studies
    from scenario_files import BASE, FEATURES, FILES, policies, shipped
    from settings import keys, parameters
    from tqdm import tqdm

    from cluster_abm.cli import main

    # Its own lock is shared by all forks: a case that is killed while it holds it would lock the later ones.
    tqdm.set_lock(threading.RLock())
    tqdm.monitor_interval = 0
    for known in (policies, parameters, keys, shipped, studies.results, planned.planned):
        known()
    from traces import GRAPHML

    features = [
        ["memory", "i/o", "parallel"],
        ["oversize", "programs"],
        ["closed", "data"],
        ["failures"],
        ["checkpoints"],
    ]
    features += [["trace"], ["links"], ["bus"], ["torus"], ["remote memory"], ["background", "groups"], ["application"]]
    commands = []
    for names in features:
        settings = {key: given for name in names for key, given in FEATURES[name].items()}
        commands.append(["run", "s.toml", *(f"--set={key}={_spelled(given)}" for key, given in settings.items())])
    commands += [
        [*commands[0], f"--policy={name}"] for name in ("iolb", "wal-pm", "memory-based", "data-access", "hbd")
    ]
    commands += [["run", "s.toml", "--out", "o"], ["compare", "s.toml", "--seeds=2", "--workers=1", "--out", "c"]]
    commands += [
        ["trace", "info", "trace.csv"],
        ["run", "s.toml", "--set=interconnect.file=g.graphml", "--set=cluster.nodes=4"],
    ]
    commands += [["batch", "report", "out"], ["batch", "status", "out"]]
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="fuzz-warm-") as folder:
        os.chdir(folder)
        files = {**studies.results(), **FILES, "g.graphml": GRAPHML, "s.toml": BASE.encode()}
        Case("", [], dict(files)).lay_out(Path(folder))
        for words in commands:
            said = io.StringIO()
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
                main(words)
        os.chdir(here)


def _spelled(value: object) -> str:
    import tomli_w

    text = (
        tomli_w.dumps({"a": {"b": [value]}}).partition("b = [")[2].rstrip().removesuffix("]").strip().removesuffix(",")
    )
    return text if not isinstance(value, dict) else "{" + ", ".join(f"{k} = {v}" for k, v in value.items()) + "}"


def verdict(case: Case, ending: Ending, problems: list[str]) -> dict[str, object]:
    """What the parent is told of a case."""
    return {
        "kind": case.kind,
        "command": case.command,
        "changes": [change.encode("utf-8", "backslashreplace").decode()[:200] for change in case.changes],
        "code": ending.code,
        "wall_s": round(ending.wall_s, 3),
        "memory_mb": round(ending.memory_mb),
        "problems": problems,
        "stderr": ending.stderr.decode("utf-8", "replace")[-3000:],
    }


def tried(seed: int, number: int, only: str | None, keep: str | None) -> dict[str, object]:
    """Carry out a case; one that goes wrong in a fork once more, in a Python of its own, whose verdict counts."""
    from cluster_abm.cli import main

    case = make_case(seed, number, only)
    limits = Limits()
    ending = carry_out(case, None if case.as_process else main, limits)
    problems = problems_of(case, ending, limits)
    # Of what was told in words a fork is a witness as good as any other.
    faults = ending.killed or ending.code not in case.codes or b"Warning" in ending.stderr
    if problems and (keep is not None or (faults and not case.as_process)):
        folder = None if keep is None else Path(keep) / f"{seed}-{number}"
        again = carry_out(case, None, limits, folder)
        confirmed = problems_of(case, again, limits)
        if folder is not None:
            (folder / "case.json").write_text(json.dumps(verdict(case, again, confirmed), indent=1))
        if confirmed:
            ending, problems = again, confirmed
        else:
            problems = [f"only in a fork of a warm process: {problem}" for problem in problems]
    return verdict(case, ending, problems)


def serve(warm_up: Callable[[], None], tried: Callable[..., dict[str, object]]) -> None:
    """Answer requests until there are no more.

    Args:
        warm_up: imports and compiles what all cases need.
        tried: carries out the case of a request, and gives its verdict.
    """
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
    serve(warm_up, tried)
