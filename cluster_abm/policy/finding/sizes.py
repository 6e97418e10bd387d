"""What a policy's methods name, and whether they read how long tasks will take: by their text."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from cluster_abm.policy.base import Policy
from cluster_abm.policy.kinds import Holding, Migrating
from cluster_abm.policy.talking import Talking
from cluster_abm.policy.view import ArrivingTask, Candidate, View

# Announced demands of tasks (CPU, requested run time), and work still to come: indices, and what is made of these.
SIZES = frozenset(("cpu_ms", "io_ms", "page_ms", "requested_ms", "imbalance", "cpu_on", "io_on"))
# Of the methods that the model calls, those that only restate an offer for another policy's managers.
RESTATING = frozenset(("restated", "load_of", "load_name", "task_load", "response_ms"))
# What these have is data or a question about a node: a policy reads a size if it names one.
_GIVEN = (ArrivingTask, Candidate, View)


def sizes_read(policy: Policy) -> frozenset[str]:
    """The announced sizes that a policy reads, by their names; empty: its decisions do not depend on any.

    Requested run times count as sizes.

    Args:
        policy: with its parameters.
    """
    return SIZES & (names_read(policy) | set(policy.required_demands))


def names_read(policy: Policy) -> frozenset[str]:
    """The names and texts in a policy's methods, and in what they call in the package or in its own file.

    Branches that its parameters close are left out. What a named class attribute or parameter says counts, too.

    Args:
        policy: with its parameters.
    """
    of, found, parameters = type(policy), set[str](), dict(policy.parameters)
    # Managers that talk are never asked to place a task.
    kinds = (Talking,) if isinstance(policy, Talking) else (Policy, Migrating, Holding)
    hooks = [name for kind in kinds if isinstance(policy, kind) for name in (*vars(kind), "prepare")]
    asked = [name for name in hooks if not name.startswith("_") and name not in RESTATING]
    to_come = [function for name in asked for function in _methods(of, name)]
    done: set[FunctionType] = set()
    while to_come:
        function = to_come.pop()
        if function in done:
            continue
        done.add(function)
        names: set[str] = set()
        for code in _within(_without_closed_branches(function, policy)):
            names |= {*code.co_names}
            found |= {one for one in code.co_consts if isinstance(one, str)}
        said = (one for name in names for one in (inspect.getattr_static(of, name, None), parameters.get(name)))
        found |= names | {one for one in said if isinstance(one, str)}
        for name in names:
            to_come += [*_methods(of, name), *_called(function.__globals__.get(name))]
    return frozenset(found)


def _methods(of: type[Policy], name: str) -> Iterator[FunctionType]:
    """A policy's method or property of that name, and those that it extends by `super()`."""
    for owner in of.__mro__:
        if name in vars(owner) and issubclass(owner, Policy):
            functions = [*_plain(vars(owner)[name])]
            yield from functions
            if not any("super" in function.__code__.co_names for function in functions):
                return


def _called(value: Any) -> Iterator[FunctionType]:
    """What a name in a method stands for: a function, or a class with its methods; formulas get what they are given."""
    if isinstance(value, type):
        is_own = not issubclass(value, Policy) and value not in _GIVEN and _is_of_policies(value.__module__)
        for name, one in vars(value).items() if is_own else ():
            if not (name.startswith("__") and name != "__init__"):
                yield from _plain(one)
    else:
        yield from (function for function in _plain(value) if _is_of_policies(function.__module__))


def _is_of_policies(module: str) -> bool:
    """Whether a module is of policies: the user's, or the package's."""
    package, _, rest = module.partition(".")
    return package != "numpy" and (package != "cluster_abm" or rest.startswith("polic"))


def _plain(value: Any) -> Iterator[FunctionType]:
    """The function of a method, property or compiled function."""
    for name in ("py_func", "fget", "func", "__func__"):
        value = getattr(value, name, value)
    if isinstance(value, FunctionType):
        yield value


def _within(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _within(one)


def _without_closed_branches(function: FunctionType, policy: Policy) -> CodeType:
    """A function's code without the branches that the policy's parameters close; as it is where there is no text."""
    if "parameters" not in function.__code__.co_names:
        return function.__code__
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        tree = ast.fix_missing_locations(_Pruning(tree, policy).visit(tree))
        return compile(tree, "<policy>", "exec", dont_inherit=True)
    except (OSError, SyntaxError, TypeError, ValueError):
        return function.__code__


class _Pruning(ast.NodeTransformer):
    """Takes branches out of a function's text whose condition is settled by the policy's parameters."""

    def __init__(self, tree: ast.AST, policy: Policy) -> None:
        self._parameters = policy.parameters
        self._texts = {"self.parameters"}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and ast.unparse(node.value) in self._texts:
                self._texts |= {target.id for target in node.targets if isinstance(target, ast.Name)}

    def _value(self, node: ast.expr) -> Any:
        """A parameter, or a constant. Raises ValueError for anything else."""
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in self._texts:
            return getattr(self._parameters, node.attr)
        return ast.literal_eval(node)

    def _settled(self, test: ast.expr) -> bool | None:
        """The value of a condition on one parameter, or of its opposite; None: another condition."""
        try:
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                return not self._value(test.operand)
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq | ast.NotEq) and len(test.ops) == 1:
                is_equal = self._value(test.left) == self._value(test.comparators[0])
                return is_equal == isinstance(test.ops[0], ast.Eq)
            return bool(self._value(test))
        except (ValueError, AttributeError):
            return None

    def visit_If(self, node: ast.If) -> Any:
        """Keep the branch that is taken."""
        settled = self._settled(node.test)
        self.generic_visit(node)
        return node if settled is None else (node.body if settled else node.orelse) or ast.Pass()

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        """Keep the value that is taken."""
        settled = self._settled(node.test)
        self.generic_visit(node)
        return node if settled is None else node.body if settled else node.orelse
