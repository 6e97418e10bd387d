"""The documentation's pictures are drawn by today's code, each by a command (docs/pictures.toml)."""

from __future__ import annotations

import importlib.util
import shutil

import pytest
from pages import ROOT
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from cluster_abm.results.figures.stamps import DATA, DRAWN_BY

DOCS = ROOT / "docs"
# Drawn by a browser: docs/tutorials/page_pictures.py, docs/recordings/make.py.
OF_BROWSERS = ("page.png", "tutorials/the-page-", "recordings/")


@pytest.fixture(scope="module")
def pictures():
    """The script docs/pictures.py."""
    spec = importlib.util.spec_from_file_location("pictures_of_the_docs", DOCS / "pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_picture_that_is_drawn_has_a_command(pictures):
    drawn = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.png")}
    listed = pictures.listed()
    names = [file for entry in listed["made"] for file in entry["files"]] + [one["file"] for one in listed["kept"]]
    assert len(names) == len(set(names))
    assert {name for name in drawn if not name.startswith(OF_BROWSERS)} == set(names)


def test_no_picture_is_stale(pictures):
    """A module that draws has changed: the message names the command that draws its pictures again."""
    assert list(pictures.stale()) == [], "python docs/pictures.py makes all of these again"


@pytest.mark.slow
def test_a_stale_picture_is_found(pictures, tmp_path):
    for entry in pictures.listed()["made"]:
        for file in entry["files"]:
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(DOCS / file, tmp_path / file)
    with Image.open(DOCS / "compare.png") as image:
        module, data = image.info[DRAWN_BY].split(" ")[0], image.info[DATA]
        for name, stamp in (("compare.png", {DRAWN_BY: f"{module} 0123", DATA: data}), ("papers/herding.png", {})):
            info = PngInfo()
            for key, value in stamp.items():
                info.add_text(key, value)
            image.save(tmp_path / name, pnginfo=info)
    (tmp_path / "gallery/plan.png").unlink()
    assert sorted(pictures.stale(tmp_path)) == [
        f"docs/compare.png was drawn by another version of {module}: python docs/pictures.py compare",
        "docs/gallery/plan.png is not there: python docs/pictures.py plan",
        "docs/papers/herding.png carries no hash of its data and module: python docs/pictures.py herding",
    ]
