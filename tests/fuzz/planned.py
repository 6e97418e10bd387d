"""`plan` and `reproduce` with odd keys, and over folders of theirs that are damaged."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path

from case import Case, Random
from scenario_files import FILES
from settings import keys, odd_value
from studies import TINY, damage

PLAN = (
    "plan", "s.toml", "--need", "cpu_utilisation<0.9", "--over", "cluster.context_switch_ms", "--policies", "none",
    "--low", "0.1", "--high", "0.2", "--seeds", "2", "--executor", "inline", "--out", "out",
)  # fmt: skip
REPRODUCE = (
    "reproduce", "iolb-table-1", "--quick", "--seeds", "1", "--executor", "inline", "--set", "workload.duration_s=1",
    "--set", "cluster.nodes=2",
)  # fmt: skip
WORDS = ("rho", "utilisation", "n", "lambda", "d", "mean", "policy", "cluster", "cluster.rho", "run.rng", "é.é", "a..b")


@cache
def planned() -> dict[str, bytes]:
    """A folder of a plan, made once."""
    from cluster_abm.cli import main

    folder = Path(tempfile.mkdtemp(prefix="fuzz-planned-"))
    here = Path.cwd()
    try:
        os.chdir(folder)
        Path("s.toml").write_text(TINY)
        # The nursery's own stdout is for its answers.
        with suppress(SystemExit), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            main([*PLAN, "--json"])
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }
    finally:
        os.chdir(here)
        shutil.rmtree(folder)


def planned_case(random: Random) -> Case:
    """`plan` again over a damaged folder; or `plan` or `reproduce` with an odd key."""
    if random.random() < 0.5:
        files: dict[str, bytes | str] = dict(planned())
        changes = []
        for _ in range(random.choice((1, 1, 2))):
            names = sorted(name for name, data in files.items() if name.startswith("out/") and isinstance(data, bytes))
            names = [name for name in names if name[-1] not in "/|"]
            if not names:
                break
            name = "out/command.json" if random.random() < 0.5 and "out/command.json" in names else random.choice(names)
            changes.append(f"{name[:40]}: {damage(random, files, name, names)}")
        return Case("planned", [*PLAN, *random.choice(([], ["--json"]))], {**files, **FILES}, changes)
    key = random.choice(keys())
    setting = f"{key['key']}={odd_value(random, key)}"
    if random.random() < 0.3:
        setting = f"{random.choice(WORDS)}={random.choice(('1', 'inf', 'x', '{ a = 1 }'))}"
    if random.random() < 0.3:
        setting = "cluster.quantum_ms=inf"
    words = [*random.choice((PLAN, REPRODUCE)), "--set", setting, *random.choice(([], ["--json"]))]
    words = [word.replace("\0", "") for word in words]
    return Case("planned", words, {"s.toml": TINY.encode(), **FILES}, [setting[:80]])
