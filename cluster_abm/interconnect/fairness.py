"""Max-min fair rates of flows that share links (Bertsekas and Gallager 1992, section 6.5.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


def max_min_rates(capacities: npt.ArrayLike, paths: Sequence[Sequence[int]]) -> Floats:
    """Rates of which none can grow without a smaller or equal one falling.

    Args:
        capacities: of each link, shape (links,), above 0.
        paths: of each flow, the numbers of the links that it crosses, each at most once.

    Returns:
        Rates in the unit of the capacities, shape (flows,); infinite for a flow that crosses no link.
    """
    lengths = np.fromiter(map(len, paths), np.int64, len(paths))
    link = np.fromiter((number for path in paths for number in path), np.int64, int(lengths.sum()))
    return rates_of_crossings(
        np.asarray(capacities, float), np.repeat(np.arange(len(paths)), lengths), link, len(paths)
    )


def rates_of_crossings(capacities: Floats, flow: Integers, link: Integers, flows: int) -> Floats:
    """The same, of flows given by their crossings.

    Progressive filling, at every place at once: a link whose fair share is the least of all shares that its flows meet
    on their ways will stay their bottleneck, whatever happens elsewhere, so they get that share and leave. The usual
    form fills one link after another; here the rounds are as many as bottlenecks that wait for each other. Rates depend
    on nothing but the flows and links that are connected, to the last bit.

    Args:
        capacities: of each link, shape (links,).
        flow: which flow crosses, shape (crossings,), ascending.
        link: the link that it crosses, shape (crossings,).
        flows: number of flows.
    """
    rates = np.full(flows, np.inf)
    used, link = np.unique(link, return_inverse=True)
    left = capacities[used]
    while len(flow):
        share = left / np.maximum(1, np.bincount(link, minlength=len(used)))
        met = share[link]
        first = np.flatnonzero(np.diff(flow, prepend=-1))
        least = np.repeat(np.minimum.reduceat(met, first), np.diff(first, append=len(flow)))
        least_of_link = np.full(len(used), np.inf)
        np.minimum.at(least_of_link, link, least)
        fixed_here = least_of_link[link] >= met
        rates[flow[fixed_here]] = met[fixed_here]
        fixed = np.isfinite(rates[flow])
        left -= np.bincount(link[fixed], weights=rates[flow[fixed]], minlength=len(used))
        flow, link = flow[~fixed], link[~fixed]
    return rates
