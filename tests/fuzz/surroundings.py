"""Commands that are right, in surroundings that are not: always processes of their own."""

from __future__ import annotations

from case import Case, Random
from scenario_files import BASE, FILES
from studies import STUDY, TINY

COMMANDS = (
    ["run", "s.toml"],
    ["run", "s.toml", "--json"],
    ["run", "s.toml", "--out", "out"],
    ["run", "s.toml", "--animate", "f.gif", "--set", "run.until=200.0"],
    ["compare", "s.toml", "--seeds", "1", "--policies", "none,jsq"],
    ["compare", "s.toml", "--seeds", "1", "--policies", "none", "--workers", "1", "--out", "out", "--json"],
    ["batch", "run", "study.toml", "--out", "out", "--executor", "inline"],
    ["batch", "run", "study.toml", "--out", "out"],
    ["tune", "s.toml", "--policy", "power-of-d", "--over", "policy.d=1:2", "--budget", "16", "--out", "out"],
    ["trace", "info", "trace.csv"],
    ["trace", "convert", "trace.csv", "o.csv"],
    ["policies"],
    ["policies", "--json"],
    ["scenarios"],
    ["scenarios", "--keys"],
    ["--help"],
    ["run", "--help"],
    ["--version"],
    ["run", "nothing"],
    ["run", "é.toml"],
)
BROKEN_PIPE = frozenset({0, 1, 2, 141})


def surrounding_case(random: Random) -> Case:
    """One thing that is not as usual."""
    words = random.choice(COMMANDS)
    named = BASE.replace('"small"', '"é ² 日本"').encode()
    files: dict[str, bytes | str] = {"s.toml": named, "study.toml": STUDY.encode(), "é.toml": named, **FILES}
    if words[0] == "batch":
        files["s.toml"] = TINY.encode()
    case = Case("surroundings", words, files, as_process=True)
    how = random.choice(
        ("closed", "full", "broken", "small files", "home", "cache", "cache file", "ascii", "tmp", "latin", "numba")
    )
    if how in ("home", "cache", "cache file", "numba"):
        # Without compiled kernels a run takes a minute: what shall run is chosen among the others.
        case.arguments = random.choice(
            [one for one in COMMANDS if one[0] in ("trace", "policies", "scenarios", "--help")]
        )
    match how:
        case "closed" | "full":
            case.stdout = how
        case "broken":
            case.stdout, case.codes = how, BROKEN_PIPE
        case "small files":
            case.file_size = random.choice((1000, 2000, 5000, 30_000))
            how = f"files of {case.file_size} bytes"
        case "home":
            case.environment = {"HOME": random.choice((None, "", "/nowhere", "/dev/null")), "XDG_CACHE_HOME": None}
            case.environment["MPLCONFIGDIR"] = None
            case.environment["CLUSTER_ABM_CACHE_DIR"] = random.choice((None, ""))
        case "cache":
            case.environment = {
                "CLUSTER_ABM_CACHE_DIR": random.choice(("/proc/x", "/dev/null", "x\ny", "é", "c" * 300))
            }
        case "cache file":
            files["cache"] = b"x"
            case.environment = {"CLUSTER_ABM_CACHE_DIR": "cache"}
        case "ascii" | "latin":
            case.environment = {"PYTHONIOENCODING": "ascii" if how == "ascii" else "latin-1"}
        case "tmp":
            case.environment = {"TMPDIR": random.choice(("/nowhere", "/dev/null", "s.toml"))}
        case "numba":
            name = random.choice(("NUMBA_DISABLE_JIT", "NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS"))
            case.environment = {name: random.choice(("1", "0", "-1", "x", "/dev/null"))}
    case.changes = [how]
    return case
