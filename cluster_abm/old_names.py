"""Old names that still work (docs/reference/deprecations.md): a note on stderr gives the new one, once a command."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any, NamedTuple


class OldName(NamedTuple):
    """A name that was another one before."""

    kind: str  # what it names
    # old, new: the name before, and today's
    old: str
    new: str
    since: str  # the version that has the new one
    says_so: bool  # whether a use of the old one prints a note


OLD_NAMES = (
    OldName("policy", "ideal", "pooled", "0.2", True),
    OldName("class of `cluster_abm.policies`", "Newcomer", "ArrivingTask", "0.2", False),
    OldName("attribute of `View`", "out", "down", "0.2", False),
    OldName("attribute of `Policy`", "needs", "required_demands", "0.2", True),
    OldName("class of `cluster_abm.policies.talking`", "TalkingPolicy", "Talking", "0.2", True),
)
# By note, the stream on which it was last printed.
_noted: dict[str, object] = {}


def note_once(text: str) -> None:
    """Print a note on stderr; not again until another command begins, and not in a worker process."""
    processes = sys.modules.get("multiprocessing.process")
    is_worker = processes is not None and processes.parent_process() is not None
    if is_worker or sys.stderr is None or _noted.get(text) is sys.stderr:
        return
    _noted[text] = sys.stderr
    with suppress(OSError):
        print(f"note: {text}", file=sys.stderr)


def note_again() -> None:
    """Have old names noted anew: another command begins in this process."""
    _noted.clear()


def current(kind: str, name: str) -> str:
    """The name that a thing has now; a note gives it for an old one that says so."""
    for known in OLD_NAMES:
        if (known.kind, known.old) == (kind, name):
            if known.says_so:
                note_once(f"{kind} {name!r} is called {known.new!r} now")
            return known.new
    return name


class MovedModules(MetaPathFinder, Loader):
    """Imports a module by the name under which it lay in a package before: it is the module of today, the same object.

    Args:
        package: the package's name.
        moved: the names of today, by the names that the modules had in it.
    """

    def __init__(self, package: str, moved: Mapping[str, str]) -> None:
        self._moved = {f"{package}.{name}": now for name, now in moved.items()}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that has moved."""
        return spec_from_loader(fullname, self) if fullname in self._moved else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of today."""
        now = self._moved[spec.name]
        note_once(f"{spec.name} is {now} now")
        module = importlib.import_module(now)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back: it has been carried out under its name of today."""
        alias: Any = module.__spec__
        module.__spec__ = alias.loader_state
