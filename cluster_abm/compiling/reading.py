"""What a policy's methods read of a view, by their text: what none of them reads need not be brought up to date."""

from __future__ import annotations

import ast
from types import FunctionType

from cluster_abm.compiling.translating import NotCompilable, inherited_name, pruned
from cluster_abm.policy.base import Policy
from cluster_abm.policy.view import View

# What of a view tells nothing of the loads of nodes.
NOT_LOADS = frozenset(
    (
        "me", "nodes", "hardware", "hardware_table", "kinds", "paths", "remote_execution_ms", "migration_ms", "uniform",
        "refused", "down", "notes", "now_ms", "now_slices", "slice_ms", "data", "capacities", "next_node", "mb_per_s",
        "fixed_ms", "is_open", "free", "free_cores", "running", "nodes_of", "core_of", "live_jobs", "drawn",
        "draw_nodes", "has_index", "per_unit", "out",
    )
)  # fmt: skip
OF_VIEWS = frozenset(name for name in (*dir(View), *View.__dataclass_fields__) if not name.startswith("_"))


def reads_loads(of: type[Policy], methods: list[str], absent: frozenset[str]) -> bool:
    """Whether methods of a policy, or what they call, read loads of nodes; True where the text does not tell.

    Args:
        of: the policy's class.
        methods: their names.
        absent: attributes of views that are None in this run.
    """
    return bool(_names_in(of, methods, absent) & (OF_VIEWS - NOT_LOADS))


def _names_in(of: type[Policy], methods: list[str], absent: frozenset[str]) -> frozenset[str]:
    """The names of all attributes in methods of a class, in the methods of it that they name, and in functions of
    their files."""
    found: set[str] = set()
    to_come, done = [(of.__mro__, name) for name in methods], set()
    while to_come:
        classes, name = to_come.pop()
        owner = next((one for one in classes if name in vars(one) and issubclass(one, Policy)), None)
        function = vars(owner)[name] if owner else None
        function = getattr(function, "fget", function)
        if owner is None or not isinstance(function, FunctionType) or function in done:
            continue
        done.add(function)
        try:
            tree = pruned(function, owner, absent)
        except NotCompilable:
            return OF_VIEWS
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        named = (function.__globals__.get(one) for one in called)
        if any(isinstance(one, type) and issubclass(one, Policy) for one in named):
            # Of a class that is named its own method may be called.
            return OF_VIEWS
        names |= _of_functions(function, called, absent)
        found |= names
        inherited = inherited_name(owner, "")
        later = of.__mro__[of.__mro__.index(owner) + 1 :]
        to_come += [(later, one.removeprefix(inherited)) for one in names if one.startswith(inherited)]
        to_come += [(of.__mro__, one) for one in names]
    return frozenset(found)


def _of_functions(function: FunctionType, called: set[str], absent: frozenset[str]) -> set[str]:
    """The names of attributes in functions of the same file that a function calls, and that these call."""
    found: set[str] = set()
    to_come, done = [(function, name) for name in called], {function}
    while to_come:
        by, name = to_come.pop()
        value = by.__globals__.get(name)
        if not isinstance(value, FunctionType) or value.__module__ != function.__module__ or value in done:
            continue
        done.add(value)
        tree = pruned(value, None, absent)
        found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        to_come += [(value, node.id) for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return found
