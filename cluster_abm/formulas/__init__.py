"""The papers' equations: pure functions of numbers, units in the names, the source in each docstring.

Short names of the papers: WAL-PM, IOCM, IOLB, LMIP, MCLS (docs/papers/index.md). 1 MB = 1000 KB.
"""

from cluster_abm.formulas.buffer import (
    buffer_beside_kb,
    buffer_share_kb,
    controlled_growth_kb,
    data_kb,
    explicit_io_per_ms,
    hit_rate,
)
from cluster_abm.formulas.capacity import relative_capacity, relative_load
from cluster_abm.formulas.cores import others_per_core, sharing, tasks_per_core
from cluster_abm.formulas.cost import (
    available_mb_per_s,
    migration_cost_effectiveness,
    migration_ms,
    moving_ms,
    remote_execution_ms,
    written_mb,
)
from cluster_abm.formulas.data_access import between_clusters_ms, data_access_ms, transfer_ms, within_cluster_ms
from cluster_abm.formulas.disk import disk_response_ms, disk_work_ms, service_ms
from cluster_abm.formulas.fairness import jain_index
from cluster_abm.formulas.imbalance import load_imbalance_factor, load_imbalance_factors
from cluster_abm.formulas.load import cpu_share, disk_share, io_load_ms, narrows_the_gap, weighted_load
from cluster_abm.formulas.load_class import ClassThresholds, class_thresholds, load_class, load_classes
from cluster_abm.formulas.memory import node_faults_per_ms, page_faults_per_ms, page_load_ms
from cluster_abm.formulas.oversize import (
    activity_weight,
    allocation_faults,
    even_faults,
    is_less_oversized,
    oversize,
    paging_rate_per_s,
)
from cluster_abm.formulas.power import energy_j
from cluster_abm.formulas.relaxation import relaxation_s
from cluster_abm.formulas.response import (
    closed_response_ms,
    cpu_response_ms,
    mg1_response_ms,
    mgq_response_ms,
    open_disk,
)
from cluster_abm.formulas.scores import (
    least_allocated_score,
    most_allocated_score,
    risk_score,
    target_load_score,
    whole_score,
)
from cluster_abm.formulas.slowdown import bounded_slowdown, isolated_faults, slowdown
from cluster_abm.formulas.sums import total
from cluster_abm.formulas.waiting import erlang_c, wait_at_servers_ms

__all__ = [
    "ClassThresholds", "activity_weight", "allocation_faults", "available_mb_per_s", "between_clusters_ms",
    "bounded_slowdown",
    "buffer_beside_kb", "buffer_share_kb", "class_thresholds", "closed_response_ms", "controlled_growth_kb",
    "cpu_response_ms", "cpu_share", "data_access_ms", "data_kb", "disk_response_ms", "disk_share", "disk_work_ms",
    "energy_j", "erlang_c", "even_faults", "explicit_io_per_ms", "hit_rate", "io_load_ms", "is_less_oversized",
    "isolated_faults", "jain_index", "least_allocated_score", "load_class", "load_classes", "load_imbalance_factor",
    "load_imbalance_factors", "mg1_response_ms", "mgq_response_ms", "migration_cost_effectiveness", "migration_ms",
    "most_allocated_score", "moving_ms", "narrows_the_gap", "node_faults_per_ms", "open_disk", "others_per_core",
    "oversize", "page_faults_per_ms", "page_load_ms", "paging_rate_per_s", "relative_capacity", "relative_load",
    "relaxation_s", "remote_execution_ms", "risk_score", "service_ms", "sharing", "slowdown", "target_load_score",
    "tasks_per_core",
    "total", "transfer_ms", "wait_at_servers_ms", "weighted_load", "whole_score", "within_cluster_ms", "written_mb",
]  # fmt: skip
