"""Slurm's accounting where it is not a table with a header: orders of columns, JSON, and what cannot be read."""
