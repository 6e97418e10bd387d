"""Max-min fair rates of flows that share links (Bertsekas and Gallager 1992, section 6.5.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Floats, Integers


def max_min_rates(capacities: npt.ArrayLike, paths: Sequence[Sequence[int]]) -> Floats:
    """Rates of which none can grow without a smaller or equal one falling.

    Args:
        capacities: of each link, shape (links,), above 0.
        paths: of each flow, the numbers of the links that it crosses, each at most once.

    Returns:
        Rates in the unit of the capacities, shape (flows,); infinite for a flow that crosses no link.
    """
    lengths = np.fromiter(map(len, paths), np.int64, len(paths))
    links = np.fromiter((number for path in paths for number in path), np.int64, int(lengths.sum()))
    return rates_of_crossings(np.asarray(capacities, float), lengths, links)


def rates_of_crossings(capacities: Floats, lengths: Integers, links: Integers) -> Floats:
    """Return the same rates, of paths that stand one behind the other in one array.

    Progressive filling, at every place at once: if a link's fair share is the least of all shares on the paths of its
    flows, it stays their bottleneck, whatever happens elsewhere, so they get that share and leave. The usual form fills
    one link after another; here there are as many rounds as bottlenecks that depend on each other. Rates depend on
    nothing but the flows and links that are connected, to the last bit.

    Args:
        capacities: of each link, shape (links,).
        lengths: number of links that each flow crosses, shape (flows,).
        links: which ones, first the first flow's, shape (crossings,).
    """
    rates = np.full(len(lengths), np.inf)
    used, link = np.unique(links, return_inverse=True)
    left = capacities[used]
    flow = np.flatnonzero(lengths)
    lengths = lengths[flow]
    while len(flow):
        share = left / np.maximum(1, np.bincount(link, minlength=len(used)))
        met = share[link]
        least = np.minimum.reduceat(met, lengths.cumsum() - lengths)
        least_of_link = np.full(len(used), np.inf)
        np.minimum.at(least_of_link, link, np.repeat(least, lengths))
        is_bottleneck = least_of_link >= share
        fixed = np.logical_or.reduceat(is_bottleneck[link], lengths.cumsum() - lengths)
        rates[flow[fixed]] = least[fixed]
        leaves = np.repeat(fixed, lengths)
        left -= np.bincount(link[leaves], np.repeat(least[fixed], lengths[fixed]), minlength=len(used))
        flow, lengths, link = flow[~fixed], lengths[~fixed], link[~leaves]
    return rates
