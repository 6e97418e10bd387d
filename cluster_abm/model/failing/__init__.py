"""Nodes, links and devices that fail or are slow, and what becomes of the tasks there."""
