"""Where a job should start by the time to fetch its files: LMIP's initial placement."""

from __future__ import annotations

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.formulas._formula import Number, formula


@formula
def transfer_ms(size_mb: float, mb_per_s: Number, latency_ms: Number) -> Number:
    """Time t to transfer a file along a path [ms]: size/bandwidth + latency; LMIP does not say (settled).

    Args:
        size_mb: size of the file [MB].
        mb_per_s: bandwidth of the path's narrowest link, above 0 [MB/s].
        latency_ms: latency of the path [ms].
    """
    return 1000.0 * size_mb / mb_per_s + latency_ms


@formula
def within_cluster_ms(times_ms: Floats, within: Flags) -> Floats:
    """T_WC [ms]: sum over the files that the node's cluster holds of the least time from a holder in it; LMIP, "For
    Files within a Cluster".

    Args:
        times_ms: time to transfer each file from each of its holders to each node, shape (files, copies, nodes) [ms];
            0 from a node to itself.
        within: whether that holder lies in the node's cluster, shape (files, copies, nodes).

    Returns:
        T_WC of a job on each node, shape (nodes,) [ms].
    """
    total = np.zeros(times_ms.shape[2])
    for file in range(times_ms.shape[0]):
        least = np.full(times_ms.shape[2], np.inf)
        held = np.zeros(times_ms.shape[2], np.bool_)
        for copy in range(times_ms.shape[1]):
            here = within[file, copy]
            least = np.where(here, np.minimum(least, times_ms[file, copy]), least)
            held = held | here
        total = total + np.where(held, least, 0.0)
    return total


@formula
def between_clusters_ms(times_ms: Floats, within: Flags) -> Floats:
    """T_BC [ms]: sum over the files that the node's cluster does not hold of the least time from a cluster that does;
    LMIP, "For Files between Clusters".

    Arguments and result are those of `within_cluster_ms`.
    """
    total = np.zeros(times_ms.shape[2])
    for file in range(times_ms.shape[0]):
        least = np.full(times_ms.shape[2], np.inf)
        held = np.zeros(times_ms.shape[2], np.bool_)
        for copy in range(times_ms.shape[1]):
            least = np.minimum(least, times_ms[file, copy])
            held = held | within[file, copy]
        total = total + np.where(held, 0.0, least)
    return total


@formula
def data_access_ms(times_ms: Floats, within: Flags) -> Floats:
    """T = T_WC + T_BC of a job on each node, shape (nodes,) [ms]: LMIP. Arguments as for `within_cluster_ms`."""
    return within_cluster_ms(times_ms, within) + between_clusters_ms(times_ms, within)
