"""How large nodes are drawn: by their tasks per core, or by their cores where these differ."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cluster_abm.arrays import Floats

# Surface of the smallest node, as a share of the largest one's: it is still seen.
LEAST_SHARE = 1.0 / 16.0
MOST_IN_LEGEND = 3


def are_unlike(cores: npt.ArrayLike) -> bool:
    """Whether nodes differ in their cores.

    >>> are_unlike([1, 8, 8]), are_unlike([8, 8]), are_unlike([])
    (True, False, False)
    """
    counts = np.asarray(cores)
    return bool(counts.size and (counts != counts[0]).any())


def shares_by_cores(cores: npt.ArrayLike) -> Floats:
    """The surface of each node as a share of the largest one's: that of its cores, at least LEAST_SHARE.

    >>> shares_by_cores([1, 8, 64])
    array([0.0625, 0.125 , 1.    ])
    """
    counts = np.asarray(cores, float)
    return np.maximum(LEAST_SHARE, counts / counts.max())


def shown_in_legend(cores: npt.ArrayLike) -> list[tuple[str, float]]:
    """Some of the sizes that nodes have, least to largest: words and share of the largest surface each.

    >>> shown_in_legend([8, 1, 64, 8, 2])
    [('1 core', 0.0625), ('8 cores', 0.125), ('64 cores', 1.0)]
    """
    distinct = np.unique(np.asarray(cores, int))
    chosen = distinct
    if len(distinct) > MOST_IN_LEGEND:
        chosen = distinct[[0, len(distinct) // 2, len(distinct) - 1]]
    shares = shares_by_cores(distinct)[np.searchsorted(distinct, chosen)]
    words = [f"{count} core{'' if count == 1 else 's'}" for count in chosen.tolist()]
    return list(zip(words, shares.tolist(), strict=True))
