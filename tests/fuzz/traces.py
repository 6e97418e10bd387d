"""Traces in all formats, profiles of programs and graphs of networks: spoilt by cells, bytes, lines and packing."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable

from case import Case, Random
from nasty import CELLS, bomb, spoilt_bytes, spoilt_lines, value
from network_samples import PLATFORM, SNDLIB
from scenario_files import BASE, FILES, NETWORK, PROFILES, ending
from settings import setting
from trace_samples import CELLS as CELLS_OF_TRACES
from trace_samples import ODD_CELLS, SAMPLES, parquet

from cluster_abm.found_modules import TRACE_FORMATS, TRACE_MAPS

HEADERS = (
    *("; MaxRecords: ²", "; MaxRecords: " + "9" * 5000, "; MaxRecords: -1", "; MaxRecords:", ";", "; :", "; Key:value"),
    *("; MaxRecords: 10000000000000000000", "; " + "x" * 100_000, "; \xff: y", "; MaxRecords: nan", "; A:\t1", ";;;;"),
    *("; __class__: 1", "; Note: \x1b[31m", "; MaxRecords: 5 ; MaxRecords: ²", "\ufeff; Version: 2"),
)
GRAPHML = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="b" for="edge" attr.name="bandwidth_mbps" attr.type="double"/>
<key id="l" for="edge" attr.name="latency_ms" attr.type="double"><default>0.5</default></key>
<key id="h" for="node" attr.name="host" attr.type="boolean"/>
<key id="c" for="node" attr.name="cluster" attr.type="string"/>
<graph id="G" edgedefault="undirected">
<node id="n0"><data key="c">one</data></node>
<node id="n1"><data key="c">one</data></node>
<node id="n2"><data key="c">two</data></node>
<node id="n3"><data key="c">two</data></node>
<node id="s"><data key="h">false</data></node>
<edge source="n0" target="s"><data key="b">100</data></edge>
<edge source="n1" target="s"><data key="b">1e3</data><data key="l">2</data></edge>
<edge source="n2" target="s"/>
<edge source="n3" target="n2"/>
</graph>
</graphml>
"""


def spoilt_cells(random: Random, data: bytes, between: bytes) -> tuple[bytes, str]:
    """A table with cells replaced, a cell too few, or one too many."""
    rows = [line.split(between) if between != b" " else line.split() for line in data.split(b"\n")]
    row = random.choice([number for number, cells in enumerate(rows) if cells and cells != [b""]])
    cells = rows[row]
    place = random.randrange(len(cells))
    cell = random.choice(CELLS if random.random() < 0.6 else CELLS_OF_TRACES)
    match random.choice(("replace", "replace", "replace", "drop", "add", "column")):
        case "replace":
            cells[place] = cell.encode()
        case "drop":
            del cells[place]
        case "add":
            cells.insert(place, cell.encode())
        case "column":
            for each in rows:
                if place < len(each):
                    each[place] = cell.encode()
    return b"\n".join(between.join(each) for each in rows), f"row {row + 1}, cell {place + 1}: {cell[:40]!r}"


def _zip(data: bytes) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        # Such an entry has no time of its own: equal data give equal bytes.
        archive.writestr(zipfile.ZipInfo("a.csv"), data)
        archive.writestr(zipfile.ZipInfo("../b.csv"), data)
    return held.getvalue()


def _tar(data: bytes) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        entry = tarfile.TarInfo("a.csv")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(held.getvalue(), mtime=0)  # without the time of day


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "xz": lzma.compress,
    "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
    "bz2": bz2.compress,
    "zip": _zip,
    "tar": _tar,
    "twice": lambda data: gzip.compress(gzip.compress(data, mtime=0), mtime=0),
    "two members": lambda data: gzip.compress(data, mtime=0) + gzip.compress(data, mtime=0),
    "and more": lambda data: gzip.compress(data, mtime=0) + b"more",
    "xz and more": lambda data: lzma.compress(data) + b"more",
    "padded": lambda data: lzma.compress(data) + bytes(4),
    "cut": lambda data: gzip.compress(data, mtime=0)[:-9],
    "xz cut": lambda data: lzma.compress(data)[:-9],
    "wrong sum": lambda data: gzip.compress(data, mtime=0)[:-8] + b"\1" * 8,
    "head": lambda data: b"\x1f\x8b",
    "bomb": lambda data: bomb("gz", 400),
    # Below the limit: each line is looked at.
    "bomb of words": lambda data: bomb("gz", 200, b"x\n"),
    "bomb of cells": lambda data: bomb("gz", 200, b"-,-\n"),
    "bomb of lines": lambda data: bomb("gz", 200, b"\n"),
    "bomb of quotes": lambda data: bomb("gz", 200, b'"0",x\n'),
    "xz bomb": lambda data: bomb("xz", 400),
    "empty": lambda data: b"",
}
# Of files in a folder: begins of remarks, blanks, line breaks, bytes that are no UTF-8.
ODD_NAMES = (
    "#1.csv",
    "a#b.csv",
    " a.csv",
    "a .csv",
    " .csv",
    "a\nb.csv",
    "a\rb.csv",
    "\udcff.csv",
    '".csv',
    "a,b.csv",
    "\x1b.csv",
)
ENDINGS = (".gz", ".xz", ".zip", ".bz2", ".zst", ".tar", ".tar.gz", ".GZ", "", ".gz.gz", ".lzma")


def spoilt_table(random: Random, data: bytes, between: bytes, most: int = 2) -> tuple[bytes, list[str]]:
    """A table of text, spoilt once or twice."""
    changes = []
    for _ in range(random.randint(1, most)):
        chance = random.random()
        if chance < 0.5:
            data, change = spoilt_cells(random, data, between)
        elif chance < 0.8:
            data, change = spoilt_bytes(random, data)
        else:
            data, change = spoilt_lines(random, data)
        changes.append(change)
        if not data.strip():
            break
    return data, changes


def packed(random: Random, data: bytes, name: str) -> tuple[bytes, str, str]:
    """The data packed somehow, a name that may or may not say so, and how it was."""
    how = random.choice(sorted(PACKINGS))
    fits = {"gz": ".gz", "bomb": ".gz", "xz": ".xz", "xz bomb": ".xz", "zip": ".zip", "bz2": ".bz2", "tar": ".tar.gz"}
    end = fits.get(how, ".xz" if how.startswith("xz") or how == "padded" else ".gz")
    if random.random() < 0.4:
        end = random.choice(ENDINGS)
    return PACKINGS[how](data), name + end, f"packed: {how}, named {name + end}"


def _by_map(random: Random, kind: str) -> list[str]:
    """Options of maps and samples: mostly none, or those that fit."""
    found = []
    if random.random() < 0.2:
        found += ["--map", random.choice((kind if kind in TRACE_MAPS else "philly", *random.sample(TRACE_MAPS, 1)))]
    if random.random() < 0.2:
        found += [
            "--sample",
            random.choice(("1/2", "1/1000", "0.9", "1", "0", "-1", "1/0", "2/1", "nan", "x", "1/1e400")),
        ]
    return found


def trace_case(random: Random) -> Case:
    """`trace info`, `trace convert` or `run --trace` of a spoilt trace."""
    kind = random.choice(("csv", "swf", *SAMPLES))
    name, data, between = SAMPLES[kind]
    if kind == "parquet":
        chance = random.random()
        twice = random.choice(("cpu_ms", "job", "home", "x", "a\nb")) if chance < 0.3 else ""
        data = parquet(twice, random.choice(ODD_CELLS) if chance > 0.8 else None)
    if random.random() < 0.15:
        name = random.choice(("log", "a.csv", "a.swf", "a.json", "a.parquet", "a.txt"))
    changes: list[str] = []
    if kind.startswith("swf") and random.random() < 0.3:
        header = random.choice(HEADERS)
        data, changes = header.encode("utf-8") + b"\n" + data, [f"header {header[:40]!r}"]
    elif random.random() < 0.9 and between:
        data, changes = spoilt_table(random, data, between)
    elif random.random() < 0.9:
        data, changes = _spoilt_document(random, data)
    if random.random() < 0.25:
        data, name, change = packed(random, data, name)
        changes.append(change)
    files: dict[str, bytes | str] = {name: data, "s.toml": BASE.encode(), **FILES}
    if kind == "gwa" and random.random() < 0.4:
        # A folder of machines, of which one is spoilt.
        others = {f"vms/{other}": SAMPLES["gwa"].data for other in ("other.csv", *random.sample(ODD_NAMES, 2))}
        files = {f"vms/{name}": data, **others, "s.toml": BASE.encode(), **FILES}
        name = "vms"
    match random.choice(("info", "info", "convert", "run", "run")):
        case "info":
            words = ["trace", "info", name, *random.choice(([], ["--json"], ["--json"])), *_by_map(random, kind)]
            words += random.choice(([], [], [], ["--guess"], ["--guess", "--out", "found.toml"]))
        case "convert":
            output = random.choice(
                ("o.csv", "o.csv.gz", "o.csv.xz", "o.parquet", "o.txt", "no/o.csv", name, "/dev/full.csv", ".csv")
            )
            words = ["trace", "convert", name, output]
            if kind.startswith("swim") and random.random() < 0.8:
                words += ["--cpu-ms-per-mb", random.choice(("10", "1e-300", "0", "nan", "1e9"))]
        case _:
            words = ["run", "s.toml", "--trace", name, *ending(random)]
            for _ in range(random.choice((0, 0, 1))):
                words += [
                    "--set",
                    "workload." + random.choice(("cpu_ms.mean", "io_per_ms.mean", "trace.start_s")) + "=1e12",
                ]
            if random.random() < 0.9:
                words += ["--set", "run.until=2000.0"]
    if random.random() < (0.6 if kind == "hbd" else 0.1):
        words += ["--trace-run" if words[0] == "run" else "--run", random.choice(("0", "1", "1", "7", "2147483648"))]
    if words[0] == "trace" and random.random() < 0.2:
        words += ["--format", random.choice(TRACE_FORMATS)]
    return Case("trace", words, files, changes)


def _spoilt_document(random: Random, data: bytes) -> tuple[bytes, list[str]]:
    """A file without cells, spoilt by a byte, a line, or a word."""
    spoil = random.choice((spoilt_bytes, spoilt_bytes, _spoilt_word, _spoilt_word, spoilt_lines))
    if data.startswith(b"PAR1"):
        spoil = spoilt_bytes
    data, change = spoil(random, data)
    return data, [change]


def program_case(random: Random) -> Case:
    """`run` with a spoilt file of profiles."""
    data, changes, name = PROFILES, [], "p.csv"
    if random.random() < 0.85:
        data, changes = spoilt_table(random, data, b",")
    if random.random() < 0.3:
        data, name, change = packed(random, data, name)
        changes.append(change)
    mix = random.choice(("{a = 1.0, b = 0.5}", "{a = 1}", "{}", "{c = 1}", '{"" = 1}', value(random)))
    words = ["run", "s.toml", "--set", f"workload.programs.file={name}", "--set", f"workload.programs.mix={mix}"]
    return Case("program", [*words, *ending(random)], {name: data, "s.toml": BASE.encode()}, [*changes, mix[:60]])


def network_case(random: Random) -> Case:
    """`run` over a spoilt graph."""
    name, data = random.choice(
        (("g.json", NETWORK), ("g.graphml", GRAPHML), ("g.xml", GRAPHML), ("g.xml", PLATFORM), ("g.txt", SNDLIB))
    )
    changes = []
    for _ in range(random.choice((1, 1, 2))):
        chance = random.random()
        if chance < 0.35:
            data, change = spoilt_bytes(random, data)
        elif chance < 0.55:
            data, change = spoilt_lines(random, data)
        else:
            data, change = _spoilt_word(random, data)
        changes.append(change)
    if random.random() < 0.1:
        data, name, change = packed(random, data, name)
        changes.append(change)
    words = ["run", "s.toml", "--set", f"interconnect.file={name}", "--set", "cluster.nodes=4"]
    if random.random() < 0.3:
        words += ["--set", "interconnect.mode=contended"]
    if random.random() < 0.2:
        words += ["--set", setting(random).replace("\0", "")]
    if random.random() < 0.1:
        words += ["--animate", "f.gif", "--set", "run.until=200.0"]
    return Case("network", [*words, *ending(random)], {**FILES, name: data, "s.toml": BASE.encode()}, changes)


WORDS = (
    *(
        b"null",
        b"true",
        b"1e308",
        b"-1",
        b"NaN",
        b"Infinity",
        b"1e400",
        b"[]",
        b"{}",
        b'""',
        b'"a"',
        b"1" * 5000,
        b'"\\ud800"',
    ),
    *(
        b"[" * 100_000,
        b"&lt;",
        b"&x;",
        b"<!DOCTYPE x [<!ENTITY x 'y'>]>",
        b"<node id='s'/>",
        b"<node/>",
        b"0",
        b"1.5",
        b"n0",
    ),
    *(
        b"nan",
        b"inf",
        b"\xff",
        b"<graph>",
        b"</graph>",
        b"<hyperedge/>",
        b"<port name='p'/>",
        b"<a>" * 20_000,
        b'"\\u0000"',
    ),
    *(
        b"double",
        b"int",
        b"boolean",
        b"directed",
        b"UTF-7",
        b"latin-1",
        b"UTF-16",
        b"bogus",
        b"-0.0",
        b"'",
        b'"',
        b"0x10",
    ),
)


def _spoilt_word(random: Random, data: bytes) -> tuple[bytes, str]:
    import re

    found = [match.span() for match in re.finditer(rb'"[^"]*"|[\w.]+', data)]
    if not found:
        return b"{}", "nothing left"
    begin, end = random.choice(found)
    word = random.choice(WORDS)
    quoted = data[begin : begin + 1] == b'"' and random.random() < 0.5 and not word.startswith((b'"', b"<"))
    new = b'"' + word + b'"' if quoted else word
    return data[:begin] + new + data[end:], f"{data[begin:end][:30]!r} -> {new[:30]!r}"
