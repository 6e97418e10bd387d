"""Windows of a day of virtual machines (GWA-T-12): the samples of each window, as files of their own."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path


def lines_of(path: Path) -> list[str]:
    """The lines of a text file, plain or packed by gzip or xz."""
    packed = path.read_bytes()
    if path.suffix in (".xz", ".gz"):
        packed = lzma.decompress(packed) if path.suffix == ".xz" else gzip.decompress(packed)
    return packed.decode().splitlines(keepends=True)


def seconds(line: str) -> float:
    """A sample's instant [s]; not a number where the line has none."""
    try:
        return float(line.split(";", 1)[0])
    except ValueError:
        return float("nan")


def span_of(folder: Path) -> tuple[float, float]:
    """The first and the last instant of any machine [s]."""
    found = [time for path in machine_files(folder) for line in lines_of(path)[1:] if (time := seconds(line)) > 0]
    return min(found), max(found)


def plain_name(path: Path) -> str:
    """A file's name without what says that it is packed."""
    return path.name.removesuffix(".xz").removesuffix(".gz")


def machine_files(folder: Path) -> list[Path]:
    """The machines' files."""
    return sorted(path for path in folder.iterdir() if plain_name(path).endswith(".csv"))


def write_window(folder: Path, begin_s: float, end_s: float, into: Path) -> Path:
    """Write each machine's samples from `begin_s` up to `end_s` into a folder, the header above them."""
    into.mkdir(parents=True, exist_ok=True)
    for path in machine_files(folder):
        header, *samples = lines_of(path)
        inside = [line for line in samples if begin_s <= seconds(line) < end_s]
        if inside:
            (into / plain_name(path)).write_text(header + "".join(inside), encoding="utf-8")
    return into
