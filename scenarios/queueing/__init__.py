"""Queueing theory beside runs: what theory says (pure functions, each with its source), and what is held against it.

The unit of time of the theory is the mean demand, unless a law of demands is given. `load` is the load of one server,
below 1. Modules but `runs` take nothing from the package.
"""
