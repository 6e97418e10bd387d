"""What a PNG says of itself: the hash of its data, and of the module that drew it."""

from __future__ import annotations

import ast
import hashlib
import sys
from pathlib import Path

from cluster_abm.results.figures.data import hash_of

# The folder that holds the package, `scenarios` and, in a checkout, `docs`.
ROOT = Path(__file__).resolve().parents[3]
# Names of the texts in a PNG.
HELPERS = ("results/style.py", "figures/stamps.py", "of_studies/study_grid.py")
DRAWN_BY, DATA = "Drawn by", "Data"


def calling_module() -> str:
    """The file of the function that asked for a figure, relative to ROOT; helpers that make empty ones do not count."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.endswith(HELPERS):
        frame = frame.f_back
    path = Path(frame.f_code.co_filename).resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name


def hash_of_module(path: Path) -> str:
    """A hash of a module's code, without docstrings, comments and empty lines: it is the same on every Python."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            said = node.body[0]
            lines[said.lineno - 1 : said.end_lineno] = [""] * ((said.end_lineno or said.lineno) - said.lineno + 1)
    code = [line.rstrip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return hashlib.sha256("\n".join(code).encode()).hexdigest()[:16]


def stamp_of(figure: object) -> dict[str, str]:
    """The texts that a PNG of the figure carries; {} of a figure that no module of this repository drew."""
    module = str(getattr(figure, "drawn_by", ""))
    path = ROOT / module
    if not module or not path.is_file():
        return {}
    return {DRAWN_BY: f"{module} {hash_of_module(path)}", DATA: hash_of(figure)}  # type: ignore[arg-type]
