"""Policies, a paper or a family a file; and the names with which one is written, found and made.

A new policy is one file here: it is found by its name (policy/finding/registry.py).
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from cluster_abm.old_names import MovedModules
from cluster_abm.policy import load
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.bidding import Bidding
from cluster_abm.policy.bounds import BOUNDS
from cluster_abm.policy.data import DataMap
from cluster_abm.policy.finding.naming import AnyPolicy
from cluster_abm.policy.finding.registry import (
    admit,
    available,
    check_parameters,
    choice_of,
    class_of,
    create,
    describe,
    files_of,
    is_pooled,
    name_of,
    reference_of,
    register,
    sources_of,
)
from cluster_abm.policy.kinds import Holding, Migrating
from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.parts.bids import Announced, Bid, CallForBids
from cluster_abm.policy.talking import Ended, Message, Post, Talking
from cluster_abm.policy.view import ArrivingTask, Candidate, Hardware, Paths, View
from cluster_abm.policy.waiting import WaitingJobs

__all__ = [
    "BOUNDS",
    "Announced",
    "AnyPolicy",
    "ArrivingTask",
    "Bid",
    "Bidding",
    "CallForBids",
    "Candidate",
    "DataMap",
    "Decision",
    "Ended",
    "Hardware",
    "Holding",
    "Message",
    "Migrating",
    "Newcomer",
    "Paths",
    "Policy",
    "Post",
    "Queue",
    "Talking",
    "View",
    "WaitingJobs",
    "admit",
    "available",
    "check_parameters",
    "choice_of",
    "class_of",
    "create",
    "describe",
    "files_of",
    "is_pooled",
    "load",
    "name_of",
    "queue",
    "reference_of",
    "register",
    "sources_of",
]

# The name of ArrivingTask before version 0.2, for policies that import it.
Newcomer = ArrivingTask

# Modules that lay here before version 0.2, by the package or module in which they lie today.
_MOVED = {
    "policy.": "base bounds calling capacities data load reasons talking tasks view waiting",
    "policy.finding.": "chance files mistakes naming other_names source_text",
    "policy.parts.": "estimates features indices late_binding migrants reservations scorer slots space_sharing "
    "work_accounts",
    "policy.finding.sources": "origins",
    "policies.batch_systems": "backfilling batch_system conservative easy",
    "policies.data_access": "data_class data_majority",
    "policies.iocm": "cpu_based iocm_pm iocm_re memory_based",
    "policies.iolb": "clb iolb_net iolb_pm mlb",
    "policies.jiq": "persistent_idle",
    "policies.kubernetes": "disk_io_score load_risk target_load",
    "policies.load_class": "queue_length",
    "policies.memory_centric": "age combined io_active pf_rate working_set",
    "policies.no_ls": "no_ls_blocking",
    "policies.references": "jsq none pooled power_of_d random round_robin",
    "policies.wal_pm": "cm_pm cm_re io_pm io_re wal_re",
}
_NOW = {
    name: f"cluster_abm.{where}{name if where.endswith('.') else ''}"
    for where, names in _MOVED.items()
    for name in names.split()
}
sys.meta_path.append(MovedModules(__name__, _NOW))


def __getattr__(name: str) -> Any:
    """A module that lay here before: it was an attribute of this package without an import of its own."""
    if name in _NOW:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
