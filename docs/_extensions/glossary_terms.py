"""Terms of the glossary as entries of the index: searched for, a term is found where it is explained.

The glossary is tables, which read well in a plain view of its file; in the first column stand the terms. Each row gets
an anchor, `glossary.html#term-slowdown`, and search shows the row.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

PAGE = "glossary"
# Tables of the page whose first column is no term.
NO_TERMS = ("Units",)


def terms_of(cell: str) -> list[str]:
    """The terms of a cell: `interconnect, network` has two; what stands in brackets belongs to none.

    >>> terms_of("parent (of a job)"), terms_of("up, down"), terms_of("mode `papers`")
    (['parent'], ['up', 'down'], ['mode papers'])
    """
    plain = re.sub(r"\([^)]*\)", "", cell).replace("`", "")
    return [term.strip() for term in plain.split(",") if term.strip()]


def _mark(page: str, document: nodes.document) -> None:
    from docutils import nodes

    if page != PAGE:
        return
    for section in document.findall(nodes.section):
        if any(isinstance(child, nodes.title) and child.astext() in NO_TERMS for child in section.children):
            continue
        for table in (child for child in section.children if isinstance(child, nodes.table)):
            _mark_rows(table)


def _mark_rows(table: nodes.table) -> None:
    from docutils import nodes
    from sphinx import addnodes

    for body in table.findall(nodes.tbody):
        for row in body.findall(nodes.row):
            cell = row.children[0]
            terms = terms_of(cell.astext()) if isinstance(cell, nodes.Element) else []
            if not terms or not isinstance(cell, nodes.Element):
                continue
            anchor = f"term-{nodes.make_id(terms[0])}"
            row["ids"].append(anchor)
            entries = [("single", term, anchor, "main", None) for term in terms]
            cell.insert(0, addnodes.index(entries=entries))


def setup(app: Sphinx) -> dict[str, bool]:
    """Mark the terms when the glossary is read, before Sphinx collects the entries of its index (at 850)."""
    from sphinx.transforms import SphinxTransform

    class MarkTerms(SphinxTransform):
        """The rows of the glossary, as places of the index."""

        default_priority = 840

        def apply(self, **_kwargs: object) -> None:
            _mark(self.env.docname, self.document)

    app.add_transform(MarkTerms)
    # Search keeps entries of the index only of pages that a build reads.
    app.connect("env-get-outdated", lambda *_: [PAGE])
    return {"parallel_read_safe": True}
