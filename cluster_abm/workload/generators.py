"""The workload's random streams: one per attribute, of the seed alone, so that all policies get the same jobs."""

from __future__ import annotations

import numpy as np

# The place in this list is part of the promise "same seed, same jobs": append, never reorder.
PURPOSES = (
    "arrivals", "cpu", "memory", "io", "no_io", "request", "data", "tasks", "home", "thin", "service", "policy",
    "program", "file_size", "file_copies", "file_rank", "job_files", "job_interest", "job_near_file", "job_file",
    "messages", "node_failures", "link_failures", "think", "degradations", "requested", "talk", "repeats",
    "initial", "task_cpu", "announced", "resample",
)  # fmt: skip


def generator(seed: int, purpose: str) -> np.random.Generator:
    """The generator of one purpose."""
    return np.random.Generator(np.random.PCG64(sequence(seed, purpose)))


def entity_generator(seed: int, purpose: str, number: int) -> np.random.Generator:
    """The generator of one purpose of one entity, e.g. a node."""
    entity = np.random.SeedSequence(seed, spawn_key=(PURPOSES.index(purpose), number))
    return np.random.Generator(np.random.PCG64(entity))


def sequence(seed: int, purpose: str) -> np.random.SeedSequence:
    """The seed sequence of one purpose."""
    return np.random.SeedSequence(seed, spawn_key=(PURPOSES.index(purpose),))


def key(seed: int, purpose: str) -> int:
    """A 64-bit key of one purpose, for the counter-based streams of the engine and the policies."""
    return int(sequence(seed, purpose).generate_state(1, np.uint64)[0])
