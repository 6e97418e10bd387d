"""`validate`: this machine, measured against predicted."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster_abm.cli.figures import figures_option
from cluster_abm.cli.options import json_option, names_of, out_option
from cluster_abm.cli.output import echo, tell
from cluster_abm.errors import InputError
from cluster_abm.interrupts import interrupt_held_back

if TYPE_CHECKING:
    from cluster_abm.validation.validate import Validation

NAMES = {
    "cpu": "start some processes that keep up to {cores} cores busy",
    "mixed": "start some that compute and sleep in turn on one core",
    "disk": "write a file of {file_mb} MB in {folder} and read it (it has no name, and is gone at the end)",
    "memory": "write files of 96 MB in {folder}, and make a control group with a memory limit for a process that reads "
    "them (root; it is removed)",
}


@click.command("validate", short_help="Measure this machine and hold the model to it.")
@click.option("--yes", is_flag=True, help="Do not ask before the machine is kept busy.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=10, max=3600),
    default=300.0,
    show_default=True,
    help="When it has to be over. The simulator's first compilation counts, and takes up to a minute.",
)
@click.option(
    "--parts",
    default="cpu,mixed,disk",
    show_default=True,
    metavar="PART,PART,...",
    help="What is measured: cpu, mixed (compute and read), disk, memory.",
)
@click.option("--memory", "with_memory", is_flag=True, help="Also the part memory: a memory limit by a control group.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of the sets of processes.")
@out_option(None)
@figures_option()
@json_option
def validate_command(
    yes: bool, seconds: float, parts: str, with_memory: bool, seed: int, out: Path | None, as_json: bool
) -> int:
    """Measure this machine and hold the simulator's node to it: response times measured against predicted.

    Sets of processes share cores, and read a virtual disk; their demands are measured alone, and the simulator predicts
    how long each takes among the others. A machine that is busy with other things gives "inconclusive", with the
    reason. Nothing is left behind: no process, no file but those in OUT (validation.json, responses.csv,
    validation.png, MACHINE.md). Needs Linux; what another system lacks is said.

    Example: cluster-abm validate --yes --out out/validation
    """
    from cluster_abm.json_text import to_json
    from cluster_abm.results.files import out_folder
    from cluster_abm.validation.report import text
    from cluster_abm.validation.validate import validate

    chosen = parts_of(parts, with_memory)
    if not math.isfinite(seconds):
        raise InputError(f"--seconds {seconds}: a number from 10 to 3600 is needed")
    folder = out or Path(tempfile.gettempdir())
    if not _agreed(yes, chosen, seconds, folder):
        tell("nothing was measured")
        return 0
    if out is None:
        found = validate(chosen, seconds, seed, folder, tell)
    else:
        with out_folder(out) as made:
            found = validate(chosen, seconds, seed, made, tell)
            with interrupt_held_back():
                save(made, found)
    document = found.document()
    if as_json:
        echo(to_json(document), nl=False)
    else:
        echo(text(document))
    for warning in found.warnings:
        tell(f"warning: {warning}")
    if out is not None:
        (tell if as_json else echo)(f"\npage, picture and tables: {out / 'MACHINE.md'} and beside it")
    return 0


def parts_of(given: str, with_memory: bool) -> list[str]:
    """The parts that are asked for, in their order. Raises InputError for a name that is none."""
    from cluster_abm.scenario import nearest

    names = names_of(given) or []
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        hint = nearest(unknown[0][:60], list(NAMES)) if unknown else f"allowed are {', '.join(NAMES)}"
        raise InputError(f"--parts {given[:60]!r}: {hint}")
    return [name for name in NAMES if name in names or (name == "memory" and with_memory)]


def save(folder: Path, found: Validation) -> None:
    """Write the document, every response, the picture and the page."""
    from cluster_abm.results.files import in_one_move, write_json, write_text
    from cluster_abm.results.of_studies.validation_picture import draw_validation
    from cluster_abm.validation.report import machine_line, page

    document, table = found.document(), found.table()
    write_json(folder, "validation.json", document)
    write_text(folder, "MACHINE.md", page(document))
    if not table.empty:
        with in_one_move(folder / "responses.csv") as partial:
            table.round(6).to_csv(partial, index=False, lineterminator="\n")
        draw_validation(folder / "validation.png", machine_line(document), table, captions_of(document))


def captions_of(document: dict[str, Any]) -> dict[str, str]:
    """What the picture says above each part; a part that was not carried out, or had no response in time, has none."""
    found = {part: document[part] for part in ("cpu", "mixed") if document[part]}
    return {
        part: f"median error {one['median_error']:.1%}, 90 % below {one['p90_error']:.1%}: {one['verdict']}"
        for part, one in found.items()
        if one["median_error"] is not None
    }


def _agreed(yes: bool, parts: Sequence[str], seconds: float, folder: Path) -> bool:
    """Say what will be done and ask. Raises InputError if there is no terminal to ask on."""
    from cluster_abm.validation.disk import FILE_MB
    from cluster_abm.validation.machine import MOST_CORES

    words = [NAMES[part].format(cores=MOST_CORES, file_mb=FILE_MB, folder=folder) for part in parts]
    tell(f"validate will, within {seconds:g} s:\n" + "\n".join(f"  {line}" for line in words))
    if yes:
        return True
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError("validate: it keeps this machine busy, and there is no terminal to ask on: give it --yes")
    return click.confirm("Go on?", err=True)
