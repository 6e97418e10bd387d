"""Words that several threads read and write at once, without the interpreter: one is read, changed and written as one.

What a thread wrote before it changed a word is there for the thread that then finds the word changed.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from cluster_abm.native_arrays import array_of

ALIGNMENT = 8


def _word_at(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of the word of an array, shape (words,) int64, that a call's first two arguments name."""
    array = context.make_array(signature.args[0])(context, builder, value=arguments[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, [arguments[1]])


@intrinsic
def read(typing_context: Any, words: Any, place: Any) -> Any:
    """A word."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_word_at(context, builder, signature, arguments), "seq_cst", ALIGNMENT)

    return types.int64(words, types.intp), build


@intrinsic
def write(typing_context: Any, words: Any, place: Any, value: Any) -> Any:
    """Write a word."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = _word_at(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], word, "seq_cst", ALIGNMENT)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), build


@intrinsic
def add(typing_context: Any, words: Any, place: Any, amount: Any) -> Any:
    """Add to a word: what it was before."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _word_at(context, builder, signature, arguments), arguments[2], "seq_cst")

    return types.int64(words, types.intp, types.int64), build


@intrinsic
def change(typing_context: Any, words: Any, place: Any, before: Any, after: Any) -> Any:
    """Write `after` where a word is `before`: whether it was."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = _word_at(context, builder, signature, arguments)
        found = builder.cmpxchg(word, arguments[2], arguments[3], "seq_cst", "seq_cst")
        return builder.extract_value(found, 1)

    return types.boolean(words, types.intp, types.int64, types.int64), build


@intrinsic
def array_at(typing_context: Any, like: Any, address: Any, length: Any) -> Any:
    """The array of this length at an address, of the type of `like`, shape (length,); it owns nothing."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return array_of(context, builder, signature.return_type, arguments[1], [arguments[2]])

    return like(like, types.int64, types.intp), build
