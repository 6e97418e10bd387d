"""What the vertices of a graph say of their nodes: hardware, which `[cluster]` is otherwise asked for, and files."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import networkx as nx

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import brief
from cluster_abm.scenario.cluster import MOST_CORES
from cluster_abm.scenario.data import LONGEST_NAME, can_name_a_file, names_of_files
from cluster_abm.scenario.distributions import LARGEST, LARGEST_SPEED, LEAST_SPEED


class Allowed(NamedTuple):
    """What a node key may be."""

    least: float
    most: float
    is_whole: bool
    words: str


HARDWARE = {
    "cpu_speed": Allowed(LEAST_SPEED, LARGEST_SPEED, False, f"{LEAST_SPEED:g} to {LARGEST_SPEED:g}"),
    "cores": Allowed(1, MOST_CORES, True, f"a whole number from 1 to {MOST_CORES}"),
    "memory_mb": Allowed(5e-324, LARGEST, False, f"above 0 and up to {LARGEST:g}"),
}
"""The node keys that are read of a vertex."""


def hardware_of(graph: nx.Graph, hosts: Sequence[Hashable], where: str) -> list[dict[str, float]]:
    """The node keys that each vertex for nodes gives; a value that is missing, None or empty is not given.

    Raises InputError: a value that is not allowed.
    """
    return [
        {
            name: _number(vertex, name, value, where)
            for name in HARDWARE
            if (value := graph.nodes[vertex].get(name)) not in (None, "")
        }
        for vertex in hosts
    ]


def groups_of(hardware: Sequence[dict[str, float]], at_each: int) -> list[dict[str, float]]:
    """The same as tables of `[[cluster.group]]`, like neighbours in one; none where no vertex gives any key.

    Args:
        hardware: of `hardware_of`.
        at_each: nodes at each vertex.
    """
    groups = [{"count": at_each * len(list(alike))} | keys for keys, alike in groupby(hardware)]
    if groups and len(groups[-1]) == 1:
        # The nodes that no group is said of come last.
        groups.pop()
    return groups


def files_of(graph: nx.Graph, hosts: Sequence[Hashable], where: str) -> tuple[tuple[str, ...], ...]:
    """The names of the files that each vertex for nodes holds at first, as it says: a list, or a text "a;b".

    Raises InputError: it is neither; a name is empty or there twice; a vertex that only forwards holds files.
    """
    of_vertices = {vertex: _files(vertex, value, where) for vertex, value in graph.nodes(data="files")}
    for vertex in set(of_vertices) - set(hosts):
        if of_vertices[vertex]:
            raise InputError(f"{where}: vertex {brief(vertex)} only forwards: files are held by nodes")
    return tuple(of_vertices[vertex] for vertex in hosts)


def _number(vertex: Hashable, name: str, value: Any, where: str) -> float:
    allowed = HARDWARE[name]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not allowed.least <= value <= allowed.most or (allowed.is_whole and value != int(value)):
        raise InputError(f"{where}: vertex {brief(vertex)}: {name} = {brief(value)}: allowed {allowed.words}")
    return int(value) if allowed.is_whole else float(value)


def _files(vertex: Hashable, value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    said = f"{where}: vertex {brief(vertex)}: files = {brief(value)}"
    if isinstance(value, str):
        try:
            return names_of_files(value)
        except ValueError as problem:
            raise InputError(f"{said}: {problem}") from None
    if not isinstance(value, list) or not all(isinstance(name, str) and can_name_a_file(name) for name in value):
        raise InputError(
            f"{said}: allowed a list of names of up to {LONGEST_NAME} letters without ';', or a text \"one;two\""
        )
    if len(set(value)) < len(value):
        raise InputError(f"{said}: a name is there twice")
    return tuple(value)
