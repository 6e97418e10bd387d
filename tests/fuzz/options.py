"""Commands with options that are odd: empty, doubled, long, too large, not of UTF-8."""

from __future__ import annotations

from case import Case, Random
from nasty import LONG
from scenario_files import BASE, FILES, policies

BYTES_NAME = "\udcff\udcfe"
VALUES = (
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "1" + "0" * 30,
        "9" * 5000,
        "1e3",
        "nan",
        "²",
        "\u0661",
        "1_0",
        "+1",
        "0x1",
        "None",
        "--json",
    ),
    *(LONG, f"a/{LONG}", "/".join(["a"] * 2000), BYTES_NAME, f"{BYTES_NAME}.toml", "a\nb", "a\x1b[31mb", "\r", "\t"),
    *(
        ".",
        "..",
        "/",
        "/dev/null",
        "/dev/null/x",
        "/proc/x",
        "s.toml",
        "s.toml/x",
        "nothing.toml",
        "folder",
        "folder.toml",
    ),
    *(
        "~",
        "~root",
        "quickstart",
        "QuickStart",
        "none",
        "none,none",
        ",",
        ",none,",
        "none,,jsq",
        "x,y,z",
        "gone.py:Mine",
        "folder/x.py",
        "all",
        "-",
        "--",
        "é",
    ),
    *("loop.toml", "gone.toml", "trace.csv", "iolb-table-1", "quick-study", "tcp://127.0.0.1:1", "a=b", "=", "=1"),
)
NUMBERS = (
    "0",
    "1",
    "2",
    "-1",
    "1" + "0" * 30,
    "999999999999",
    "9223372036854775807",
    "9223372036854775808",
    "9" * 5000,
    "1.5",
    "nan",
    "inf",
    "",
)
OPTIONS = {
    "run": (
        "--policy",
        "--seed",
        "--set",
        "--trace",
        "--trace-run",
        "--out",
        "--animate",
        "--record",
        "--detail",
        "--size",
        "--speed",
        "--from",
        "--to",
    ),
    "compare": (
        "--policies",
        "--seeds",
        "--set",
        "--trace",
        "--trace-run",
        "--workers",
        "--out",
        "--record",
        "--animate",
    ),
    "batch run": ("--out", "--workers", "--executor", "--dask", "--slurm"),
    "batch status": ("--json",),
    "batch report": ("--out",),
    "trace info": ("--run", "--format"),
    "trace convert": ("--run", "--format"),
    "reproduce": ("--seeds", "--set", "--trace", "--workers", "--out"),
    "plan": ("--need", "--over", "--policies", "--low", "--high", "--seeds", "--set", "--executor", "--out"),
    "calibrate": ("--policy", "--observed", "--over", "--held-out", "--seeds", "--budget", "--set", "--out"),
    "scenarios": ("--keys",),
    "policies": ("--json",),
}
PLAN = ("--policies", "none", "--low", "2", "--high", "4", "--seeds", "2", "--executor", "inline")
CALIBRATE = ("--seeds", "2", "--budget", "60", "--executor", "inline", "--out", "out")
OBSERVED = b"metric,value\nmean_response_ms,150\ncpu_utilisation,0.55\nmean_slowdown,1.9\n"
COUNTS = ("--seed", "--seeds", "--trace-run", "--workers", "--run", "--speed", "--from", "--to")
FLAGS = ("--json", "--keys", "--keep-failed")


def option_case(random: Random) -> Case:
    """A command that is right but for an option or an argument or two."""
    command = random.choice(("run", "run", "compare", *OPTIONS))
    good = {
        "run": ["s.toml", *(["--animate", "a.html"] if random.random() < 0.5 else [])],
        "compare": ["s.toml", "--workers", "1", "--seeds", "1", "--out", "out"],
        "batch run": ["study.toml", "--out", "out", "--executor", "inline"],
        "batch status": ["folder"],
        "batch report": ["folder"],
        "trace info": ["trace.csv"],
        "trace convert": ["trace.csv", "out.csv"],
        "reproduce": ["nothing"],
        "plan": ["s.toml", "--need", "mean_slowdown<=2", "--over", "cluster.nodes", *PLAN],
        "calibrate": ["s.toml", "--observed", "runs.csv", "--over", "cluster.cpu_speed=0.9:1.1", *CALIBRATE],
    }.get(command, [])
    words = [*command.split(), *good]
    changes = []
    for _ in range(random.choice((1, 1, 2))):
        chance = random.random()
        option = random.choice(OPTIONS[command])
        if chance < 0.7 and option not in FLAGS:
            given = random.choice(NUMBERS if option in COUNTS and random.random() < 0.7 else VALUES)
            if option == "--workers" and given in ("2", ""):
                given = "1"
            words += [option, given]
        elif chance < 0.9 and good:
            place = len(command.split()) + (1 if command == "trace convert" and random.random() < 0.5 else 0)
            given = words[place] = random.choice(VALUES)
            option = "argument"
        else:
            given = random.choice(
                ("--nothing", "--js", "-x", "--set", "--out", "--json=1", "extra", "-h", "--version", "")
            )
            option = "word"
            words.append(given)
        changes.append(f"{option} {given[:80]!r}")
    if random.random() < 0.4:
        words.append("--json")
    study = 'scenario = "s.toml"\npolicies = ["none"]\nreplications = 1\n'
    files: dict[str, bytes | str] = {
        **FILES,
        "s.toml": BASE.encode(),
        "study.toml": study.encode(),
        "runs.csv": OBSERVED,
        "folder/x": b"x",
        "folder.toml/x": b"x",
        "loop.toml": "loop.toml",
        "gone.toml": "nowhere",
    }
    return Case("option", [word.replace("\0", "") for word in words], files, changes)


def listing_case(random: Random) -> Case:
    """`policies` and `scenarios`, which take hardly anything; `run` under each policy with parameters of others."""
    words = random.choice(
        (["policies"], ["scenarios"], ["scenarios", "--keys"], [], ["batch"], ["trace"], ["--version"])
    )
    if random.random() < 0.5:
        words = [
            "run",
            "s.toml",
            "--policy",
            random.choice(policies()),
            "--set",
            "policy.index=" + random.choice(VALUES),
        ]
    words = [*words, *random.choice(([], ["--json"], ["--json", "--json"], ["x"], [""], ["--help"]))]
    return Case("option", words, {"s.toml": BASE.encode(), **FILES}, [])
