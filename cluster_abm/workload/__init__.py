"""Work: jobs by distribution or from traces. Knows nothing of policies."""

from cluster_abm.workload.data import draw_catalogue
from cluster_abm.workload.jobs import job_table, jobs_per_second, phase_table, program_names
from cluster_abm.workload.streams import key

__all__ = ["draw_catalogue", "job_table", "jobs_per_second", "key", "phase_table", "program_names"]
