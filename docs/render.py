"""Carry out the notebooks of the tutorials and keep what they print and draw.

    python docs/render.py                  # all
    python docs/render.py own-policy       # one

The site shows notebooks as they were rendered; `tests/docs/test_notebooks.py` carries them out again and holds their
texts against what is kept. It takes the extra `dev`.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

DOCS = Path(__file__).resolve().parent
FOLDER = DOCS / "tutorials"


def notebooks() -> list[Path]:
    """All notebooks of the tutorials, sorted."""
    return sorted(FOLDER.glob("*.ipynb"))


def carried_out(path: Path, folder: Path, timeout_s: int = 600, commands: Path | None = None) -> nbformat.NotebookNode:
    """A notebook with the outputs of a fresh run in a folder, in which `scenarios` is the shipped folder.

    Progress (stderr) and what differs from run to run (times, numbers of cells' messages) are left out.

    Args:
        path: of the notebook.
        folder: the current one while it runs.
        timeout_s: how long a cell may take [s].
        commands: a folder in which commands are looked for first.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raised.
    """
    notebook = nbformat.read(path, as_version=4)
    (folder / "scenarios").symlink_to(DOCS.parent / "scenarios")
    # Commands of the environment that runs this, in lines as wide as a page.
    first = [str(commands)] if commands else []
    os.environ["PATH"] = os.pathsep.join([*first, str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONPATH": str(DOCS.parent)}
    # The kernel would otherwise store when each cell ran.
    client = NotebookClient(
        notebook, timeout=timeout_s, kernel_name="python3", record_timing=False, allow_errors=False,
        # A command's text comes in pieces of any length.
        coalesce_streams=True, resources={"metadata": {"path": str(folder)}},
    )  # fmt: skip
    client.execute()
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
            for one in cell.outputs:
                # Of a player its picture stays: a widget needs the kernel that made it.
                one.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"},
    }
    return notebook


def texts(notebook: nbformat.NotebookNode) -> list[str]:
    """What the cells of a notebook printed or showed as plain text, cell by cell."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            parts = [one.get("text") or one.get("data", {}).get("text/plain", "") for one in cell.outputs]
            found.append("".join(parts))
    return found


def main(names: list[str]) -> None:
    """Render the notebooks of these names, or all."""
    for path in notebooks():
        if not names or path.stem in names:
            with tempfile.TemporaryDirectory() as folder:
                done = carried_out(path, Path(folder))
            nbformat.write(done, path)
            print(path.name, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
