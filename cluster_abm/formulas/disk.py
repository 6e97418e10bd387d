"""How long the disk serves one request."""

from __future__ import annotations

from cluster_abm.formulas._formula import formula


@formula
def service_ms(size_kb: float, seek_rotation_ms: float, disk_mb_per_s: float) -> float:
    """Service time t_IO of one disk request [ms]: IOLB (6), WAL-PM (19)-(20).

    Args:
        size_kb: data moved by the request [KB].
        seek_rotation_ms: seek time and rotational latency together [ms].
        disk_mb_per_s: transfer rate [MB/s], which is KB/ms.
    """
    return seek_rotation_ms + size_kb / disk_mb_per_s
