"""The sources of policies from other packages: an edited policy gives other results, wherever it lies."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path

from cluster_abm.errors import InputError
from cluster_abm.policies import Policy, available

MISSING = "not installed"


@cache
def policy_version(name: str) -> str:
    """Return a hash of a policy's sources; "" for one of cluster_abm, which the code version covers.

    Covered are the top-level packages of its class and of all classes that it inherits from: their Python sources and
    extension modules, all of them, since a policy may import any. What it imports from elsewhere is not, as numpy is
    not.

    Raises:
        InputError: a source cannot be read.
    """
    policy = available().get(name)
    if policy is None:
        return MISSING
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
