"""What ships with the package: scenarios, networks, hardware presets, programs, studies and reproductions."""

from __future__ import annotations

import itertools
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

from cluster_abm.scenario import load_scenario, scenario_names
from cluster_abm.scenario.hardware import preset_names, preset_path, read_preset
from cluster_abm.scenario.load import network_names, scenario_path, shipped_network
from cluster_abm.scenario.shipped import shipped_path
from cluster_abm.scenario.wording.caption import caption_of

from .markdown import anchor, code, dropdown, escaped, sentence

REFERENCE = Path(__file__).resolve().parents[2] / "reference"


def first_comment(path: Path) -> str:
    """The comment at the head of a file, as one text; "" if it begins with something else."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = itertools.takewhile(lambda line: line.startswith("#"), lines)
    return " ".join(line.removeprefix("#").strip() for line in head)


def _entry(kind: str, name: str, path: Path, words: list[str], command: str, language: str = "toml") -> str:
    inside = os.path.relpath(path, REFERENCE)
    listing = f":::{{literalinclude}} {Path(inside).as_posix()}\n:language: {language}\n:::"
    lines = [f"({anchor(kind, name)})=", f"### {name}", "", *(f"{one}\n" for one in words if one)]
    if command:
        lines += ["```sh", command, "```", ""]
    return "\n".join([*lines, dropdown(path.name, listing)])


def scenarios() -> str:
    """The shipped scenarios."""
    return "\n".join(_scenarios())


def _scenarios() -> Iterator[str]:
    for name in scenario_names():
        scenario, path = load_scenario(name), scenario_path(name)
        needs_trace = scenario.workload.kind == "trace" and scenario.workload.trace.file is None
        command = f"cluster-abm compare {name}" + (" --trace FILE" if needs_trace else "")
        words = [sentence(escaped(caption_of(scenario))), escaped(first_comment(path))]
        yield _entry("scenario", name, path, words, command)


def networks() -> str:
    """The shipped networks."""
    return "\n".join(
        _entry(
            "network", name, path, [],
            f"cluster-abm run quickstart --set interconnect.file={name} --set cluster.nodes=4", "json",
        )
        for name in network_names() if (path := shipped_network(name))
    )  # fmt: skip


def hardware() -> str:
    """The hardware presets."""
    return "\n".join(
        _entry(
            "hardware", name, preset_path(name),
            [sentence(escaped(read_preset(name).title)), escaped(first_comment(preset_path(name)))],
            f"cluster-abm run quickstart --set {read_preset(name).section}.hardware={name}",
        )
        for name in preset_names()
    )  # fmt: skip


def programs() -> str:
    """The shipped activity profiles."""
    return "\n".join(
        _entry("programs", path.stem, path, [escaped(first_comment(path))], "", "text")
        for path in sorted(shipped_path("programs").glob("*.csv"))
    )


def studies() -> str:
    """The shipped studies."""
    return "\n".join(_of_folder("studies", "study", "cluster-abm batch run {name} --out out/{name}"))


def reproductions() -> str:
    """The figures and tables of the papers."""
    return "\n".join(_of_folder("reproduce", "reproduction", "cluster-abm reproduce {name}"))


def _of_folder(folder: str, kind: str, command: str) -> Iterator[str]:
    for path in sorted(shipped_path(folder).glob("*.toml")):
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        of_scenario = f"Scenario: [{code(found['scenario'])}](#{anchor('scenario', found['scenario'])})."
        title = ". ".join(str(found[key]) for key in ("paper", "title") if key in found)
        words = [sentence(escaped(title)), escaped(first_comment(path)), of_scenario]
        yield _entry(kind, path.stem, path, words, command.format(name=path.stem))
