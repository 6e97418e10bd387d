"""What a folder of results says of itself: study.toml, scenario.toml and plan.json, each with a checksum in it."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cluster_abm.bounded_files import opened
from cluster_abm.errors import InputError
from cluster_abm.scenario.filling.toml_file import is_there
from cluster_abm.study.store.durable import Damaged, read_bytes, seal, unseal

STUDY, SCENARIO, PLAN = "study.toml", "scenario.toml", "plan.json"
DOCUMENTS = (SCENARIO, STUDY, PLAN)
# The checksum is in a first line that is a comment of TOML, or the first key of JSON: other programs read them too.
_AROUND = {
    STUDY: ("# of cluster-abm batch: sha256 ", ""),
    SCENARIO: ("# of cluster-abm batch: sha256 ", ""),
    PLAN: ('{"sha256": "', '",'),
}


def sealed_document(name: str, text: str) -> bytes:
    """The bytes of a document; `text` is TOML, or a JSON object of at least one key."""
    return seal(text.removeprefix("{") if name == PLAN else text, *_AROUND[name])


def read_document(path: Path) -> str:
    """The text of a document.

    Raises:
        Damaged: it cannot be read, or is not as it was written.
        FileNotFoundError: there is none.
    """
    text = unseal(read_bytes(path), *_AROUND[path.name])
    return "{" + text if path.name == PLAN else text


def damaged_documents(folder: Path) -> dict[Path, str]:
    """Documents of a folder that are not as they were written, with what is wrong."""
    found = {}
    for name in DOCUMENTS:
        try:
            read_document(folder / name)
        except Damaged as problem:
            found[folder / name] = str(problem)
        except FileNotFoundError:
            pass
    return found


def holds_results(folder: str | Path) -> bool:
    """Whether a folder is one of results: any of its documents begins as ours do, even if it is damaged."""
    return any(_is_ours(Path(folder, name)) for name in DOCUMENTS)


def check_folder(study: str, sources: Iterable[Path], folder: str | Path) -> None:
    """Make sure that a batch of a study may write to the folder: no file of another origin would be lost.

    Args:
        study: its name.
        sources: the files that it is read from.
        folder: where its results are to be.

    Raises:
        InputError: the study or its scenario lies there under a name that is written over, the folder holds another
            study, or files that look like results and are none.
    """
    root = Path(folder)
    for path in sources:
        for name in (STUDY, SCENARIO):
            if is_there(path) and os.path.realpath(path) == os.path.realpath(root / name):
                raise InputError(
                    f"--out {str(folder)!r}: {path} is what the study is read from, and would be written over; "
                    "another folder is needed"
                )
    # Another process may just be making the folder: its documents are there before anything else is.
    foreign = [name for name in DOCUMENTS if (root / name).exists()]
    foreign += [f"{name}/" for name in ("runs", "parts") if any((root / name).glob("*"))]
    if not holds_results(root):
        if foreign:
            raise InputError(
                f"--out {str(folder)!r}: no results of a study, but {', '.join(foreign)}, which would be written over; "
                "another folder is needed"
            )
        return
    name = _name_of_study(root)
    if name not in (None, study):
        raise InputError(
            f"--out {str(folder)!r}: holds results of the study {name!r}, not {study!r}; another folder is needed"
        )


def _is_ours(path: Path) -> bool:
    mark = _AROUND[path.name][0].encode()
    try:
        with opened(path) as file:
            return file.read(len(mark)) == mark
    except (InputError, OSError):
        return False


def _name_of_study(folder: Path) -> Any:
    """As far as a document says it that is not damaged."""
    for name, parse, key in ((PLAN, json.loads, "study"), (STUDY, tomllib.loads, "name")):
        with suppress(Damaged, FileNotFoundError):
            return parse(read_document(folder / name)).get(key)
    return None
