"""A map of columns proposed by names and values: `trace info --guess`."""

from cluster_abm.workload.traces.guessing.proposal import THRESHOLD, Guess, guess, guess_of

__all__ = ["THRESHOLD", "Guess", "guess", "guess_of"]
