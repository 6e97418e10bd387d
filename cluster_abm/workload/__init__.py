"""Work: jobs by distribution or from traces. Knows nothing of policies."""

from cluster_abm.workload.background import background_table
from cluster_abm.workload.data import catalogue_of
from cluster_abm.workload.generators import key
from cluster_abm.workload.homes import homes_of
from cluster_abm.workload.jobs import RunJobs, have_users, job_table, jobs_per_second, program_names, work_of
from cluster_abm.workload.laws.bound import bound_ms, with_bound
from cluster_abm.workload.offered import OfferedLoad, offered_load
from cluster_abm.workload.users import are_closed

__all__ = [
    "OfferedLoad", "RunJobs", "are_closed", "background_table", "bound_ms", "catalogue_of", "have_users", "homes_of",
    "job_table", "jobs_per_second", "key", "offered_load", "program_names", "with_bound", "work_of",
]  # fmt: skip
