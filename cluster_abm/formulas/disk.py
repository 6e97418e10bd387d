"""How long the disk serves one request, and what waits for a disk that serves several at once."""

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


@formula
def disk_work_ms(service_ms: float, transfer_ms: float, channels: float) -> float:
    """How long a disk is kept from other requests [ms], max(service/q, transfers): q seek at once, one transfers.

    Args:
        service_ms: seek and transfer of the requests together [ms].
        transfer_ms: the transfers among it [ms].
        channels: requests that the disk's device takes at once, q.
    """
    return max(service_ms / channels, transfer_ms)


@formula
def disk_response_ms(service_ms: float, transfer_ms: float, others: float, channels: float) -> float:
    """Requests of a task at a disk where others wait [ms]: max((s + x) max(1, (1 + O)/q), s + x (1 + O)).

    What holds them up is either the channels or the bus. On one channel it is (s + x)(1 + O).

    Args:
        service_ms: seek and transfer of its requests together, s + x [ms].
        transfer_ms: the transfers among it, x [ms].
        others: other tasks expected at the disk, O.
        channels: requests that the disk's device takes at once, q.
    """
    if channels <= 1.0:
        return service_ms * (1.0 + others)
    by_channels = service_ms * max(1.0, (1.0 + others) / channels)
    return max(by_channels, service_ms - transfer_ms + transfer_ms * (1.0 + others))
