"""A validation in words: the table that is printed, and the page that can be kept."""

from __future__ import annotations

import textwrap
from typing import Any

from cluster_abm.results.figures.files import linked
from cluster_abm.validation.judging import LIMITS

Document = dict[str, Any]
TITLES = {"cpu": "CPU sharing", "mixed": "compute and read"}
HEADINGS = ("part", "cores", "sets", "responses", "median error", "90th percentile", "noise floor", "goal", "verdict")


def rows_of(document: Document) -> list[tuple[str, ...]]:
    """A row a part, and one for each number of cores where there are several; columns HEADINGS."""
    found: list[tuple[str, ...]] = []
    for part, title in TITLES.items():
        whole = document[part]
        if whole is None:
            continue
        if whole["median_error"] is None:
            found.append((title, "", "0", "0", "", "", "", "", whole["verdict"]))
            continue
        for one in [whole, *whole.get("by_cores", ())]:
            name = title if one is whole else "  of these"
            floor = one["noise_floor"]
            found.append((
                name, " + ".join(str(count) for count in one["cores"]), str(one["sets"]), str(one["responses"]),
                f"{_share(one['median_error'])} {_interval(one['ci95'])}",
                f"{_share(one['p90_error'])} {_interval(one['p90_ci95'])}",
                "not known" if floor is None else f"{_share(floor['median'])} / {_share(floor['p90'])}",
                f"{one['goal']['median']:.0%} / {one['goal']['p90']:.0%}", one["verdict"],
            ))  # fmt: skip
    memory = document["memory"]
    if memory is not None:
        found.append((
            "memory faults", "1", str(len(memory["limits"])), str(2 * len(memory["limits"])),
            _share(memory["median_error"]), f"{_share(memory['largest_error'])} at most", _share(memory["noise_floor"]),
            f"{memory['goal']:.0%}", memory["verdict"],
        ))  # fmt: skip
    return found


def reasons_of(document: Document) -> list[str]:
    """Why a part is inconclusive, a line a reason; the same reason of several parts once."""
    found: dict[str, list[str]] = {}
    for part, title in (*TITLES.items(), ("memory", "memory faults")):
        for reason in (document[part] or {}).get("reasons", ()):
            found.setdefault(reason, []).append(title)
    return [f"{', '.join(titles)}: {reason}" for reason, titles in found.items()]


def disk_line(document: Document) -> str | None:
    """What the real disk looks like, in a sentence; None if it was not measured."""
    disk = document["disk"]
    if disk is None:
        return None
    bandwidth = "no bandwidth that can be told" if disk["mb_per_s"] is None else f"{disk['mb_per_s']:,.0f} MB/s"
    unstable = f"; unstable: equal reads differ {disk['spread']:.1f}-fold" if disk["unstable"] else ""
    return (
        f"real disk, for information: {disk['latency_ms']:.3g} ms + size / {bandwidth}, off by "
        f"{_share(disk['median_error'])} / {_share(disk['p90_error'])} on reads that it was not fitted to; a second "
        f"pass is {disk['second_pass']:.1f} times as fast; {disk['kind']}{unstable}"
    )


def text(document: Document) -> str:
    """What is printed."""
    rows = [HEADINGS, *rows_of(document)]
    widths = [max(len(row[position]) for row in rows) for position in range(len(HEADINGS))]
    lines = [machine_line(document), ""]
    if len(rows) > 1:
        lines += [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        ]
    reasons = reasons_of(document)
    if reasons:
        lines += ["", "inconclusive, because", *(f"  {reason}" for reason in reasons)]
    disk = disk_line(document)
    if disk is not None:
        lines += ["", disk]
    return "\n".join(lines)


def machine_line(document: Document) -> str:
    """The machine in a line."""
    machine = document["machine"]
    kind = {True: ", virtual", False: "", None: ""}[machine["virtual"]]
    return (
        f"{machine['cpu'] or 'CPU not named'}{kind}, {machine['processors']} processors, {machine['system']}, slice "
        f"{machine['quantum_ms']:.2f} ms"
    )


def page(document: Document) -> str:
    """The page of a machine, in Markdown."""
    machine = document["machine"]
    slices = ", ".join(f"{one:.2f}" for one in machine["slices_ms"]) or "not measured"
    facts = {
        "processor": (machine["cpu"] or "not named") + {True: " (virtual)"}.get(machine["virtual"], ""),
        "processors": f"{machine['processors']}, of which {machine['usable']} may be used; measured on number "
        + ", ".join(str(core) for core in machine["cores"]),
        "system": f"{machine['system']}, Python {machine['python']}",
        "limit of a control group": "none" if machine["quota"] is None else f"{machine['quota']:g} cores",
        "autogroup": {True: "on", False: "off", None: "not said"}[machine["autogroup"]],
        "load average at the beginning": "not said" if machine["load"] is None else f"{machine['load']:g}",
        "effective slice [ms]": f"{slices} (before, after); the simulator's quantum {machine['quantum_ms']:.2f}",
    }
    if machine["slower_together"] is not None:
        facts["CPU of the same work while all of these are busy"] = f"{machine['slower_together'] - 1:+.1%}"
    for when, seen in machine["idle"].items():
        facts[f"others and stolen, {when}"] = f"{_share(seen['others'])}, {_share(seen['steal'])}"
    command = f"cluster-abm validate --seconds {document['seconds']:g} --seed {document['seed']} --parts " + ",".join(
        document["parts"]
    )
    lines = [
        f"# {machine['cpu'] or 'A machine'}, {machine['processors']} processors", "",
        "Measured against predicted; how, and how to read it: docs/validation/index.md.", "",
        f"`{command}` ({document['took_s']:.0f} s)", "",
        *_table(("", ""), facts.items()), "", "## Result", "",
        *_table(HEADINGS, rows_of(document)), "",
    ]  # fmt: skip
    if any(document[part] is not None and document[part]["median_error"] is not None for part in TITLES):
        lines += [
            "Errors are |measured / predicted - 1| of a process's response time, with 95 % bootstrap intervals",
            "over sets; the noise floor is what repeats of the same set differ by, as the error it would make.", "",
            linked("measured against predicted", "validation.png"), "",
        ]  # fmt: skip
    reasons = reasons_of(document)
    if reasons:
        lines += ["Inconclusive, because:", "", *map(_bullet, reasons), ""]
    lines += _conditions(document)
    disk = disk_line(document)
    if disk is not None:
        lines += ["## Disk", "", textwrap.fill(f"{disk[0].upper()}{disk[1:]}.", 100), ""]
    if document["memory"] is not None:
        lines += ["## Memory", "", *_memory(document["memory"]), ""]
    if document["warnings"]:
        lines += ["## Not done", "", *map(_bullet, document["warnings"]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _conditions(document: Document) -> list[str]:
    names = ("part", "cores", "got of the CPU wanted", "others", "stolen", "drift", "demand off by", "sharing alone",
             "bias", "uncorrected", "no contention")  # fmt: skip
    rows = []
    for part, title in TITLES.items():
        whole = document[part]
        for one in [] if whole is None or whole["median_error"] is None else whole.get("by_cores", [whole]):
            seen = one["conditions"]
            rows.append((
                title, " + ".join(str(count) for count in one["cores"]), _share(seen["delivered"]),
                _share(seen["others"]), _share(seen["steal"]), _share(seen["drift"]), _share(one["demand_error"]),
                f"{_share(one['sharing_error']['median'])} / {_share(one['sharing_error']['p90'])}",
                f"{one['bias']:+.1%}", _share(one["uncorrected_median_error"]),
                _share(one["no_contention_median_error"]),
            ))  # fmt: skip
    if not rows:
        return []
    return [
        "## Conditions", "", *_table(names, rows), "",
        f"Limits: got at least {LIMITS.delivered:.0%}, others {LIMITS.others:.0%}, stolen {LIMITS.steal:.0%}, drift "
        f"{LIMITS.drift:.0%}.",
        "*Sharing alone* is the error (median / 90th percentile) where demands are the CPU that each process",
        "used in its set, not what was measured alone. *Uncorrected* is the median error against the wall",
        "clock; *no contention* that of a prediction by which every process runs as if alone.", "",
    ]  # fmt: skip


def _memory(memory: Document) -> list[str]:
    rows = [
        (f"{one['limit_mb']:.0f}", ", ".join(f"{share:.4f}" for share in one["measured"]), f"{one['predicted']:.4f}",
         _share(one["error"]))
        for one in memory["limits"]
    ]  # fmt: skip
    return [
        f"Random touches of {memory['demand_mb']} MB: share that faults.", "",
        *_table(("limit [MB]", "measured, each time", "predicted", "error"), rows),
    ]  # fmt: skip


def _table(names: tuple[str, ...], rows: Any) -> list[str]:
    cells = [[cell.strip() for cell in row] for row in rows]
    return [f"| {' | '.join(names)} |", "|" + "---|" * len(names), *(f"| {' | '.join(row)} |" for row in cells)]


def _bullet(words: str) -> str:
    return textwrap.fill(f"* {words}", 100, subsequent_indent="  ")


def _share(value: float) -> str:
    return f"{value:.1%}"


def _interval(ends: list[float]) -> str:
    return f"[{ends[0]:.1%}, {ends[1]:.1%}]"
