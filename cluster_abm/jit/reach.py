"""What the code of a function can come from: the definitions that its names lead to, in whatever module they stand.

A use leads to the statements that bind the name, or through an import to another module (`outlines`). Nothing is
imported for this. Where a name leads nowhere the whole module counts.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import uuid
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from cluster_abm.jit.outlines import Outline, Statement, digest_of, outline_of

PACKAGE = "cluster_abm"
# Where compiled code is kept is no part of what it is.
APART = frozenset(f"{PACKAGE}.jit.{name}" for name in ("kept", "outlines", "reach"))


class Sources:
    """The sources of the package as they are now, when this is made: they are read, and hashed.

    Args:
        folder: the package's.
        memory: the folder that keeps outlines and stamps for later processes; None: none does.
    """

    def __init__(self, folder: Path, memory: Path | None = None) -> None:
        self._folder, self._memory = folder, memory
        self._files: dict[str, Path] = {}
        self._texts: dict[str, bytes] = {}
        self._states: dict[Path, tuple[int, ...]] = {}
        self._outlines: dict[str, Outline] = {}
        self._bindings: dict[str, dict[str, list[int]]] = {}
        self._acts: dict[str, list[tuple[str, int]]] = {}
        self._hashed: dict[str, Any] = {}
        self._is_outlined_anew = False
        for place, _, names in os.walk(folder):
            parts = (PACKAGE, *Path(place).relative_to(folder).parts)
            for name in names:
                if name.endswith(".py"):
                    module = ".".join(parts if name == "__init__.py" else (*parts, name[:-3]))
                    self._read(module, Path(place, name))

    def _read(self, module: str, path: Path) -> None:
        with suppress(OSError), path.open("rb") as file:
            self._states[path] = _state(os.fstat(file.fileno()))
            self._texts[module] = file.read()
            self._files[module] = path

    def are_unchanged(self) -> bool:
        """Whether the files are still those that were read."""
        try:
            return all(_state(path.stat()) == state for path, state in self._states.items())
        except OSError:
            return False

    def have(self, module: str, name: str) -> bool:
        """Whether there is such a module, and the name can be one that stands in it."""
        return module in self._files and name.isidentifier()

    @cached_property
    def digest(self) -> str:
        """Hash of all sources."""
        found = hashlib.sha256()
        for module, text in sorted(self._texts.items()):
            found.update(f"{module} {len(text)} ".encode() + text)
        return found.hexdigest()[:20]

    def stamp(self, *starts: str) -> str:
        """Hash of all that these definitions reach; each is named as `module:name`."""
        key = " ".join(starts)
        found = self._stamps.get(key)
        if found is None:
            found = self._stamps[key] = digest_of("\n".join(self.reached(starts)))
            self._remember(self._stamps_name, self._stamps)
            if self._is_outlined_anew:
                self._remember(self._outlines_name, self._known | self._hashed)
                self._is_outlined_anew = False
        return found

    def reached(self, starts: Iterable[str]) -> list[str]:
        """A line for each statement, and each import, that definitions reach: its module, and its name or hash."""
        todo = [(module, name) for module, _, name in (start.partition(":") for start in starts)]
        seen: set[tuple[str, str]] = set()
        lines: dict[str, None] = {}
        statements: dict[str, set[int]] = {}

        def take(module: str, place: int) -> None:
            taken = statements.setdefault(module, set())
            if place not in taken:
                taken.add(place)
                todo.extend((module, use) for use in self._outline(module).statements[place].uses)

        entered: set[str] = set()
        while todo:
            module, path = step = todo.pop()
            name, _, rest = path.partition(".")
            inner = f"{module}.{name}"
            if step in seen or module in APART:
                continue
            seen.add(step)
            if module not in self._files:
                # A folder without a module of its own, or no part of the package.
                todo += [(inner, rest)] if name else []
                continue
            if module not in entered:
                entered.add(module)
                for other, place in self._acting(module):
                    take(other, place)
            outline = self._outline(module)
            if not name:
                for place in range(len(outline.statements)):
                    take(module, place)
                todo += [(module, one) for one in outline.imports]
                continue
            places = self._places(module).get(name, [])
            for place in places:
                take(module, place)
            targets = outline.imports.get(name, [])
            for target, of_target in targets:
                lines[f"{module} {name} {target} {of_target}"] = None
                if (target, of_target) == (module, name):
                    todo.append((inner, rest))
                else:
                    todo.append((target, ".".join(filter(None, [of_target, rest]))))
            if not places and not targets:
                todo.append((inner, rest) if inner in self._files else (module, ""))
        for module, places_taken in sorted(statements.items()):
            of_module = self._outline(module).statements
            # In the order of the source: of two statements that bind a name the later one counts.
            lines |= dict.fromkeys(f"{module} {of_module[place].digest}" for place in sorted(places_taken))
        return sorted(lines, key=lambda line: line.split(" ")[0])

    def kernels(self, *folders: str) -> list[str]:
        """The kernels in these modules, and in those below them, as `stamp` takes them. Raises LookupError."""
        wanted = []
        for folder in folders:
            wanted += (inside := [module for module in sorted(self._files) if f"{module}.".startswith(f"{folder}.")])
            if not inside:
                raise LookupError(f"{folder}: no such module, nor any below it")
        return [
            f"{module}:{statement.binds[0]}"
            for module in wanted
            for statement in self._outline(module).statements
            if statement.kind == "kernel"
        ]

    def _acting(self, module: str) -> list[tuple[str, int]]:
        """What acts together with a module: in all modules of its folder, or in it alone at the package's top."""
        folder = self._files[module].parent
        key = module if folder == self._folder else str(folder)
        if key not in self._acts:
            beside = [other for other, path in self._files.items() if path.parent == folder]
            self._acts[key] = [
                (other, place)
                for other in ([module] if key == module else beside)
                for place, statement in enumerate(self._outline(other).statements)
                if statement.kind == "acts"
            ]
        return self._acts[key]

    def _places(self, module: str) -> dict[str, list[int]]:
        """Which statements of a module bind a name."""
        found = self._bindings.get(module)
        if found is None:
            found = self._bindings[module] = {}
            for place, statement in enumerate(self._outline(module).statements):
                for name in statement.binds:
                    found.setdefault(name, []).append(place)
        return found

    def _outline(self, module: str) -> Outline:
        found = self._outlines.get(module)
        if found is None:
            text = self._texts[module]
            digest = hashlib.sha256(text).hexdigest()
            known = self._known.get(module)
            if known is not None and known[0] == digest:
                found = Outline([Statement(*one) for one in known[1][0]], known[1][1])
            else:
                found = outline_of(text, module, self._files[module].name == "__init__.py")
                self._is_outlined_anew = True
            self._outlines[module], self._hashed[module] = found, [digest, found]
        return found

    # What was remembered under other rules, of this module or of Python's syntax trees, is of no use.
    @property
    def _stamps_name(self) -> str:
        return f"stamps-{sys.implementation.cache_tag}-{self.digest}.json"

    @property
    def _outlines_name(self) -> str:
        of = f"{self._folder} {sys.implementation.cache_tag}".encode() + self._texts.get(f"{PACKAGE}.jit.outlines", b"")
        return f"outlines-{hashlib.sha256(of).hexdigest()[:20]}.json"

    @cached_property
    def _stamps(self) -> dict[str, str]:
        return self._remembered(self._stamps_name)

    @cached_property
    def _known(self) -> dict[str, Any]:
        return self._remembered(self._outlines_name)

    def _remembered(self, name: str) -> dict[str, Any]:
        if self._memory is not None:
            with suppress(OSError, ValueError):
                path = self._memory / name
                found: dict[str, Any] = json.loads(path.read_bytes())
                os.utime(path)
                return found
        return {}

    def _remember(self, name: str, what: dict[str, Any]) -> None:
        if self._memory is not None:
            write_whole(self._memory / name, json.dumps(what).encode())


def write_whole(path: Path, data: bytes) -> None:
    """Write a file that other processes see whole or not at all, where that is possible."""
    draft = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(data)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)


def _state(found: os.stat_result) -> tuple[int, ...]:
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
