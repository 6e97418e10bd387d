"""What sacct prints in forms that are not read, by what it looks like."""

from __future__ import annotations

from cluster_abm.workload.text.csv_cells import SEPARATORS
from cluster_abm.workload.traces.slurm.accounting import COMMAND, looks_like_sacct

# None, blanks of any kind, comes last: columns of fixed width, in which long cells are cut off.
FORMS: dict[str | None, str] = {
    **{mark: f"with {words} between its columns" for mark, words in SEPARATORS.items() if mark != "|"},
    None: "in columns of fixed width (long cells are cut off)",
}


def unlike(line: str) -> str | None:
    """What the header of sacct's in another form is, and the command that exports well; None: it is none."""
    for mark, words in FORMS.items():
        if looks_like_sacct([name.strip('" ') for name in line.split(mark)]):
            return f"Slurm's sacct {words}: allowed is | between them: `{COMMAND}`"
    return None
