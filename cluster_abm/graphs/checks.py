"""What holds of graphs in all formats: names of vertices, limits, how numbers are written."""

from __future__ import annotations

from reprlib import Repr
from typing import Any, NamedTuple

from cluster_abm.errors import InputError

MOST_VERTICES = 20_000
MOST_EDGES = 500_000
# Elements and attributes of a document: a file of 64 MB holds fewer, even with a dozen attributes to each edge.
MOST_PARTS = 3_000_000
# Attributes that are numbers, of edges and of vertices.
NUMBERS = ("bandwidth_mbps", "latency_ms", "cpu_speed", "cores", "memory_mb")
# Where a reader leaves what it assumed, a line each, among the attributes of the graph itself.
NOTES = "cluster_abm.notes"
# Where the reader of node-link JSON leaves whether the document is of a multigraph, and the graph's own attributes.
OWN = "cluster_abm.own"
# Whether `cpu_speed` of the vertices is in Gflop/s, to be divided by those of a node of speed 1.
IN_GFLOPS = "cluster_abm.in_gflops"
# Where a reader leaves what transfers that share links cannot do as the file says.
IN_CONTENTION = "cluster_abm.in_contention"
_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = 60


class Contention(NamedTuple):
    """What a file says of sharing that a graph of full-duplex links has not.

    Attributes:
        unshared: what would be shared otherwise than in the file, a line each.
        half_duplex: how many links have one capacity for both directions.
    """

    unshared: tuple[str, ...]
    half_duplex: int


def brief(value: Any) -> str:
    """A value of the file for messages, however long or deep it is."""
    return _BRIEF.repr(value)


def check_names(vertices: list[Any], ends: list[tuple[Any, Any]], where: str) -> None:
    """Raise InputError: no vertex, or too many; a vertex without a name, or two of one; an edge to none of them."""
    if not vertices:
        raise InputError(f"{where}: no vertex in it")
    if len(vertices) > MOST_VERTICES or len(ends) > MOST_EDGES:
        raise InputError(
            f"{where}: {len(vertices)} vertices and {len(ends)} edges: allowed up to {MOST_VERTICES} and {MOST_EDGES}"
        )
    # 1 and "1" would be printed, and called as switches, the same.
    known: set[str] = set()
    for vertex in vertices:
        # An entity that is declared elsewhere leaves an empty id behind.
        if vertex in (None, "") or str(vertex) in known:
            problem = "no id" if vertex in (None, "") else "there are two of this id"
            raise InputError(f"{where}: vertex {brief(vertex)}: {problem}")
        known.add(str(vertex))
        if any("\ud800" <= character <= "\udfff" for character in str(vertex)):
            # Half a character, which JSON may hold: it could be neither shown nor written.
            raise InputError(f"{where}: vertex {brief(vertex)}: its id is no text")
    exact = set(vertices)
    for source, target in ends:
        for end in (source, target):
            if end not in exact:
                raise InputError(f"{where}: edge {brief(source)} - {brief(target)}: there is no vertex {brief(end)}")


def parsed(text: Any) -> Any:
    """A number where the text is one; nothing where it is empty. 1_000 and digits of other scripts are none."""
    try:
        text = str(text).strip()
        if "_" in text or not text.isascii():
            return text
        return float(text) if text else None
    except ValueError:
        return text
