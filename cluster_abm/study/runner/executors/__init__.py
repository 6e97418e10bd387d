"""Where runs are carried out: in this process, on others, on a Dask cluster, under Slurm; one interface for all."""

from cluster_abm.study.runner.executors.base import TRIES_AFTER_LOSS, BatchExecutor, WorkerLost
from cluster_abm.study.runner.executors.opening import check_options, open_executor

__all__ = ["TRIES_AFTER_LOSS", "BatchExecutor", "WorkerLost", "check_options", "open_executor"]
