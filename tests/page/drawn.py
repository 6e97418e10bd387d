"""Stand-ins for networks, frames and runs, and functions that read drawn pictures."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np

from cluster_abm.interconnect import Network
from cluster_abm.model import Frame
from cluster_abm.model.deciding.decisions import DecisionRecord
from cluster_abm.results.load_scale import LoadScale
from cluster_abm.scenario.interconnect import Interconnect
from viz.colours import INDICES, LIGHTEST, rgb
from viz.network import map_of

# Approximate width of a letter of 11 pixels.
LETTER = 6.2


def network(kind="torus", nodes=4, **keys):
    """A network of this kind."""
    return Network(Interconnect(kind=kind, **keys), nodes)


def mapped(net, width=600.0, height=400.0, cores=None):
    """The map of a network; by default each node has one core."""
    return map_of(net, width, height, np.ones(net.nodes, int) if cores is None else np.array(cores))


def frame(nodes=4, **more):
    """A frame of idle nodes; `more` changes its fields."""
    idle = {
        "now_ms": 0.0, "running": True, "tasks": np.zeros(nodes), "up": np.ones(nodes, bool), "moves": (),
        "loads": {name: np.zeros(nodes) for name in INDICES}, "decisions": (), "cpu_utilisation": 0.0,
        "disk_utilisation": 0.0, "mean_slowdown": math.nan, "lif_ms": 0.0,
        "jobs": dict.fromkeys(("submitted", "running", "finished", "killed", "lost", "blocked"), 0),
        "totals": dict.fromkeys(
            ("migrations", "remote_executions", "refused_offers", "disk_requests", "page_faults"), 0
        ),
    }  # fmt: skip
    return Frame(**(idle | more))


def decision(source=0, target=1, **more):
    """An accepted offer without numbers; `more` changes its fields."""
    plain = {
        "time_ms": 1000.0, "task": 7, "job": 3, "rule": "a rule", "index": "", "task_load": math.nan,
        "load_here": math.nan, "load_there": math.nan, "response_here_ms": math.nan, "response_there_ms": math.nan,
        "cost_ms": math.nan, "mce": math.nan, "accepted": True, "reason": "",
    }  # fmt: skip
    return DecisionRecord(**(plain | {"source": source, "target": target} | more))


def run_of(*frames, policy="jsq", times_s=None, net=None, scale=None):
    """Stands in for a run with these frames, the newest last."""
    net = net or network()
    times_s = list(times_s or [one.now_ms / 1000 for one in frames])
    return SimpleNamespace(
        model=SimpleNamespace(policy_name=policy, network=net), frame=frames[-1], map=mapped(net), per_core=False,
        times_s=times_s, series=lambda name: [float(getattr(one, name)) for one in frames],
        column=lambda index: np.array([one.loads[index] for one in frames]),
        scale=lambda index: scale or LoadScale(2.0), resize=lambda width, height: None,
    )  # fmt: skip


def colour_at(index, share):
    """Red, green and blue of a load's colour: 0 is the lightest one, 1 the full one, evenly between them."""
    light, full = rgb(LIGHTEST), rgb(INDICES[index].colour)
    return [a + share * (b - a) for a, b in zip(light, full, strict=True)]


def read(markup):
    """Markup as elements."""
    return ET.fromstring(f"<div>{markup}</div>")


def of_class(picture, name):
    """The elements of a class."""
    return [one for one in picture.iter() if name in one.get("class", "").split()]


def number(one, *names):
    """Attributes of an element as numbers."""
    found = [float(one.get(name)) for name in names]
    return found if len(names) > 1 else found[0]


def numbers(text):
    """All numbers in a text, in their order."""
    return [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", text)]


def pairs(path):
    """The points that the numbers of a path or polygon name."""
    found = numbers(path)
    return list(zip(found[::2], found[1::2], strict=True))


def span(one):
    """Left and right end of an element of a legend. A text begins at its x."""
    if one.tag == "circle":
        x, radius = number(one, "cx", "r")
        return x - radius, x + radius
    if one.tag == "rect":
        x, width = number(one, "x", "width")
        return x, x + width
    if one.tag == "text":
        return number(one, "x"), number(one, "x") + LETTER * len(one.text)
    xs = [x for x, _ in pairs(one.get("points"))]
    return min(xs), max(xs)
