"""Where compiled code would give a name one type for what are values of several in Python, it is not compiled.

A name that is True on one path and 2 on another would be the whole number 1 or 2; one that a path leaves without a
value would have some number there. Both are told by the compiler's own form of a function.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.errors import TypingError
from numba.core.typed_passes import NopythonTypeInference

from cluster_abm.compiling.values import BOUNDED
from cluster_abm.jit.parts import PartCompiler


@register_pass(mutates_CFG=False, analysis_only=True)
class Agreement(AnalysisPass):
    """Raise TypingError where a truth value becomes a number, or a name may have no value."""

    _name = "agreement"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        """Look at all assignments of a function; it is left as it is."""
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    self._check(statement, state.typemap)
        return False

    def _check(self, statement: ir.Assign, kinds: dict[str, Any]) -> None:
        to = kinds[statement.target.name]
        for given in _handed_on(statement.value):
            if given is ir.UNDEFINED:
                raise TypingError(f"{_shown(statement)} may have no value", loc=statement.loc)
            if _is_truth(kinds[given.name]) != _is_truth(to):
                raise TypingError(f"{_shown(statement)} is a truth value here, and none elsewhere", loc=statement.loc)
        value = statement.value
        compares = isinstance(value, ir.Expr) and value.op == "binop" and value.fn in (operator.eq, operator.ne)
        # Python compares what they hold one by one, and nan with itself as equal if it is the same object.
        if compares and any(isinstance(kinds[side.name], types.BaseTuple) for side in (value.lhs, value.rhs)):
            raise TypingError("decisions, or tuples, are compared", loc=statement.loc)


def _shown(statement: ir.Assign) -> str:
    name = statement.target.unversioned_name
    return "a value" if name.startswith("$") else f"{name!r}"


def _handed_on(value: Any) -> Iterator[Any]:
    """The variables whose value an expression hands on."""
    if isinstance(value, ir.Var):
        yield value
    elif isinstance(value, ir.Expr) and value.op == "phi":
        yield from value.incoming_values
    elif isinstance(value, ir.Expr) and value.op == "cast":
        yield value.value


def _is_truth(kind: Any) -> bool:
    return isinstance(types.unliteral(kind), types.Boolean)


class CarefulCompiler(PartCompiler):
    """The compiler of parts, with the pass above."""

    def define_pipelines(self) -> list[Any]:
        """The usual passes, and `Agreement` once types are known."""
        (passes,) = super().define_pipelines()
        passes.add_pass_after(Agreement, NopythonTypeInference)
        passes.finalize()
        return [passes]


# How a policy from elsewhere is compiled: what Python would find fault with is found there too.
STRICT: dict[str, Any] = BOUNDED | {"error_model": "python"}
CAREFUL: dict[str, Any] = STRICT | {"pipeline_class": CarefulCompiler}
