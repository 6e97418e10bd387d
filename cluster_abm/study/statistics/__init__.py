"""Estimates, intervals, rankings, and what variation a key is good for."""
