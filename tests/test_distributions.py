"""The sdist and the wheel: what is in them, and that a wheel works where the repository is not.

Hatchling builds both, without a network if it is installed; if not, pip is asked to fetch it, and where it cannot the
tests are skipped.
"""

from __future__ import annotations

import email
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from email.message import Message
from pathlib import Path, PurePosixPath

import pytest

from cluster_abm import __version__

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LEFT_OUT = {"__pycache__", "out"}
SHIPPED = ("scenarios", "viz")

pytestmark = pytest.mark.slow


def _done(command: list[str], folder: Path, path: str = "") -> str:
    """What a command prints, run in a folder, with a path of Python's own; it has to succeed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path:
        environment["PYTHONPATH"] = path
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A path on which there is hatchling; "" if it is installed."""
    if importlib.util.find_spec("hatchling"):
        return ""
    target = tmp_path_factory.mktemp("hatchling")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--retries", "0"]
    done = subprocess.run(
        [*pip, "--target", str(target), "hatchling>=1.25"], capture_output=True, text=True, timeout=300
    )
    if done.returncode:
        pytest.skip(f"hatchling is not installed, and pip does not get it: {done.stderr.strip()[-200:]}")
    return str(target)


def _built(builder: str, tree: Path, kind: str, target: Path) -> Path:
    _done([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)], tree, builder)
    (found,) = target.iterdir()
    return found


@pytest.fixture(scope="module")
def sdist(builder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(builder, ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (tree,) = folder.iterdir()
    return tree


@pytest.fixture(scope="module")
def wheel(builder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(builder, ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps"]
    _done([*pip, "--target", str(target), str(wheel)], target)
    return target


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder of the repository, but those that no repository holds."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not LEFT_OUT & set(file.relative_to(folder).parts)
    }


def _metadata(contents: Mapping[str, bytes]) -> Message:
    (name,) = (name for name in contents if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(contents[name])


def test_the_wheel_holds_the_package_and_what_it_ships_and_nothing_else(wheel: Path) -> None:
    contents = _contents(wheel)
    expected = {f"cluster_abm/{name}": data for name, data in _tree(ROOT / "cluster_abm").items()}
    for folder in SHIPPED:
        shipped = _tree(ROOT / folder).items()
        expected |= {f"cluster_abm/shipped/{folder}/{name}": data for name, data in shipped}
    packed = {name: data for name, data in contents.items() if ".dist-info/" not in name}
    assert sorted(packed) == sorted(expected)
    assert packed == expected


def test_the_wheel_carries_both_licences(wheel: Path) -> None:
    licences = {
        name.partition(".dist-info/licenses/")[2]: data.decode()
        for name, data in _contents(wheel).items()
        if ".dist-info/licenses/" in name
    }
    assert "Permission is hereby granted, free of charge" in licences["LICENSE"]
    assert "Redistribution and use in source and binary forms" in licences["scenarios/logs/README.md"]


def test_the_metadata_say_what_an_index_shows(wheel: Path) -> None:
    metadata = _metadata(_contents(wheel))
    assert metadata["Name"] == "cluster-abm"
    assert metadata["Version"] == __version__ == PROJECT["version"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["Author"] == "The cluster_abm developers"
    assert metadata["License-Expression"] == "MIT AND BSD-3-Clause"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert str(metadata.get_payload()).lstrip().startswith("# ")
    assert sorted(metadata.get_all("Provides-Extra", [])) == sorted(PROJECT["optional-dependencies"])
    # An index refuses a summary of more than one line or 512 characters.
    assert 0 < len(metadata["Summary"]) <= 512


def test_the_sdist_holds_what_one_needs_to_build_test_and_cite(sdist: Path, unpacked: Path) -> None:
    assert sdist.name == f"cluster_abm-{__version__}.tar.gz"
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "CITATION.cff"):
        assert (unpacked / name).read_bytes() == (ROOT / name).read_bytes()
    for folder in ("cluster_abm", "scenarios", "viz", "tests", "docs"):
        assert _tree(unpacked / folder), folder
    names = [PurePosixPath(name) for name in _tree(unpacked)]
    assert not [name for name in names if name.parts[0] in {"out", "dist", ".venv", ".git"}]
    assert not [name for name in names if name.suffix in {".pyc", ".xz", ".swf"}], "data of others"


def test_a_wheel_from_the_sdist_is_the_wheel_from_the_repository(
    builder: str, unpacked: Path, wheel: Path, tmp_path: Path
) -> None:
    again = _built(builder, unpacked, "wheel", tmp_path)
    assert again.name == wheel.name
    assert _contents(again) == _contents(wheel)


def test_an_installed_wheel_lists_and_runs_what_it_ships(installed: Path, tmp_path: Path) -> None:
    command = str(installed / "bin" / "cluster-abm")
    path = str(installed)
    place = _done([sys.executable, "-c", "import cluster_abm; print(cluster_abm.__file__)"], tmp_path, path)
    assert Path(place.strip()).is_relative_to(installed)
    assert __version__ in _done([command, "--version"], tmp_path, path)
    scenarios = json.loads(_done([command, "scenarios", "--json"], tmp_path, path))
    assert "quickstart" in json.dumps(scenarios)
    assert "iolb" in json.dumps(json.loads(_done([command, "policies", "--json"], tmp_path, path)))
    log = installed / "cluster_abm" / "shipped" / "scenarios" / "logs" / "fb2009.tsv"
    assert json.loads(_done([command, "trace", "info", str(log), "--json"], tmp_path, path))["jobs"] == 940
    run = [command, "run", "quickstart", "--policy", "jsq", "--set", "workload.duration_s=20", "--json"]
    summary = json.loads(_done([*run, "--out", str(tmp_path / "kept")], tmp_path, path))
    assert summary["metrics"]["mean_slowdown"] >= 1.0
    assert (tmp_path / "kept" / "summary.json").is_file()
