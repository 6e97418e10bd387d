"""Damaged files are set aside, while other processes may be doing the same."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tqdm import tqdm

from cluster_abm.study.store.documents import DOCUMENTS
from cluster_abm.study.store.leases import Leases
from cluster_abm.study.store.store import Store


def set_aside(store: Store, leases: Leases, damaged: Mapping[Path, str], quiet: bool) -> list[str]:
    """Move what was found damaged to the store's `damaged`, unless another process has mended it since.

    Args:
        store, leases: of this process.
        damaged: what is wrong with which file.
        quiet: nothing on stderr.

    Returns:
        what was moved, in words.
    """
    found = []
    for path, problem in damaged.items():
        claim = _claim_name(store, path)
        if not leases.claim(claim):
            # Another process is about to set it aside, or to make it again.
            continue
        try:
            is_moved = store.set_aside(path)
        finally:
            leases.release(claim)
        if is_moved:
            rest = "written anew" if path.name in DOCUMENTS else "what it held is run again"
            found.append(f"{path}: damaged ({problem}): set aside in {store.folder / 'damaged'}, {rest}")
            if not quiet:
                tqdm.write(found[-1], file=sys.stderr)
    return found


def _claim_name(store: Store, path: Path) -> str:
    """Return the claim that a process making such a file holds: it cannot be mended between check and move."""
    if path.parent == store.segments:
        return "compaction"
    return path.stem if path.parent == store.runs else path.name
