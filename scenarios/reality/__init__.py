"""Conclusions held against recorded work: which files make which workload, on how many nodes, and what survives."""
