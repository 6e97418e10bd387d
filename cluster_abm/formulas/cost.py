"""What moving a task costs."""

from __future__ import annotations

from cluster_abm.formulas._formula import formula


@formula
def remote_execution_ms(
    fixed_ms: float,
    initial_data_mb: float,
    network_mb_per_s: float,
    source_disk_mb_per_s: float,
    target_disk_mb_per_s: float,
) -> float:
    """Cost of starting a newcomer elsewhere [ms]: WAL-PM (6), IOCM (1) and (3).

    e + d_INIT/b_net + d_INIT/b_disk(i) + d_INIT/b_disk(k).

    Args:
        fixed_ms: fixed cost e [ms].
        initial_data_mb: data that lies on the home node's disk and must follow, d_INIT [MB].
        network_mb_per_s: bandwidth of the path [MB/s]; 1 MB = 8 Mb, 1 Gbps = 1024 Mbps.
        source_disk_mb_per_s, target_disk_mb_per_s: the disks read from and written to [MB/s].
    """
    per_mb_ms = 1000.0 * (1.0 / network_mb_per_s + 1.0 / source_disk_mb_per_s + 1.0 / target_disk_mb_per_s)
    return fixed_ms + initial_data_mb * per_mb_ms
