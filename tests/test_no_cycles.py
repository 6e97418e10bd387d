"""No two modules import each other, not even for types; a package and its own __init__ apart."""

from __future__ import annotations

import ast
from pathlib import Path

import networkx as nx
import pytest

import cluster_abm

PACKAGE = Path(cluster_abm.__file__).parent


def imports():
    """The graph of all imports, those under TYPE_CHECKING and inside functions included."""
    modules = {}
    for path in PACKAGE.rglob("*.py"):
        parts = ("cluster_abm", *path.relative_to(PACKAGE).with_suffix("").parts)
        modules[".".join(part for part in parts if part != "__init__")] = path
    graph = nx.DiGraph()
    for name, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found = []
            if isinstance(node, ast.Import):
                found = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                whole = [f"{node.module}.{alias.name}" for alias in node.names]
                found = [one if one in modules else node.module for one in whole]
            graph.add_edges_from((name, other) for other in found if other in modules and other != name)
    return graph


@pytest.mark.slow
def test_there_is_no_import_cycle():
    cycles = [sorted(group) for group in nx.strongly_connected_components(imports()) if len(group) > 1]
    assert cycles == []


def test_no_folder_and_no_module_is_a_drawer():
    for folder in {path.parent for path in PACKAGE.rglob("*.py")}:
        if folder.name not in ("policies", "formulas"):
            modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
            assert len(modules) <= 20, folder
    longest = max(PACKAGE.rglob("*.py"), key=lambda path: len(path.read_text(encoding="utf-8").splitlines()))
    assert len(longest.read_text(encoding="utf-8").splitlines()) <= 400, longest
