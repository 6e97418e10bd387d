"""SNDlib's native format of networks (sndlib.zib.de; Orlowski et al., Networks 55(3), 2010)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_EDGES, MOST_VERTICES, NOTES, brief, check_names

BEGINS = re.compile(
    rb"\s*\?\s*SNDlib\s+native\s+format\s*;\s*type\s*:\s*(\w+)\s*;\s*version\s*:\s*([\w.]+)", re.IGNORECASE
)
# Of META's `unit`; SNDlib's own files have MBITPERSEC and, in brain, BITSPERSEC.
MBPS = {"BITSPERSEC": 1e-6, "KBITPERSEC": 1e-3, "MBITPERSEC": 1.0, "GBITPERSEC": 1e3, "TBITPERSEC": 1e6}
LONGEST_LINE = 1_000_000
_TOKEN = re.compile(r"[()]|[^\s()]+")
_END = ")"


class _Row(NamedTuple):
    """A line of a section, as its words, parentheses among them."""

    line: int
    words: list[str]


def read_sndlib(raw: bytes, where: str) -> nx.MultiGraph:
    """The graph in a file: its nodes with `longitude` and `latitude`, its links with the capacity that is installed.

    The capacity of a link is the one that is installed before (`pre_installed_capacity`); where that is 0, the least of
    its modules. It is a bandwidth where META says a unit of bits per second; else bandwidths are not told. Demands and
    admissible paths are left out.

    Raises InputError: another format, type or version; a section that does not end; a line that is not of its form.
    """
    match = BEGINS.match(raw.removeprefix(b"\xef\xbb\xbf"))
    if match is None:
        raise InputError(
            f'{where}: no graph that is known: a .txt is to begin with "?SNDlib native format; type: network; version: '
            '1.0"'
        )
    kind, version = match[1].decode().lower(), match[2].decode()
    if kind != "network" or version.split(".")[0] != "1":
        raise InputError(f"{where}: SNDlib's {kind}, version {brief(version)}: allowed: type network, version 1.0")
    sections = _sections(raw, where)
    if "NODES" not in sections:
        raise InputError(f"{where}: no section NODES in it")
    nodes, links = sections["NODES"], sections.get("LINKS", [])
    if len(nodes) > MOST_VERTICES or len(links) > MOST_EDGES:
        raise InputError(
            f"{where}: {len(nodes)} nodes and {len(links)} links: allowed up to {MOST_VERTICES} and {MOST_EDGES}"
        )
    unit = _unit(sections.get("META", []), where)
    vertices = [_node(row, where) for row in nodes]
    edges = [_link(row, where) for row in links]
    check_names([name for name, _ in vertices], [(one, other) for one, other, *_ in edges], where)
    graph = nx.MultiGraph()
    graph.add_nodes_from(vertices)
    for one, other, capacity, _ in edges:
        graph.add_edge(one, other, **({"bandwidth_mbps": capacity * MBPS[unit]} if unit and capacity else {}))
    graph.graph[NOTES] = _notes(unit, edges, sorted(set(sections) - {"META", "NODES", "LINKS"}))
    return graph


def _sections(raw: bytes, where: str) -> dict[str, list[_Row]]:
    """The lines of each section, by its name. Raises InputError: no text, or a section that does not end."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    sections: dict[str, list[_Row]] = {}
    inside: list[_Row] | None = None
    name, begun, depth = "", 0, 0
    for number, words in _lines(text, where):
        if inside is None:
            if len(words) != 2 or words[1] != "(" or words[0] in sections:
                raise InputError(
                    f"{where}, line {number}: {brief(' '.join(words))}: allowed: NODES (, LINKS (, and other sections, "
                    "each once"
                )
            name, begun, inside = words[0], number, []
            sections[name] = inside
        elif depth == 0 and words == [_END]:
            inside = None
        else:
            # Of ADMISSIBLE_PATHS each demand has lines of its own within parentheses.
            depth = max(0, depth + words.count("(") - words.count(_END))
            inside.append(_Row(number, words))
    if inside is not None:
        raise InputError(f"{where}: the section {brief(name)} of line {begun} does not end: a line with ) is needed")
    return sections


def _lines(text: str, where: str) -> Iterator[tuple[int, list[str]]]:
    """The lines that say something, each with its number and its words."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST_LINE:
            raise InputError(f"{where}, line {number}: {len(line):,} characters: allowed up to {LONGEST_LINE:,}")
        said = line.partition("#")[0].strip()
        if said and not said.startswith("?"):
            yield number, _TOKEN.findall(said)


def _unit(rows: list[_Row], where: str) -> str:
    """The unit of capacities, "" if the file says none, or none of bits per second."""
    for row in rows:
        if row.words[:2] == ["unit", "="] and len(row.words) == 3:
            unit = row.words[2].upper()
            if unit in MBPS:
                return unit
            raise InputError(f"{where}, line {row.line}: unit = {brief(row.words[2])}: allowed {', '.join(MBPS)}")
    return ""


def _node(row: _Row, where: str) -> tuple[str, dict[str, Any]]:
    """ID ( LONGITUDE LATITUDE ), or ID alone."""
    words = row.words
    if len(words) == 1 and words[0] not in "()":
        return words[0], {}
    if len(words) != 5 or words[1] != "(" or words[4] != _END or words[0] in "()":
        raise InputError(f"{where}, line {row.line}: {brief(' '.join(words))}: allowed: ID ( LONGITUDE LATITUDE )")
    longitude, latitude = (_number(word, row, where) for word in words[2:4])
    return words[0], {"longitude": longitude, "latitude": latitude}


def _link(row: _Row, where: str) -> tuple[str, str, float, bool]:
    """ID ( SOURCE TARGET ) CAPACITY COST ROUTING_COST SETUP_COST ( MODULE COST ... ): both ends, the capacity, and
    whether it is a module's."""
    words = row.words
    has_form = len(words) >= 5 and words[1] == "(" and words[4] == _END
    numbers, modules = words[5:9], words[9:]
    fits = len(numbers) in (0, 4) and (not modules or (modules[0] == "(" and modules[-1] == _END))
    if not has_form or not fits or (modules and len(modules) % 2):
        raise InputError(
            f"{where}, line {row.line}: {brief(' '.join(words))}: allowed: ID ( SOURCE TARGET ) PRE_INSTALLED_CAPACITY "
            "COST ROUTING_COST SETUP_COST ( MODULE_CAPACITY COST ... )"
        )
    said = [_number(word, row, where) for word in numbers]
    sizes = [_number(word, row, where) for word in modules[1:-1]][::2]
    installed = said[0] if said else 0.0
    if installed < 0.0 or any(size < 0.0 for size in sizes):
        raise InputError(f"{where}, line {row.line}: {brief(' '.join(words))}: a capacity below 0")
    if installed > 0.0:
        return words[2], words[3], installed, False
    sizes = [size for size in sizes if size > 0.0]
    return words[2], words[3], min(sizes, default=0.0), bool(sizes)


def _number(word: str, row: _Row, where: str) -> float:
    try:
        if "_" in word:
            raise ValueError(word)
        value = float(word)
        if value != value or abs(value) == float("inf"):
            raise ValueError(word)
        return value
    except ValueError:
        raise InputError(f"{where}, line {row.line}: {brief(word)}: a number is needed") from None


def _notes(unit: str, edges: list[tuple[str, str, float, bool]], others: list[str]) -> list[str]:
    notes = []
    of_modules = sum(is_module for *_, is_module in edges)
    if not unit:
        notes.append("META says no unit of capacities: none is read as a bandwidth")
    elif of_modules:
        notes.append(f"links with no capacity installed: {of_modules}; that of the least module taken")
    if others:
        notes.append(f"not read: {', '.join(others)}")
    return notes
