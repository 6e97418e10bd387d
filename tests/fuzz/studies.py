"""Studies that are odd, and folders of results that are damaged."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from case import Case, Random
from nasty import spoilt_bytes, spoilt_lines, value
from scenario_files import BASE, FILES, spoilt_toml
from settings import keys, odd_value

TINY = BASE.replace("duration_s = 3.0", "duration_s = 0.5")
STUDY = """\
scenario = "s.toml"
policies = ["none", "jsq"]
replications = 1
first_seed = 3
measure = ["mean_slowdown"]
[overrides]
"cluster.nodes" = 2
"""
POINTS = (
    '[grid]\n"workload.utilisation" = [0.3, 0.5]\n',
    '[[points]]\n"workload.utilisation" = 0.3\n',
    '[latin_hypercube]\nsamples = 2\n"workload.utilisation" = { low = 0.2, high = 0.5 }\n',
    '[sensitivity]\nmethod = "morris"\nsamples = 2\n"workload.utilisation" = { low = 0.2, high = 0.5 }\n',
    '[sensitivity]\nmethod = "sobol"\nsamples = 2\n"workload.utilisation" = { low = 0.2, high = 0.5, log = true }\n',
    "",
)
LINES = (
    *(
        "replications = 1000000000",
        "replications = 1" + "0" * 30,
        "first_seed = 18446744073709551616",
        "first_seed = 9223372036854775807",
    ),
    *(
        "precision = 0.9",
        "precision = 1e-308\nmax_replications = 2",
        'precision_metric = "²"\nprecision = 0.5',
        'warmup = "mser"',
    ),
    *(
        "measure = []",
        'measure = ["x"]',
        'measure = ["mean_slowdown", "mean_slowdown"]',
        "policies = []",
        'policies = ["none"]',
    ),
    *(
        'name = ""',
        'name = "a/b"',
        'name = "a\\u0000b"',
        f'name = "{"n" * 5000}"',
        'title = "$\\\\alpha$ % _ é \\u0000"',
        'title = "$^{"',
    ),
    *(
        'scenario = ""',
        'scenario = "."',
        'scenario = "/dev/null"',
        'scenario = "../s.toml"',
        f'scenario = "{"s" * 5000}"',
        'scenario = "study.toml"',
    ),
    'name = "\\ud83d"',
)
GRIDS = (
    *("[1, 1]", "[[]]", "[{}]", "[1e308]", "[nan]", "[nan, nan]", '["a"]', "[0.1, 0.2]", "[true, 1]", "[1979-05-27]"),
    "[" + ", ".join(f"{n / 1e4}" for n in range(1, 1001)) + "]",
)


def _unlike(random: Random) -> tuple[str, list[str]]:
    """A study put together of odd parts."""
    lines = [line for line in STUDY.split("\n") if line]
    changes = []
    for _ in range(random.choice((0, 1, 1, 2))):
        line = random.choice(LINES)
        key = line.partition("=")[0]
        lines = [one for one in lines if not one.startswith(key)]
        lines.insert(0, line)
        changes.append(line[:60])
    text = "\n".join(lines) + "\n"
    match random.choice(("points", "grid", "huge grid", "sample", "range", "sobol")):
        case "points":
            text += random.choice(POINTS)
        case "grid":
            key = random.choice(keys())
            values = random.choice((random.choice(GRIDS), f"[{odd_value(random, key)}]", f"[{value(random)}]"))
            text += f'[grid]\n"{key["key"]}" = {values}\n'
            changes.append(f"{key['key']} = {values[:60]}")
        case "huge grid":
            wide = "[" + ", ".join(f"{n / 1e4}" for n in range(1, 1001)) + "]"
            names = ("workload.utilisation", "cluster.cpu_speed", "cluster.page_kb", "workload.write_share")
            text += "[grid]\n" + "".join(f'"{name}" = {wide}\n' for name in names)
            changes.append("a grid of 10^12")
        case "sample":
            samples = random.choice(("0", "-1", "1000000000", "1" + "0" * 19, "2", "nan", '"2"', "true"))
            text += POINTS[2].replace(
                "samples = 2", f"samples = {samples}\nseed = {random.choice(('0', '-1', '1' + '0' * 30))}"
            )
            changes.append(f"samples = {samples}")
        case "range":
            low, high = value(random), value(random)
            text += f'[latin_hypercube]\nsamples = 2\n"workload.utilisation" = {{ low = {low}, high = {high} }}\n'
            changes.append(f"low = {low[:40]}, high = {high[:40]}")
        case "sobol":
            samples = random.choice(("1073741824", "4294967296", "3", "4", "9223372036854775808"))
            text += random.choice(POINTS[3:5]).replace("samples = 2", f"samples = {samples}")
            changes.append(f"samples = {samples}")
    return text, changes


def study_case(random: Random) -> Case:
    """`batch run` of an odd study, in this process."""
    if random.random() < 0.5:
        data, changes = (STUDY + random.choice(POINTS)).encode(), []
        for _ in range(random.choice((1, 1, 2))):
            data, change = spoilt_toml(random, data)
            changes.append(change)
    else:
        text, changes = _unlike(random)
        data = text.encode("utf-8", "surrogatepass")
    scenario = TINY.encode()
    if random.random() < 0.1:
        scenario, change = spoilt_toml(random, scenario)
        changes.append(f"scenario: {change}")
    words = ["batch", "run", "study.toml", "--out", "out", "--executor", "inline", *random.choice(([], ["--json"]))]
    return Case("study", words, {"study.toml": data, "s.toml": scenario, **FILES}, changes)


@cache
def results() -> dict[str, bytes]:
    """A folder of results, made once: three runs of which one stands in a part."""
    from cluster_abm.study import batch
    from cluster_abm.study.design import study_file
    from cluster_abm.study.store.store import Store

    folder = Path(tempfile.mkdtemp(prefix="fuzz-results-"))
    here = Path.cwd()
    try:
        os.chdir(folder)
        Path("s.toml").write_text(TINY)
        Path("study.toml").write_text(STUDY + POINTS[0])
        batch.run_batch(study_file.load_study("study.toml"), Path("out"), "inline", 1)
        Store("out").compact(1)
        first = sorted(Path("out/parts").iterdir())
        for path in first:
            path.rename(f"{path}.away")
        batch.run_batch(study_file.load_study("study.toml"), Path("out"), "inline", 1)
        for path in first:
            Path(f"{path}.away").rename(path)
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }
    finally:
        os.chdir(here)
        shutil.rmtree(folder)


def folder_case(random: Random) -> Case:
    """`batch status`, `report` and `run` over a damaged folder."""
    files: dict[str, bytes | str] = dict(results())
    changes = []
    for _ in range(random.choice((1, 1, 2, 3))):
        names = sorted(name for name, data in files.items() if name.startswith("out/") and isinstance(data, bytes))
        if not names:
            break
        # Each kind of file as often as any other, however many runs there are.
        suffix = random.choice(sorted({os.path.splitext(name)[1] for name in names}))
        name = random.choice([name for name in names if name.endswith(suffix)])
        changes.append(f"{name[:40]}: {damage(random, files, name, names)}")
    match random.choice(("status", "status", "report", "run")):
        case "status":
            words = ["batch", "status", "out", *random.choice(([], ["--json"]))]
        case "report":
            words = [
                "batch",
                "report",
                "out",
                *random.choice(([], ["--json"], ["--out", "elsewhere"], ["--out", "out/runs"])),
            ]
        case _:
            words = ["batch", "run", "study.toml", "--out", "out", "--executor", "inline"]
            words += random.choice(([], ["--json"], ["--keep-failed"]))
    return Case("folder", words, {**files, **FILES}, changes)


def damage(random: Random, files: dict[str, bytes | str], name: str, names: list[str]) -> str:
    """Spoil a file of a folder of results; return how."""
    data = files[name]
    assert isinstance(data, bytes)
    how = random.choice(
        ("bytes", "lines", "sealed", "sealed", "swap", "remove", "folder", "loop", "parent", "stray", "cut", "pipe")
    )
    match how:
        case "bytes":
            files[name], how = spoilt_bytes(random, data)
        case "lines":
            files[name], how = spoilt_lines(random, data)
        case "sealed":
            how = _resealed(random, files, name)
        case "swap":
            other = random.choice(names)
            files[name], files[other] = files[other], data
            how = f"swapped with {other}"
        case "remove":
            del files[name]
        case "folder":
            del files[name]
            files[f"{name}/"] = b""
        case "pipe":
            del files[name]
            files[f"{name}|"] = b""
        case "loop":
            files[name] = os.path.basename(name)
        case "parent":
            parent = os.path.dirname(name)
            for one in [one for one in files if one.startswith(f"{parent}/")]:
                del files[one]
            files[parent] = b"x"
        case "stray":
            other = random.choice(
                ("x.run", "é.run", "a-b.run", "a-1.run", "a-1" + "0" * 30 + ".run", "x.parquet", ".run")
            )
            files[os.path.join(os.path.dirname(name), other)] = random.choice((b"", data, b"PAR1PAR1", b"\0" * 1000))
            how = f"beside it {other}"
        case "cut":
            files[name] = data[: random.choice((0, 1, 66, len(data) // 2, len(data) - 1))]
    return how


def _resealed(random: Random, files: dict[str, bytes | str], name: str) -> str:
    """Content that is not ours under a checksum that is right: of another version, or by an ill-disposed hand."""
    from cluster_abm.study.store.documents import DOCUMENTS, sealed_document
    from cluster_abm.study.store.durable import seal

    base = os.path.basename(name)
    data = files[name]
    assert isinstance(data, bytes)
    body = data.partition(b"\n")[2].decode("utf-8", "replace")
    if name.endswith((".run", ".json")):
        import re

        found = [match.span() for match in re.finditer(r'"[^"]*"|-?[\d.]+(e[+-]?\d+)?', body)]
        begin, end = random.choice(found or [(0, 0)])
        words = (
            "null",
            "[]",
            "{}",
            "NaN",
            "1e999",
            '""',
            '"x"',
            "-1",
            "0",
            "true",
            "1" * 30,
            "9" * 5000,
            "[" * 5000,
            '"\\ud800"',
        )
        word = random.choice(words)
        body = body[:begin] + word + body[end:]
        how = f"{word[:20]} at {begin}"
    else:
        spoilt, how = spoilt_toml(random, body.encode())
        body = spoilt.decode("utf-8", "replace")
    files[name] = sealed_document(base, body) if base in DOCUMENTS else seal(body)
    return f"sealed anew: {how}"
