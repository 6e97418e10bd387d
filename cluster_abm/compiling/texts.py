"""Texts as numbers: compiled code compares and returns load indices, rules and reasons without holding any text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from cluster_abm.engine.tables import LOAD

# The texts that name a load index have the number of its row in the load table, plus one; 0 is no text at all. Others
# have a number of their bytes alone, the same in every process: it stands in compiled code that is kept. Above it
# stands a number that completes the text, plus one.
INDICES: dict[str, int] = {name: row + 1 for row, name in enumerate(LOAD.names or ())}
BITS, COMPLETED = 40, 1 << 41
MOST = (1 << 63) // COMPLETED - 1

_texts: dict[int, str] = {0: "", **{number: name for name, number in INDICES.items()}}


def number_of(text: str) -> int:
    """The number of a text, which `text_of` knows from now on."""
    if not text:
        return 0
    number = INDICES.get(text)
    if number is None:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        number = int.from_bytes(digest, "big") % (1 << BITS) | 1 << BITS
        if _texts.setdefault(number, text) != text:
            raise ValueError(f"the texts {text!r} and {_texts[number]!r} have the same number: change one of them")
    return number


def text_of(number: int) -> str:
    """The text of a number, `{}` in it replaced by the number that completes it.

    Raises ValueError: it is the number of no text.
    """
    completed, number = divmod(number, COMPLETED)
    if number not in _texts:
        raise ValueError(
            "a policy has made a text of others, which compiled code cannot: run it with compile_decisions=False"
        )
    return _texts[number].replace("{}", str(completed - 1), 1) if completed else _texts[number]


def texts_of(numbers: Iterator[int]) -> dict[int, str]:
    """The texts of several numbers."""
    return {number: text_of(number) for number in numbers}
