"""The pooled reference: a cluster that pools all CPUs, disks and memory of its nodes, at no cost."""

from __future__ import annotations

from cluster_abm.policy.base import Policy


class Pooled(Policy):
    """Not a rule for load managers but another form of the cluster, under which nothing has to be balanced.

    All cores are one processor-sharing station with as many servers, all disks one first-come-first-served station
    with as many, the memory is in common, and nothing costs anything. It is a reference, no bound: all its tasks share
    the processors alike, and a policy that lets short tasks go first has shorter responses. `srpt-pool` is the bound.
    """

    name = "pooled"
    source = "a reference, after the n-server processor-sharing station"
    summary = "no policy: one station with all CPUs, one with all disks, memory in common, no cost"
    acts_on_arrival = False
    uses_reports = False
    pooled = True
