"""The sources of policies from elsewhere: an edited policy gives other results, wherever it lies."""

from __future__ import annotations

import hashlib
import sys
import uuid
from collections.abc import Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.policies import Policy, available, sources_of

MISSING = "not installed"


def policy_version(name: str) -> str:
    """Return a hash of a policy's sources, as `version_of`; MISSING if there is none of that name."""
    policy: Any = available().get(name)
    return MISSING if policy is None else version_of(name, policy)


@cache
def version_of(name: str, policy: Any) -> str:
    """Return a hash of a policy's sources; "" for one of cluster_abm, which the code version covers.

    Of a policy in a file these are the file and what it imports from beside it (`finding.files.digest_of`); of one in
    a notebook, its source. Of others they are the top-level packages of its class and of all classes that it inherits
    from: their Python sources and extension modules, all of them, since a policy may import any. What it imports from
    elsewhere is not covered, as numpy is not.

    Args:
        name: what it is found by.
        policy: its class.

    Raises InputError: a source cannot be read.
    """
    try:
        sources = sources_of([name])
    except InputError:
        # Nothing tells it from another one of that name: its results are taken for no other class's.
        return f"without source, {uuid.uuid4().hex}"
    if sources and sources[0].digest:
        return sources[0].digest
    digest = hashlib.sha256()
    packages = packages_of(policy)
    for package in packages:
        for place, path in _sources(package):
            try:
                digest.update(f"{package}/{place}".encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
            except OSError as problem:
                raise InputError(f"policy {name!r}: {path}: cannot be read ({problem.strerror or problem})") from None
    return digest.hexdigest()[:16] if packages else ""


def packages_of(policy: type[Policy]) -> list[str]:
    """Top-level packages, outside cluster_abm and the standard library, that a policy is made of."""
    names = {of.__module__.partition(".")[0] for of in policy.__mro__}
    return sorted(names - {"cluster_abm"} - sys.stdlib_module_names)


def _sources(package: str) -> Iterator[tuple[str, Path]]:
    """Files of a package, or the file of a single module, by their place in it."""
    module = sys.modules[package]
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    if not folders:
        yield "", Path(module.__file__ or package)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.name.endswith((*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)) and path.is_file():
                yield path.relative_to(folder).as_posix(), path
