"""Make the pictures of the documentation again, each by its command; find those that are stale.

    python docs/pictures.py              # those whose drawing module has changed since
    python docs/pictures.py plan tune    # these, by name

`pictures.toml` lists the pictures and their commands. Runs are kept in `out/pictures`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from cluster_abm.results.figures.stamps import DATA, DRAWN_BY, ROOT, hash_of_module

DOCS = Path(__file__).resolve().parent
# A picture of the site is no heavier (tests/docs/test_gallery.py allows 200 KB).
MOST_BYTES, COLOURS = 195_000, 255
RUNS = ROOT / "out" / "pictures"


def listed() -> dict[str, list[dict[str, Any]]]:
    """`pictures.toml`: `made` by commands, and `kept` as they are."""
    found: dict[str, list[dict[str, Any]]] = tomllib.loads((DOCS / "pictures.toml").read_text(encoding="utf-8"))
    return found


def stale(docs: Path = DOCS) -> Iterator[str]:
    """Every picture that its module would not draw like this today, as a sentence.

    Args:
        docs: the folder of the pictures.
    """
    for entry in listed()["made"]:
        for file in entry["files"]:
            again = f"python docs/pictures.py {name_of(file)}"
            if not (docs / file).is_file():
                yield f"docs/{file} is not there: {again}"
                continue
            with Image.open(docs / file) as image:
                stamp, data = image.info.get(DRAWN_BY, ""), image.info.get(DATA, "")
            module, _, code = stamp.partition(" ")
            if not module or not data:
                yield f"docs/{file} carries no hash of its data and module: {again}"
            elif not (ROOT / module).is_file() or hash_of_module(ROOT / module) != code:
                yield f"docs/{file} was drawn by another version of {module}: {again}"
    for entry in listed().get("kept", []):
        if hash_of_module(ROOT / entry["module"]) != entry["hash"]:
            yield f"docs/{entry['file']}: {entry['module']} has changed; make it again: {entry['command']}"


def name_of(file: str) -> str:
    """What a picture is called on the command line."""
    return Path(file).stem


def make(entry: dict[str, Any]) -> None:
    """Carry out the commands of a picture, and copy what they drew."""
    out = RUNS / name_of(next(iter(entry["files"])))
    out.mkdir(parents=True, exist_ok=True)
    # This checkout's package, whichever one is installed.
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    for command in entry["commands"]:
        words = [word.format(out=out, docs=DOCS) for word in shlex.split(command)]
        first = [sys.executable, "-m", "cluster_abm"] if words[0] == "cluster-abm" else [sys.executable]
        subprocess.run([*first, *words[1:]], check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    for file, made in entry["files"].items():
        if made:
            shutil.copyfile(out / made, DOCS / file)
        compress(DOCS / file)
        print(f"docs/{file}")


def compress(path: Path) -> None:
    """Make a PNG as small as the site wants it, first without and then with a palette; its stamps stay."""
    with Image.open(path) as image:
        info = PngInfo()
        for name in (DRAWN_BY, DATA):
            info.add_text(name, image.info[name])
        whole = image.convert("RGB")
    if path.stat().st_size > MOST_BYTES:
        whole.save(path, optimize=True, pnginfo=info)
    if path.stat().st_size > MOST_BYTES:
        few = whole.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True, pnginfo=info)


def draw_validations() -> None:
    """Draw the measured machines again from their tables."""
    import json

    from cluster_abm.cli.studies.validate import captions_of
    from cluster_abm.results.of_studies.validation_picture import draw_validation
    from cluster_abm.validation.report import machine_line

    for table in sorted((DOCS / "validation").glob("*/responses.csv")):
        document = json.loads((table.parent / "validation.json").read_text(encoding="utf-8"))
        picture = table.parent / "validation.png"
        draw_validation(picture, machine_line(document), pd.read_csv(table), captions_of(document))


def run_page(page: str, out: Path) -> None:
    """Run the Python of a page in a folder, as a reader does."""
    blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    script = out / "page.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    subprocess.run([sys.executable, script.name], check=True, cwd=out)


def main(names: list[str]) -> None:
    """Make the pictures of these names again, or those that are stale."""
    if names == ["--validation"]:
        draw_validations()
        return
    if names[:1] == ["--page"]:
        run_page(names[1], Path(names[2]))
        return
    named = names or [line.split(" ")[0] for line in stale()]
    for entry in listed()["made"]:
        if any(name_of(file) in names or f"docs/{file}" in named for file in entry["files"]):
            make(entry)


if __name__ == "__main__":
    main(sys.argv[1:])
