"""LMIP's T_WC and T_BC by hand: two clusters of two nodes, three files.

Local links 100 MB/s and 1 ms, wide-area ones 10 MB/s and 20 ms. File 0, 100 MB, lies on node 0; file 1, 50 MB, on
nodes 1 and 2; file 2, 30 MB, on node 3. Nodes 0 and 1 are one cluster, nodes 2 and 3 the other.
"""

import numpy as np
import pytest

from cluster_abm.formulas import between_clusters_ms, data_access_ms, transfer_ms, within_cluster_ms

NONE = np.inf
# Time of each file from each of its holders to each node [ms]; a second copy that is not there takes for ever.
TIMES_MS = np.array(
    [
        [[0, 1001, 10020, 10020], [NONE] * 4],
        [[501, 0, 5020, 5020], [5020, 5020, 0, 501]],
        [[3020, 3020, 301, 0], [NONE] * 4],
    ]
)
FIRST, SECOND, NOWHERE = [True, True, False, False], [False, False, True, True], [False] * 4
WITHIN = np.array([[FIRST, NOWHERE], [FIRST, SECOND], [SECOND, NOWHERE]])


def test_a_transfer_takes_its_size_over_the_bandwidth_and_the_latency():
    assert transfer_ms(50.0, 100.0, 1.0) == 501.0
    assert transfer_ms(30.0, 10.0, 20.0) == 3020.0
    assert transfer_ms(0.0, 10.0, 20.0) == 20.0


def test_files_of_the_own_cluster_come_from_its_nearest_holder():
    # Node 0: file 1 from node 1. Node 1: file 0. Nodes 2 and 3: file 2, file 1.
    assert within_cluster_ms(TIMES_MS, WITHIN).tolist() == [501, 1001, 301, 501]


def test_files_of_other_clusters_come_from_the_nearest_of_all():
    assert between_clusters_ms(TIMES_MS, WITHIN).tolist() == [3020, 3020, 10020, 10020]


def test_the_sum_is_least_where_the_large_file_lies():
    assert data_access_ms(TIMES_MS, WITHIN).tolist() == [3521, 4021, 10321, 10521]


def test_a_holder_in_the_cluster_is_taken_although_another_cluster_is_nearer():
    # The paper asks other clusters only for files that its own does not hold.
    times_ms = np.array([[[900.0], [5.0]]])
    within = np.array([[[True], [False]]])
    assert within_cluster_ms(times_ms, within) == 900.0
    assert between_clusters_ms(times_ms, within) == 0.0


@pytest.mark.parametrize("part", [within_cluster_ms, between_clusters_ms, data_access_ms])
def test_no_files_take_no_time(part):
    assert part(np.zeros((0, 1, 3)), np.zeros((0, 1, 3), bool)).tolist() == [0, 0, 0]
