"""Names of the package in a policy's text: `ca.Decision` and `load.tasks` are one word in compiled code."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import ModuleType
from typing import Any, get_type_hints

from cluster_abm.compiling.texts import INDICES
from cluster_abm.policy import load

# What a name of the package is called in compiled code, after this.
OF_PACKAGE = "of_package_"


class NotCompilable(Exception):
    """A policy, or a part of one, that has no compiled form; its message says why."""


def hints_of(kind: Any) -> dict[str, Any]:
    """The types of the fields of a class. Raises NotCompilable: they are names that stand for nothing there."""
    try:
        return get_type_hints(kind)
    except (NameError, TypeError) as problem:
        raise NotCompilable(f"the types of {kind.__qualname__}'s fields: {problem}") from None


def is_package(value: Any) -> bool:
    """Whether this is a package from which policies take `Decision` and `load`."""
    return isinstance(value, ModuleType) and value.__name__ in ("cluster_abm", "cluster_abm.policies")


class NamesOfPackage(ast.NodeTransformer):
    """`ca.Decision`, of `import cluster_abm as ca`, is one name.

    Args:
        packages: what packages are called, and they.

    Attributes:
        found: such names, and what they stand for.
    """

    def __init__(self, packages: Mapping[str, ModuleType]) -> None:
        self._packages = packages
        self.found: dict[str, Any] = {}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Put one name in the place of two."""
        if not (isinstance(node.value, ast.Name) and node.value.id in self._packages):
            return self.generic_visit(node)
        package = self._packages[node.value.id]
        if not hasattr(package, node.attr):
            raise NotCompilable(f"line {node.lineno}: {package.__name__} has no {node.attr!r}")
        self.found[OF_PACKAGE + node.attr] = getattr(package, node.attr)
        return ast.copy_location(ast.Name(OF_PACKAGE + node.attr, ast.Load()), node)


class NamesOfIndices(ast.NodeTransformer):
    """`load.tasks` is the text "tasks".

    Args:
        modules: what the module of load indices is called.
    """

    def __init__(self, modules: set[str]) -> None:
        self._modules = modules

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Put one name in the place of two."""
        if not (isinstance(node.value, ast.Name) and node.value.id in self._modules):
            return self.generic_visit(node)
        if node.attr not in INDICES:
            raise NotCompilable(f"line {node.lineno}: {load.unknown_index(node.attr)}")
        return ast.copy_location(ast.Constant(node.attr), node)
