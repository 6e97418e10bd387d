"""XML documents of users: without entities of their own, and of a bounded size and depth."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from xml.parsers import expat

from cluster_abm.bounded_files import BLOCK
from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_PARTS

DEEPEST = 100
LONGEST_TAG = 1_000_000  # bytes


def root_of(raw: bytes, where: str) -> ElementTree.Element:
    """The outermost element of a document. Nothing outside of the document is read, whatever its DOCTYPE names.

    Raises InputError: not XML, declares entities, too deep, or of too many parts.
    """
    _check_form(raw, where)
    try:
        return ElementTree.fromstring(raw)
    except (ElementTree.ParseError, LookupError, ValueError) as problem:
        raise InputError(f"{where}: not an XML document: {problem}") from None


def local_name(element: ElementTree.Element) -> str:
    """The name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def _check_form(raw: bytes, where: str) -> None:
    """Read the document once for nothing but its form: entities are declared before they can be used, and what is too
    deep, or of too many parts, is not made into objects."""
    depth = parts = 0

    def refuse(name: str, *_: object) -> None:
        raise InputError(f"{where}: declares the entity {name!r}: documents with entities of their own are refused")

    def begin(_: str, attributes: list[str]) -> None:
        nonlocal depth, parts
        depth, parts = depth + 1, parts + 1 + len(attributes) // 2
        if depth > DEEPEST:
            raise InputError(f"{where}: nested too deeply: allowed up to {DEEPEST} elements in each other")
        if parts > MOST_PARTS:
            raise InputError(f"{where}: more than {MOST_PARTS:,} elements and attributes: allowed up to {MOST_PARTS:,}")

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.ordered_attributes = True
    try:
        for at in range(0, len(raw), BLOCK // 4):
            parser.Parse(raw[at : at + BLOCK // 4], False)
            if at - parser.CurrentByteIndex > LONGEST_TAG:
                raise InputError(f"{where}: a tag or remark of more than {LONGEST_TAG:,} bytes")
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, ValueError) as problem:
        raise InputError(f"{where}: not an XML document: {problem}") from None
