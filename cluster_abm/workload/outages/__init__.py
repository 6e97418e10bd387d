"""Outages of nodes in files: tables of our own columns, and recorded failures that a map of columns reads."""
