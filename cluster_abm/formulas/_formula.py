"""What makes a plain Python function also callable from compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cluster_abm.arrays import Floats
from cluster_abm.jit import inlinable

# A number, or one for each of several tasks or nodes.
Number = TypeVar("Number", float, Floats)
Function = TypeVar("Function", bound=Callable[..., object])


def formula(function: Function) -> Function:
    """Mark an equation: policies and tests call the Python function, the engine compiles the same source."""
    return inlinable(function)
