"""What makes a plain Python function also callable from compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from numba.extending import register_jitable

Function = TypeVar("Function", bound=Callable[..., object])


def formula(function: Function) -> Function:
    """Mark an equation: policies and tests call the Python function, the engine compiles the same source."""
    marked: Function = register_jitable(function)
    return marked
