"""Which nodes hold the files that have places of their own."""

from __future__ import annotations

from collections.abc import Sequence

from cluster_abm.errors import InputError
from cluster_abm.interconnect.network import Network
from cluster_abm.scenario import nearest
from cluster_abm.scenario.data import PlacedFile

FIELD = "data.file"


def named_places(network: Network) -> dict[str, list[int]]:
    """The nodes at each place that has a name, ascending.

    Names are those of a file's vertices, of its clusters, and "cluster 0", "cluster 1" ... by number; where two are the
    same, the first of these.
    """
    places: dict[str, list[int]] = {}
    for node, cluster in enumerate(network.cluster_of.tolist()):
        places.setdefault(f"cluster {cluster}", []).append(node)
    for names in (network.cluster_names, map(str, network.vertices)):
        found: dict[str, list[int]] = {}
        for node, name in enumerate(names):
            found.setdefault(name, []).append(node)
        places |= found
    return places


def holders_of(files: Sequence[PlacedFile], network: Network) -> list[tuple[int, ...]]:
    """The nodes that hold each file: those that `at` names in its order, then those that name the file, ascending.

    Of a place with several nodes one holds the copy. They take turns, in the order of the files: so the files of a
    cluster spread over it, and the same scenario has them on the same nodes whatever the seed.

    Raises InputError: no such place, a number that is a node's and another one's vertex, a file without any place, a
    vertex's file that has no size; all problems at once.

    Args:
        files: the scenario's `data.file`.
        network: whose vertices may name files, too.
    """
    places = named_places(network)
    turn = dict.fromkeys(places, 0)
    called = list(map(str, network.vertices))
    vertices = set(called)
    held: dict[str, list[int]] = {one.name: [] for one in files}
    problems: list[str] = []
    for number, one in enumerate(files):
        for place in one.at:
            if isinstance(place, str) and place not in places:
                hint = nearest(place[:100], list(places))
                problems.append(f"{FIELD}.{number}.at {place!r}: file {one.name!r}: no such cluster or vertex; {hint}")
                continue
            if isinstance(place, int) and str(place) in vertices and called[place] != str(place):
                problems.append(
                    f"{FIELD}.{number}.at {place}: file {one.name!r}: node {place} is at vertex {called[place]!r}, and "
                    f'there is a vertex {place}, too: write "{place}" for that, "{called[place]}" for the node\'s'
                )
                continue
            node = place if isinstance(place, int) else places[place][turn[place] % len(places[place])]
            if isinstance(place, str):
                turn[place] += 1
            held[one.name].append(node)
    for node, names in enumerate(network.files_of_nodes):
        for name in names:
            if name in held:
                held[name].append(node)
            else:
                hint = nearest(name[:100], list(held)) if held else "there is none"
                vertex = network.vertices[node]
                problems.append(f"vertex {vertex!r}: files {name!r}: no [[{FIELD}]] of this name says its size; {hint}")
    for number, one in enumerate(files):
        if not held[one.name] and not problems:
            problems.append(f"{FIELD}.{number}.at: file {one.name!r} lies nowhere: name a node, a cluster or a vertex")
    if problems:
        raise InputError(problems)
    return [tuple(dict.fromkeys(held[one.name])) for one in files]
