"""The source of a class that stands in no file of its own, as the text of a module: a notebook's, say."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import sys
import textwrap
from types import FunctionType, ModuleType
from typing import Any

from cluster_abm.errors import InputError

HOW = "put the policy into a file, and name it FILE.py:CLASS; or have all runs carried out in this process (workers=1)"


def module_text(policy: type) -> str:
    """A module that defines a class: its source, and before it what of its surroundings it reads.

    These are modules, what other modules hold, functions and classes beside it, and plain values.

    Raises:
        InputError: a source cannot be had, or it reads something else.
    """
    definitions = _Definitions(policy)
    definitions.add(policy.__name__, policy)
    return "from __future__ import annotations\n" + "\n".join(definitions.found.values()) + "\n"


class _Definitions:
    """The definition of each name, after those that it needs.

    Args:
        policy: the class that they are for.
    """

    def __init__(self, policy: type) -> None:
        self.found: dict[str, str] = {}
        self._of = f"policy {policy.__name__}"
        self._surroundings = vars(sys.modules[policy.__module__])
        self._files = _files_of(policy)

    def add(self, name: str, value: Any) -> None:
        """Add a name that stands for a value."""
        if name in self.found:
            return
        module, own_name = getattr(value, "__module__", None), str(getattr(value, "__name__", ""))
        home = sys.modules.get(module) if isinstance(module, str) and module != "__main__" else None
        if isinstance(value, ModuleType):
            self.found[name] = f"import {value.__name__} as {name}"
        elif home is not None and getattr(home, own_name, None) is value:
            self.found[name] = f"from {module} import {own_name} as {name}"
        elif isinstance(value, type | FunctionType):
            text = self._source(value)
            for read in _names_read(text):
                self._add_what_it_reads(read, value)
            self.found[name] = text if own_name == name else f"{text}\n{name} = {own_name}"
        elif _is_plain(value):
            self.found[name] = f"{name} = {value!r}"
        else:
            raise InputError(f"{self._of}: reads {name!r}, which other processes cannot have: {HOW}")

    def _add_what_it_reads(self, name: str, reader: type | FunctionType) -> None:
        if name in self._surroundings:
            if self._surroundings[name] is not reader:
                self.add(name, self._surroundings[name])
        elif not hasattr(builtins, name) and name != reader.__name__:
            raise InputError(f"{self._of}: {name!r} of the function around it is not in its source: {HOW}")

    def _source(self, value: type | FunctionType) -> str:
        # Of a class in a notebook `inspect` finds no source, but of its methods.
        files = [*_files_of(value), *self._files] if isinstance(value, type) else []
        try:
            found = next((text for file in files if (text := _class_in(file, value))), None)
            return textwrap.dedent(found or inspect.getsource(value))
        except (OSError, TypeError, SyntaxError):
            raise InputError(f"{self._of}: the source of {value.__name__!r} cannot be had here: {HOW}") from None


def _files_of(of: type) -> list[str]:
    """Where the methods of a class are written: files, or what a notebook calls its cells."""
    functions = (getattr(defined, "fget", defined) for defined in vars(of).values())
    return list(dict.fromkeys(found.__code__.co_filename for found in functions if isinstance(found, FunctionType)))


def _class_in(file: str, of: Any) -> str:
    """The source of a class in a file; "" if it is not there."""
    lines = linecache.getlines(file)
    written = {defined.__code__.co_firstlineno for defined in vars(of).values() if isinstance(defined, FunctionType)}
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.ClassDef) and node.name == of.__name__:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if written <= {*range(first, (node.end_lineno or first) + 1)}:
                return "".join(lines[first - 1 : node.end_lineno])
    return ""


def _names_read(text: str) -> list[str]:
    """The names that a definition takes from outside, sorted."""
    nodes = list(ast.walk(ast.parse(text)))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    own = {node.id for node in names if not isinstance(node.ctx, ast.Load)} | {"__class__"}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    own |= {(node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)}
    own |= {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
    return sorted({node.id for node in names} - own)


def _is_plain(value: Any) -> bool:
    """Whether a value is what its literal says."""
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False
