"""Maps of columns, right and broken, laid over tables in every layout, whole and spoilt."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from case import Case, Random
from nasty import spoilt_bytes
from scenario_files import BASE
from trace_samples import SAMPLES
from traces import packed, spoilt_table

from cluster_abm.found_modules import TRACE_MAPS
from cluster_abm.scenario.columns import ColumnMap, MapField
from cluster_abm.scenario.columns.map import DURATIONS, INSTANTS, NUMBERS, SIZES, UNITS, WORDS

# Columns of the tables, with cells that a map may read rightly.
COLUMNS: dict[str, Sequence[str]] = {
    "id": ("a1", "a2", "a3", "a4", "a5"),
    "owner": ("ann", "bob", "ann", "", "eve@x"),
    "queued": ("0", "10", "20", "25", "1e3"),
    "began": ("30", "40", "20", "", "1001.5"),
    "done": ("90", "70", "20", "80", "1003"),
    "cpu_milli": ("2000", "500", "1000", "0", "64000"),
    "mem mib": ("512", "256", "256", "", "1"),
    "state": ("ok", "ok", "lost", "failed", "ok"),
    "after": ("", "a1", "a1;a2", "a9", "a4"),
    "iso": ("2023-05-01T10:00:00+02:00", "2023-05-01T08:00:01Z", "2023-05-01 10:00:02", "None", "2023-10-29T02:30:00"),
    "clock": ("00:01:00", "1-00:00:00", "90", "", "59:59"),
    "size": ("1.5G", "3000M", "4 KB", "0", "9E"),
    "tres": ("cpu=4,mem=8G", "cpu=2,gres/gpu=1", "cpu=x", "", "cpu=1"),
    "kind": ("SUBMIT", "START", "END", "SUBMIT", "END"),
    "1": ("0", "1", "2", "3", "0"),
    "2": ("5", "0", "0", "0", "1e6"),
}
TEXTS = ("json", "json-lines", "table", "blanks", "counted", "pairs", "attributes", "parquet")
EXPRESSIONS = (
    *(
        "done - began",
        "$5 - $4",
        "cpu_milli / 1000",
        "`mem mib` * 2",
        "-(done - began)",
        "done - queued * 1e300",
        "1/0",
    ),
    *(
        "queued / (began - 30)",
        'state == "ok"',
        'state in ["ok", "failed"] and done > 0',
        "not done > 1",
        "done >= $99",
    ),
    *("nosuch + 1", 'owner == 5 or owner == "5"', "1 == 1", '"ok" == state', "queued not in [1, 20, -5]", "a.b[0].c"),
    *("(" * 60 + "1" + ")" * 60, "__import__('os')", "done -", "1 2", "é", "", " ", "x" * 3000, "queued in []", "$0"),
    *("1 < 2 < 3", "queued == queued", "not not queued > 1", "9" * 400, "1e999", "`", "``", "id - 1", "iso - iso"),
)
PATTERNS = (
    *(
        "cpu=([0-9]+)",
        "^([^@]+)@",
        "(",
        "(a+)+$",
        "",
        "(.*)",
        "(?P<x>.)",
        "([0-9]+)|([a-z]+)",
        "(?=a)",
        "\\1",
        "[",
        ".",
    ),
    *("(" * 90 + ")" * 90, "((((a{1,100}){1,100}){1,100}))", "\\p{L}+", "(\\d+)\\.(\\d+)", "x" * 300, "(?i)(OK)", "()"),
)
FORMATS = ("%Y-%m-%d %H:%M:%S", "%d.%m.%Y", "%", "%Q", "", "%s", "%Y-%m-%dT%H:%M:%S", "%j" * 100, "\0", "%H:%M é")
ZONES = ("Europe/Berlin", "UTC", "../etc/passwd", "", "Mars/Olympus", "/etc/localtime", "x" * 300, "\0")
NAMES = (*COLUMNS, "nosuch", "a.b", "[", "", "a[0].b", "a[-1]", "queued ", "\u202e", "x" * 400)
SHARES = ("1/100", "1/2", "0.5", "1", "0", "-1", "2", "1/0", "nan", "1e-300", "x", "1/3/4", "", "50%", "1/1e999")


def map_case(random: Random) -> Case:
    """A random map over a random table, or a shipped map over a sample of some map, spoilt."""
    return _shipped_case(random) if random.random() < 0.4 else _own_case(random)


def _own_case(random: Random) -> Case:
    is_right = random.random() < 0.5
    kind = random.choice(("csv", "csv", "tsv", "semicolons", "blanks", "json", "json-lines", "parquet"))
    header = random.random() < 0.85
    data, between = _table(kind, header)
    changes = [f"a table: {kind}, header: {header}"]
    if random.random() < 0.4:
        if between:
            data, more = spoilt_table(random, data, between)
        else:
            data, change = spoilt_bytes(random, data)
            more = [change]
        changes += more
    name = "jobs" + random.choice((".csv", ".json", ".parquet", ".txt", ""))
    if random.random() < 0.1:
        data, name, change = packed(random, data, name)
        changes.append(change)
    found = _right_map(random) if is_right else _random_map(random)
    if is_right or random.random() < 0.7:
        found["file"] = _layout(random, kind, header, is_right)
    text = _toml(found)
    if random.random() < 0.1:
        spoilt, change = spoilt_bytes(random, text.encode("utf-8", "surrogatepass"))
    else:
        spoilt, change = text.encode("utf-8", "surrogatepass"), "map: " + text[:300]
    changes.append(change)
    files: dict[str, bytes | str] = {name: data, "m.toml": spoilt, "s.toml": BASE.encode()}
    if random.random() < 0.15:
        files["s.toml"] = (BASE + f'[workload]\nkind = "trace"\n[workload.trace]\nfile = "{name}"\n').replace(
            "[workload]\nduration_s = 3.0\nutilisation = 0.6\n", "[unused]\n"
        ).encode() + _toml(found, "workload.trace.columns").encode("utf-8", "surrogatepass")
        return Case("map", ["run", "s.toml", "--set", "run.until=2000.0"], files, changes)
    return Case("map", _words(random, name, ["--map", "m.toml"]), files, changes)


def _shipped_case(random: Random) -> Case:
    sample = random.choice(sorted(set(SAMPLES) - {"parquet"}))
    name, data, between = SAMPLES[sample]
    changes = [f"sample of {sample}"]
    if random.random() < 0.9:
        if between and random.random() < 0.8:
            data, more = spoilt_table(random, data, between, most=4)
            changes += more
        else:
            data, change = spoilt_bytes(random, data)
            changes.append(change)
    options: list[str] = []
    if random.random() < 0.4:
        fits = sample if sample in TRACE_MAPS else random.choice(TRACE_MAPS)
        options = ["--map", fits if random.random() < 0.7 else random.choice(TRACE_MAPS)]
    return Case("map", _words(random, name, options), {name: data, "s.toml": BASE.encode()}, changes)


def _words(random: Random, name: str, options: list[str]) -> list[str]:
    """A command that reads the table."""
    if random.random() < 0.3:
        options = [*options, "--sample", random.choice(SHARES)]
    if random.random() < 0.12:
        listed = random.choice(
            ("JobID,State,Submit,Start,End,ElapsedRaw,NCPUS", "JobID%20,Submit", "x", ",", "", "a" * 9999)
        )
        options = [*options, "--fields", listed]
    match random.choice(("info", "info", "info", "guess", "guess", "convert", "run")):
        case "info":
            return ["trace", "info", name, *options, *random.choice(([], ["--json"], ["--json"]))]
        case "guess":
            if random.random() < 0.8:
                options = [word for word in options if word not in ("--map", "m.toml", *TRACE_MAPS)]
            out = random.choice(([], [], ["--out", "o.toml"], ["--out", "no/o.toml"], ["--out", name]))
            return ["trace", "info", name, "--guess", *options, *out, *random.choice(([], ["--json"]))]
        case "convert":
            return ["trace", "convert", name, random.choice(("o.csv", "o.parquet")), *options]
        case _:
            return ["run", "s.toml", "--trace", name, *options, "--set", "run.until=2000.0"]


# ---- maps ---------------------------------------------------------------------------------------------------------


def _random_map(random: Random) -> dict[str, object]:
    """Some fields, most of them such as fit the table."""
    found: dict[str, object] = {}
    if random.random() < 0.9:
        found[random.choice(("submit", "submit", "start"))] = random.choice(
            ("queued", "began", 3, {"column": "iso", "unit": "iso"})
        )
    if random.random() < 0.7:
        found["run"] = random.choice(
            ({"expr": "done - began"}, {"column": "clock", "unit": "clock"}, {"value": 5}, "done")
        )
    for name in random.sample((*NUMBERS, *WORDS), random.choice((0, 1, 2, 4))):
        found[name] = _field(random, name)
    if random.random() < 0.25:
        found["filter"] = random.choice(EXPRESSIONS)
    if random.random() < 0.1:
        found["resources"] = {random.choice(("gpu", "gpu:a100", "", "é", "a b")): _field(random, "tasks")}
    if random.random() < 0.12:
        found = {"job": "id"} if random.random() < 0.6 else found
        found["events"] = {
            "kind": random.choice(("kind", "state", "nosuch")), "time": _field(random, "submit"), "start": ["START"],
            "end": ["END", "ok"], "submit": ["SUBMIT"],
        }  # fmt: skip
    elif random.random() < 0.1:
        found["spread"] = {
            "first": random.choice(("1", "2", 15)), "last": random.choice(("2", "1", "nosuch", 16)),
            "each_s": random.choice((60, 1e-9, 0, 1e300)),
        }  # fmt: skip
    if random.random() < 0.1:
        found["machine"] = {"cores": random.choice((64, 0, -1, 1e300)), "memory_mb": 1e6}
    if random.random() < 0.1:
        found["missing"] = random.choice((["ok"], [""], ["\0"], ["x"] * 3000))
    if random.random() < 0.05:
        found[random.choice(("about", "reader", "nosuch", *ColumnMap.model_fields))] = random.choice(("sacct", 1, {}))
    return found


def _right_map(random: Random) -> dict[str, object]:
    """Fields that fit the table."""
    found: dict[str, object] = {"submit": "queued", "start": "began", "end": "done"}
    if random.random() < 0.2:
        found = {"submit": {"column": "iso", "unit": "iso", "zone": "Europe/Berlin"}, "run": {"expr": "done - began"}}
    more: dict[str, object] = {
        "cores": {"column": "cpu_milli", "unit": "milli"}, "memory": {"column": "mem mib", "unit": "MiB"},
        "disk_read": {"column": "size", "unit": "size", "by": "calls"}, "tasks": {"value": 3}, "user": "owner",
        "requested": {"column": "clock", "unit": "clock", "otherwise": {"value": 60}}, "job": "id", "group": "state",
        "resources": {"gpu": {"column": "tres", "pattern": "gpu=([0-9]+)"}}, "workflow": "owner", "partition": "state",
        "filter": random.choice(('state in ["ok", "failed"]', "done > began", "cpu_milli >= 500 or queued == 0")),
    }  # fmt: skip
    found |= {name: more[name] for name in random.sample(sorted(more), random.choice((1, 3, 6)))}
    if "job" in found and random.random() < 0.5:
        found["parents"] = "after"
    return found


def _field(random: Random, name: str, depth: int = 0) -> object:
    """Where a field comes from: mostly of the right kind."""
    units = UNITS.get(name, ())
    right = {"queued", "began", "done"} if name in INSTANTS else {"cpu_milli", "queued", "tres"}
    right = right | {"clock"} if name in DURATIONS else right | {"size", "mem mib"} if name in SIZES else right
    column = random.choice(sorted(right)) if random.random() < 0.6 else random.choice((*NAMES, 1, 3, 99, 0, -1, 10**9))
    found: dict[str, object] = {}
    match random.choice(("alone", "column", "column", "column", "expr", "value", "columns")):
        case "alone" if name not in SIZES:
            return column
        case "expr":
            found["expr"] = random.choice(EXPRESSIONS)
        case "value":
            found["value"] = random.choice((0, 1, -1, 1e308, 2**63, "x", "", "1:00", 0.5))
        case "columns":
            found["columns"] = random.choices(NAMES, k=random.choice((0, 1, 2, 40)))
        case _:
            found["column"] = column
    if units and random.random() < 0.7:
        found["unit"] = random.choice(units) if random.random() < 0.9 else random.choice(("parsec", "", "milli"))
    if found.get("unit") == "date" or random.random() < 0.05:
        found["format"] = random.choice(FORMATS)
    for key, choices, share in (
        ("pattern", PATTERNS, 0.15), ("zone", ZONES, 0.1), ("per", ("job", "task", "core", "x"), 0.15),
        ("by", ("disk", "calls"), 0.1), ("missing", (["0"], ["", "a"], ["1", "2"]), 0.1),
        ("form", ("ids", "task-name", "count", "largest", "lsf-slots", "pbs-slots"), 0.1),
    ):  # fmt: skip
        if random.random() < share:
            found[key] = random.choice(choices)
    if depth < 3 and random.random() < 0.15:
        found["otherwise"] = _field(random, name, depth + 1)
    if random.random() < 0.03:
        found[random.choice((*MapField.model_fields, "nosuch"))] = random.choice((True, [], {}, -1, 1e400, "x"))
    return found


def _layout(random: Random, kind: str, header: bool, is_right: bool) -> dict[str, object]:
    """How the table lies in its file; unless it is to be right also as it does not."""
    separators = {"csv": ",", "tsv": "\t", "semicolons": ";"}
    found: dict[str, object] = {"kind": "table" if kind in separators else kind}
    if kind in separators:
        found["separator"] = separators[kind]
    if not header:
        found |= {"header": False, "names": list(COLUMNS)}
    if is_right:
        return found
    if random.random() < 0.25:
        found["kind"] = random.choice(TEXTS)
    if random.random() < 0.2:
        key = random.choice(("separator", "header", "names", "quoted", "remark", "rows", "lookups", "orders"))
        found[key] = random.choice(
            {
                "separator": (",", "\n", "\0", '"', "é", "", " ", "ab", "\r"), "header": (True, False),
                "names": (["a"], ["a", "a"], ["NAME[x]", "x"], ["x", "y[x]", "z[6*x]"], ["[", "]"], []),
                "quoted": (True, False), "remark": ("#", "a", "", " ", "queued"),
                "rows": ("", "jobs", "a.b", "[", "jobs[0]"),
                "lookups": ({"id": "x"}, {"": ""}, {"nosuch": "a[0]"}), "orders": ([["JobID"]], [[]], []),
            }[key]
        )  # fmt: skip
    return found


def _toml(found: dict[str, object], table: str = "") -> str:
    """A map as TOML; what JSON and TOML write alike is written by the former."""
    lines = [f"{json.dumps(key)} = {_inline(one)}" for key, one in found.items()]
    return (f"[{table}]\n" if table else "") + "\n".join(lines) + "\n"


def _inline(one: object) -> str:
    if isinstance(one, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_inline(value)}" for key, value in one.items()) + " }"
    if isinstance(one, list):
        return "[" + ", ".join(map(_inline, one)) + "]"
    return json.dumps(one).replace("Infinity", "inf").replace("\x7f", "")


# ---- tables -------------------------------------------------------------------------------------------------------


def _table(kind: str, header: bool) -> tuple[bytes, bytes]:
    """The columns in a file of this kind, and what stands between its cells."""
    rows = list(zip(*COLUMNS.values(), strict=True))
    if kind == "parquet":
        import pyarrow as pa
        from pyarrow import parquet

        held = io.BytesIO()
        numbers = {"queued": [0, 10, 20, 25, 1000], "cpu_milli": [2000.0, 500.0, None, float("nan"), 1e30]}
        odd = {"kind": [{"a": 1}] * 5, "1": [b"\xff"] * 5, "2": [True, False, None, True, True]}
        cells = {name: (numbers | odd).get(name, list(texts)) for name, texts in COLUMNS.items()}
        parquet.write_table(pa.table(cells), held)
        return held.getvalue(), b""
    if kind in ("json", "json-lines"):
        documents = [json.dumps(dict(zip(COLUMNS, row, strict=True)) | {"a": [{"b": 1}, {"b": None}]}) for row in rows]
        text = "\n".join(documents) if kind == "json-lines" else "[" + ",\n".join(documents) + "]"
        return text.encode(), b", "
    between = {"csv": ",", "tsv": "\t", "semicolons": ";", "blanks": " "}[kind]
    if kind == "blanks":
        rows = [tuple(cell.replace(" ", "T") or "-" for cell in row) for row in rows]
    lines = [between.join(row) for row in ([tuple(COLUMNS), *rows] if header else rows)]
    return ("\n".join(lines) + "\n").encode(), between.encode()
