"""The elements of a platform, one after another."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_EDGES, brief
from cluster_abm.graphs.simgrid.clusters import add_fat_tree, add_star, add_torus, note_fatpipes, numbers_in
from cluster_abm.graphs.simgrid.platform import FATPIPE, SHARED, SPLIT, Link, Platform, Route
from cluster_abm.graphs.simgrid.units import gflops_of, mbps_of, ms_of
from cluster_abm.graphs.xml_documents import local_name

ROUTINGS = ("Full", "Floyd", "Dijkstra", "DijkstraCache", "Cluster", "None")
POLICIES = (SHARED, *SPLIT, FATPIPE)
SYMMETRICAL = {"YES": True, "NO": False, "yes": True, "no": False}
# What changes nothing of the network, and is counted.
LEFT_OUT = (
    "config", "prop", "disk", "storage", "storage_type", "mount", "process", "actor", "random", "model_prop",
)  # fmt: skip
OF_TIME = "what changes over time is not read: failures go into failures.file"
REFUSED = {
    "include": "nothing outside of the file is read: put what it includes into the file",
    "trace": OF_TIME,
    "trace_connect": OF_TIME,
    "peer": "its latencies are distances of coordinates: allowed: <host> with routes, or <cluster>",
    **dict.fromkeys(
        ("bypassroute", "bypassasroute", "bypasszoneroute"),
        "routes lead over the least latency, and none is an exception",
    ),
}
CHANGING = (
    "speed_file", "availability_file", "state_file", "bandwidth_file", "latency_file", "availability_trace",
    "state_trace", "speed_trace", "bandwidth_trace", "latency_trace",
)  # fmt: skip
Element = ElementTree.Element


def platform_of(root: Element, where: str) -> Platform:
    """The platform of which this is the outermost element.

    Raises InputError: no version 4; a name that is there twice, or not at all; a number without a meaning; an element
    whose effect would be lost.
    """
    platform = Platform(where)
    version = root.get("version", "0")
    if version.split(".")[0] != "4":
        raise InputError(
            f"{where}: <platform version = {brief(version)}>: allowed 4, 4.1 and so on (simgrid_update_xml rewrites "
            "older files)"
        )
    zones: dict[str, str] = {}
    for child in root:
        _read_part(child, platform, "", zones)
    _check_routes(platform)
    return platform


def _read_part(element: Element, platform: Platform, zone: str, zones: dict[str, str]) -> None:
    """Read an element of a zone, and all in it."""
    tag = local_name(element).lower() if isinstance(element.tag, str) else "prop"
    if tag in REFUSED:
        raise InputError(f"{platform.where}: <{local_name(element)}>: {REFUSED[tag]}")
    if tag in LEFT_OUT:
        platform.left_out[tag] += 1
        return
    for name in CHANGING:
        if element.get(name):
            raise InputError(f"{_named(element, platform)}: {name} = {brief(element.get(name))}: {OF_TIME}")
    if tag in ("zone", "as"):
        _read_zone(element, platform, zones)
    elif tag in _READERS:
        _READERS[tag](element, platform, zone)
    else:
        raise InputError(
            f"{platform.where}: <{local_name(element)[:40]}>: allowed: zone, host, router, link, route, zoneRoute, "
            "cluster, cabinet, backbone and host_link"
        )


def _read_zone(element: Element, platform: Platform, zones: dict[str, str]) -> None:
    name, routing = _get(element, "id", platform), _get(element, "routing", platform)
    if name in zones:
        raise InputError(f"{platform.where}: zone {brief(name)}: there are two of this id")
    zones[name] = routing
    if routing not in ROUTINGS:
        raise InputError(
            f"{_named(element, platform)}: routing = {brief(routing)}: allowed {', '.join(ROUTINGS)}: others find "
            "their latencies in coordinates, or share a medium"
        )
    if routing == "Cluster":
        _read_cluster_zone(element, platform, name, zones)
        return
    for child in element:
        _read_part(child, platform, name, zones)


def _read_cluster_zone(element: Element, platform: Platform, zone: str, zones: dict[str, str]) -> None:
    """Hosts with a link each, at a router or a backbone."""
    hosts: list[tuple[str, Link]] = []
    routers, backbone, joins = [], None, []
    for child in element:
        tag = local_name(child).lower() if isinstance(child.tag, str) else "prop"
        if tag == "host_link":
            joins.append(child)
        elif tag == "backbone":
            backbone = _link_of(child, platform, ("bandwidth", "latency"), SHARED)
        elif tag == "cabinet":
            hosts += _hosts_of(child, platform, zone)
        else:
            if tag == "router":
                routers.append(_get(child, "id", platform))
            _read_part(child, platform, zone, zones)
    for child in joins:
        host = _get(child, "id", platform)
        ways = [
            _known_link(_get(child, way, platform), platform, f"<host_link id = {brief(host)}>")
            for way in ("up", "down")
        ]
        up, down = (platform.links[name] for name in ways)
        platform.of_hosts.update(dict.fromkeys(ways, 1))
        if host not in platform.vertices:
            raise InputError(f"{platform.where}: <host_link id = {brief(host)}>: there is no such host")
        if not up.is_like(down):
            raise InputError(
                f"{platform.where}: <host_link id = {brief(host)}>: up and down differ: links must be alike in both "
                "directions"
            )
        hosts.append((host, up if ways[0] == ways[1] else up.with_back(down)))
    if len(routers) > 1:
        raise InputError(f"{platform.where}: zone {brief(zone)}: {len(routers)} routers: allowed is one")
    add_star(platform, zone, hosts, routers[0] if routers else None, backbone)


def _read_host(element: Element, platform: Platform, zone: str) -> None:
    name = _get(element, "id", platform)
    platform.add_vertex(name, **_hardware_of(element, platform), cluster=zone)
    for child in element:
        platform.left_out[local_name(child).lower()] += 1


def _read_router(element: Element, platform: Platform, _: str) -> None:
    platform.add_vertex(_get(element, "id", platform), kind="switch")


def _read_link(element: Element, platform: Platform, _: str) -> None:
    name = _get(element, "id", platform)
    if name in platform.links:
        raise InputError(f"{platform.where}: link {brief(name)}: there are two of this id")
    if len(platform.links) == MOST_EDGES:
        raise InputError(f"{platform.where}: more than {MOST_EDGES:,} links: allowed up to that many")
    platform.links[name] = _link_of(element, platform, ("bandwidth", "latency"), SHARED)


def _read_route(element: Element, platform: Platform, _: str) -> None:
    """A route between two vertices, or between zones, of which it names the gateways."""
    ends = ("src", "dst") if local_name(element).lower() == "route" else ("gw_src", "gw_dst")
    source, target = (_get(element, end, platform) for end in ends)
    links = tuple(_get(child, "id", platform) for child in element if local_name(child).lower() == "link_ctn")
    said = element.get("symmetrical") or "YES"
    if said not in SYMMETRICAL:
        raise InputError(
            f"{platform.where}: <{local_name(element)}> {Route(source, target, links)}: symmetrical = {brief(said)}: "
            f"allowed {', '.join(SYMMETRICAL)}"
        )
    platform.routes.append(Route(source, target, links, SYMMETRICAL[said]))


def _read_cluster(element: Element, platform: Platform, _: str) -> None:
    name, topology = _get(element, "id", platform), element.get("topology", "FLAT")
    hosts = _hosts_of(element, platform, name)
    what = f"{_named(element, platform)}: topo_parameters"
    if topology not in ("FLAT", "TORUS", "FAT_TREE"):
        raise InputError(
            f"{_named(element, platform)}: topology = {brief(topology)}: allowed FLAT, TORUS, FAT_TREE; "
            'interconnect.kind = "dragonfly" makes a dragonfly'
        )
    if element.get("limiter_link"):
        raise InputError(
            f"{_named(element, platform)}: limiter_link: a limit on all that a host sends and receives is not read"
        )
    if topology == "FLAT":
        router = element.get("router_id") or f"{element.get('prefix', '')}{name}_router{element.get('suffix', '')}"
        platform.add_vertex(router, kind="switch")
        backbone = None
        if element.get("bb_bw"):
            backbone = _link_of(element, platform, ("bb_bw", "bb_lat"), SHARED)
        add_star(platform, name, hosts, router, backbone)
        return
    names, link = [host for host, _ in hosts], hosts[0][1]
    if topology == "TORUS":
        add_torus(platform, names, element.get("topo_parameters", ""), link, what)
    else:
        add_fat_tree(platform, name, names, element.get("topo_parameters", ""), link, what)


def _hosts_of(element: Element, platform: Platform, zone: str) -> list[tuple[str, Link]]:
    """The hosts that a <cluster> or <cabinet> stands for, each with its own link."""
    link = _link_of(element, platform, ("bw", "lat"), SPLIT[0])
    note_fatpipes(platform, zone, link.policy)
    prefix, suffix = element.get("prefix", ""), element.get("suffix", "")
    numbers = numbers_in(_get(element, "radical", platform), f"{_named(element, platform)}: radical")
    hardware = _hardware_of(element, platform, len(numbers))
    for child in element:
        platform.left_out[local_name(child).lower()] += 1
    names = [f"{prefix}{number}{suffix}" for number in numbers]
    for name in names:
        platform.add_vertex(name, **hardware, cluster=zone)
    return [(name, link) for name in names]


def _unasked(element: Element, platform: Platform, _: str) -> None:
    raise InputError(f'{_named(element, platform)}: allowed in a zone of routing "Cluster" alone')


_READERS: dict[str, Callable[[Element, Platform, str], None]] = {
    "host": _read_host, "router": _read_router, "link": _read_link, "route": _read_route, "zoneroute": _read_route,
    "asroute": _read_route, "cluster": _read_cluster, "cabinet": _unasked, "backbone": _unasked,
    "host_link": _unasked,
}  # fmt: skip


def _hardware_of(element: Element, platform: Platform, hosts: int = 1) -> dict[str, Any]:
    """Speed in Gflop/s, of the p-state that it begins in, and cores."""
    what = f"{_named(element, platform)}: "
    speeds = _get(element, "speed", platform).split(",")
    state, cores = element.get("pstate") or "0", element.get("core") or "1"
    at = float(state) if state.replace(".", "", 1).isdecimal() else -1.0
    if not 0 <= at < len(speeds) or at != int(at):
        raise InputError(f"{what}pstate = {brief(state)}: allowed a whole number from 0 to {len(speeds) - 1}")
    if not cores.isascii() or not cores.isdecimal() or len(cores) > 9:
        raise InputError(f"{what}core = {brief(cores)}: allowed a whole number above 0")
    platform.several_speeds += hosts if len(speeds) > 1 else 0
    return {"cpu_speed": gflops_of(speeds[int(at)], f"{what}speed"), "cores": int(cores)}


def _link_of(element: Element, platform: Platform, names: tuple[str, str], policy: str) -> Link:
    """A link by two attributes of an element, and its sharing policy, which is `policy` where it says none."""
    what = f"{_named(element, platform)}: "
    given = element.get("bb_sharing_policy" if names[0] == "bb_bw" else "sharing_policy") or policy
    if given not in POLICIES:
        raise InputError(f"{what}sharing_policy = {brief(given)}: allowed {', '.join(POLICIES)}")
    return Link(
        mbps_of(_get(element, names[0], platform), what + names[0]),
        ms_of(element.get(names[1]) or "0", what + names[1]),
        given,
    )


def _known_link(name: str, platform: Platform, what: str) -> str:
    """The name of a link, also where one of its directions is named. Raises InputError: there is none."""
    if name in platform.links:
        return name
    whole, _, direction = name.rpartition("_")
    if direction in ("UP", "DOWN") and whole in platform.links and platform.links[whole].policy in SPLIT:
        return whole
    raise InputError(f"{platform.where}: {what}: there is no link {brief(name)}")


def _check_routes(platform: Platform) -> None:
    """Raise InputError for a route between what is not there, over what is not there, or twice over the same."""
    for number, route in enumerate(platform.routes):
        for end in (route.source, route.target):
            if end not in platform.vertices:
                raise InputError(f"{platform.where}: route {route}: there is no host or router {brief(end)}")
        links = tuple(_known_link(link, platform, f"route {route}") for link in route.links)
        platform.routes[number] = route._replace(links=links)
        if len(set(links)) < len(links):
            raise InputError(f"{platform.where}: route {route}: a link is there twice")


def _get(element: Element, name: str, platform: Platform) -> str:
    """An attribute that has to be there. Raises InputError: it is not, or is empty."""
    value = element.get(name)
    if not value:
        raise InputError(f"{_named(element, platform)}: {name} is missing")
    return value


def _named(element: Element, platform: Platform) -> str:
    """The file and the element, for messages."""
    name = element.get("id")
    return f"{platform.where}: <{local_name(element)}{f' id = {brief(name)}' if name else ''}>"
