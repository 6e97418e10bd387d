"""What moving a task costs."""

from __future__ import annotations

from cluster_abm.formulas._formula import Number, formula


@formula
def available_mb_per_s(nominal_mb_per_s: float, delay_share: float) -> float:
    """What is left of a bandwidth for one among others [MB/s], b_net and b_disk "as last measured": IOCM, section 3.2.

    Args:
        nominal_mb_per_s: the bandwidth [MB/s].
        delay_share: by how much the last request, or transfer, took longer than alone, as a share; 0: nominal.
    """
    return nominal_mb_per_s / (1.0 + delay_share)


@formula
def carrying_ms(network_mb_per_s: float, source_disk_mb_per_s: float, target_disk_mb_per_s: float) -> float:
    """Reading a MB from a disk, carrying it and writing it to another [ms/MB], 1/b_net + 1/b_disk(i) + 1/b_disk(k):
    WAL-PM (6), IOCM (3).

    Args:
        network_mb_per_s: bandwidth of the path [MB/s].
        source_disk_mb_per_s, target_disk_mb_per_s: the disks read from and written to [MB/s].
    """
    return 1000.0 * (1.0 / network_mb_per_s + 1.0 / source_disk_mb_per_s + 1.0 / target_disk_mb_per_s)


@formula
def remote_execution_ms(
    fixed_ms: float,
    initial_data_mb: float,
    network_mb_per_s: float,
    source_disk_mb_per_s: float,
    target_disk_mb_per_s: float,
) -> float:
    """Cost of starting an arriving task elsewhere [ms]: WAL-PM (6), IOCM (1) and (3).

    e + d_INIT/b_net + d_INIT/b_disk(i) + d_INIT/b_disk(k).

    Args:
        fixed_ms: fixed cost e [ms].
        initial_data_mb: data that lies on the home node's disk and must follow, d_INIT [MB].
        network_mb_per_s: bandwidth of the path [MB/s]; 1 MB = 8 Mb, 1 Gbps = 1024 Mbps.
        source_disk_mb_per_s, target_disk_mb_per_s: the disks read from and written to [MB/s].
    """
    per_mb_ms = carrying_ms(network_mb_per_s, source_disk_mb_per_s, target_disk_mb_per_s)
    return fixed_ms + initial_data_mb * per_mb_ms


@formula
def written_mb(
    age_ms: Number, io_per_ms: Number, write_share: Number, request_kb: Number, reaccess_rate: Number
) -> Number:
    """Data a task has written to the local disk so far, d_W [MB]: WAL-PM (7), IOCM (4).

    Args:
        age_ms: CPU received so far, a [ms].
        io_per_ms: accesses per ms of CPU, lambda [1/ms].
        write_share: share w of the accesses that write, 0..1.
        request_kb: mean size of an access d_RW [KB].
        reaccess_rate: how often the same data is accessed again, rho_re.
    """
    return age_ms * io_per_ms * write_share * request_kb / (reaccess_rate + 1.0) / 1000.0


@formula
def migration_ms(
    fixed_ms: float,
    memory_mb: Number,
    data_mb: Number,
    network_mb_per_s: float,
    source_disk_mb_per_s: float,
    target_disk_mb_per_s: float,
) -> Number:
    """Cost of migrating a running task [ms]: WAL-PM (6), IOCM (3).

    f + m/b_net + (d_INIT + d_W) (1/b_net + 1/b_disk(i) + 1/b_disk(k)).

    Args:
        fixed_ms: fixed cost f [ms].
        memory_mb: memory image, what the task has allocated, m [MB].
        data_mb: initial data and what it has written, d_INIT + d_W [MB]; write-only snapshots need not move.
        network_mb_per_s: bandwidth of the path [MB/s].
        source_disk_mb_per_s, target_disk_mb_per_s: the disks read from and written to [MB/s].
    """
    per_mb_ms = carrying_ms(network_mb_per_s, source_disk_mb_per_s, target_disk_mb_per_s)
    return fixed_ms + 1000.0 * memory_mb / network_mb_per_s + data_mb * per_mb_ms


@formula
def moving_ms(
    is_running: bool,
    remote_execution_fixed_ms: float,
    migration_fixed_ms: float,
    memory_mb: float,
    initial_data_mb: float,
    written_mb: float,
    network_mb_per_s: float,
    source_disk_mb_per_s: float,
    target_disk_mb_per_s: float,
) -> float:
    """Cost c_j of moving a task [ms], WAL-PM (6): `migration_ms` if it is running, `remote_execution_ms` if it is not.

    Arguments are those of the two, the data that a running task has written, d_W, apart.
    """
    if not is_running:
        return remote_execution_ms(
            remote_execution_fixed_ms, initial_data_mb, network_mb_per_s, source_disk_mb_per_s, target_disk_mb_per_s
        )
    return migration_ms(
        migration_fixed_ms, memory_mb, initial_data_mb + written_mb, network_mb_per_s, source_disk_mb_per_s,
        target_disk_mb_per_s,
    )  # fmt: skip


@formula
def migration_cost_effectiveness(age_ms: float, io_per_ms: float, cost_ms: float) -> float:
    """I/O load migrated per unit of cost, MCE(j) = a lambda / c [1/ms]: WAL-PM, section 4, (8).

    0 for a task of age 0: read literally, it is chosen only when no other task is eligible.

    Args:
        age_ms: CPU received so far, a [ms]; with remaining CPU instead it is an extension of ours.
        io_per_ms: accesses per ms of CPU, lambda [1/ms].
        cost_ms: migration cost c [ms].
    """
    return age_ms * io_per_ms / cost_ms
