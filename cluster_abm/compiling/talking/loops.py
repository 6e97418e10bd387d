"""The text of a policy that talks as it is compiled: its loops go by places, for compiled code has no other here."""

from __future__ import annotations

import ast
from typing import Any

# What the view of a post is called in compiled code: numba takes `view` for the method of an array.
OF_POST_VIEW = "view_now"


class LoopsByPlaces(ast.NodeTransformer):
    """`for task in post.waiting` goes by places: all that is not made by a function, such as `range`."""

    def __init__(self) -> None:
        self._count = 0

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Give the view its name."""
        node.attr = OF_POST_VIEW if node.attr == "view" else node.attr
        return self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        """Go by places."""
        self.generic_visit(node)
        given, target, number = node.iter, node.target, None
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Name):
            is_numbered = given.func.id == "enumerate" and len(given.args) == 1
            if not (is_numbered and isinstance(target, ast.Tuple) and len(target.elts) == 2):
                return node
            (given,), (number, target) = given.args, target.elts
        self._count += 1
        items, place = f"items_{self._count}__", f"place_{self._count}__"
        loop = ast.parse(f"{items} = 0\nfor {place} in range(len({items})):\n    {place} = {items}[{place}]\n").body
        kept, over = loop
        assert isinstance(kept, ast.Assign)
        assert isinstance(over, ast.For)
        assert isinstance(over.body[0], ast.Assign)
        kept.value, over.body[0].targets = given, [target]
        numbered = [] if number is None else [ast.Assign([number], ast.Name(place, ast.Load()))]
        over.body, over.orelse = [*numbered, *over.body, *node.body], node.orelse
        return [ast.copy_location(kept, node), ast.copy_location(over, node)]
