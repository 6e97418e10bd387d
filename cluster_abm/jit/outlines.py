"""The outline of a module: its statements, the names that they bind and use, and what it imports.

Docstrings, comments, positions, and annotations of functions are no part of it.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from typing import NamedTuple

# A function or class under these decorators has no effect before it is used. Any other decorator may note it
# down somewhere, as numba's `overload` does.
KERNELS = frozenset(["kernel", "allocating_kernel"])
PURE = frozenset(
    (
        "inlined", "called", "inlinable", "formula", "intrinsic", "njit",
        "register_jitable", "cache", "lru_cache", "contextmanager", "dataclass", "part", "explained", "wraps",
        "total_ordering",
    )
)  # fmt: skip
# What reaches names of its module that stand in no source, when it is given fewer arguments.
BY_NAME = {"globals": 1, "vars": 1, "exec": 2, "eval": 2}


class Statement(NamedTuple):
    """A statement of a module, imports apart."""

    digest: str  # hash of its syntax tree
    binds: list[str]  # the names that it gives a meaning
    uses: list[str]  # the names of the module that it reads, with their attributes: `formulas.total`; "": any of them
    kind: str  # "kernel" of a kernel, "acts" if it has an effect that no name leads to, else ""


class Outline(NamedTuple):
    """What a module consists of."""

    statements: list[Statement]  # in the order of the source
    # by name in this module: the modules, and the names in them, that it may stand for; "": the module
    imports: dict[str, list[list[str]]]


def outline_of(source: bytes, module: str, is_package: bool = False) -> Outline:
    """The outline of a module of such source."""
    tree = bare(ast.parse(source))
    imports: dict[str, list[list[str]]] = {}
    for node in ast.walk(tree):
        for name, *target in _imported(node, module if is_package else module.rpartition(".")[0]):
            imports.setdefault(name, []).append(target)
    parts = [part for part in tree.body if not isinstance(part, ast.Import | ast.ImportFrom)]
    binds = [_bound(part) for part in parts]
    names = set(imports).union(*binds)
    anywhere = {"*"} & names
    statements = [
        Statement(digest_of(ast.dump(part)), sorted(bound), sorted(_used(part, names) | anywhere), _kind(part))
        for part, bound in zip(parts, binds, strict=True)
    ]
    return Outline(statements, imports)


def bare(tree: ast.Module) -> ast.Module:
    """A syntax tree without docstrings and the annotations of functions, in place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_text = [isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) for part in node.body]
            left = [part for part, text in zip(node.body, is_text, strict=True) if not text]
            node.body = left or [ast.Pass()]
    return tree


def _imported(node: ast.AST, package: str) -> Iterator[tuple[str, str, str]]:
    """Name, module and name in the module of what a node imports."""
    if isinstance(node, ast.Import):
        for one in node.names:
            top = one.name.partition(".")[0]
            yield (one.asname or top, one.name if one.asname else top, "")
    elif isinstance(node, ast.ImportFrom):
        outer = package.split(".")
        above = [*outer[: len(outer) + 1 - node.level], *filter(None, [node.module])]
        module = ".".join(above) if node.level else str(node.module)
        for one in node.names:
            yield (one.asname or one.name, module, "" if one.name == "*" else one.name)


def _bound(part: ast.stmt) -> set[str]:
    """Names that a statement binds in its module, or that a function of it declares global."""
    declared = {name for node in ast.walk(part) if isinstance(node, ast.Global) for name in node.names}
    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {part.name} | declared
    stored = {node.id for node in ast.walk(part) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    inner = (ast.FunctionDef, ast.ClassDef)
    return stored | declared | {node.name for node in ast.walk(part) if isinstance(node, inner)}


def _used(part: ast.stmt, names: set[str]) -> set[str]:
    """Those of the names that stand in a statement; where one is a local variable it counts, too."""
    found: set[str] = set()
    todo: list[ast.AST] = [part]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found |= {""} if len(node.args) < BY_NAME.get(node.func.id, 0) else set()
        path, root = "", node
        while isinstance(root, ast.Attribute):
            path, root = f".{root.attr}{path}", root.value
        if isinstance(root, ast.Name):
            if root.id in names:
                found.add(root.id + path)
        else:
            todo += ast.iter_child_nodes(node)
    return found


def _kind(part: ast.stmt) -> str:
    acts = True
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        made_by = [one.func if isinstance(one, ast.Call) else one for one in part.decorator_list]
        names = {ast.unparse(one).rpartition(".")[2] for one in made_by}
        if names & KERNELS:
            return "kernel"
        acts = not names <= PURE
    elif isinstance(part, ast.Assign | ast.AnnAssign):
        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
        acts = any(isinstance(node, ast.Attribute | ast.Subscript) for one in targets for node in ast.walk(one))
    elif isinstance(part, ast.If):
        acts = "TYPE_CHECKING" not in ast.unparse(part.test)
    return "acts" if acts and not isinstance(part, ast.Pass) else ""


def digest_of(text: str) -> str:
    """Hash of a text: 20 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]
