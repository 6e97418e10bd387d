"""What is wrong with the way a case ended."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from carrying_out import LIMITS, Ending, Limits
from case import BAD_INPUT, FINE, Case

LONGEST_LINE = 1000
WARNING = re.compile(r"^.*\b\w*Warning: .*$", re.MULTILINE)
FRAME = re.compile(r'File "[^"]*?([\w-]+/[\w.-]+\.py)", line (\d+), in (\S+)')


def problems_of(case: Case, ending: Ending, limits: Limits = LIMITS) -> list[str]:
    """What is wrong, each in a line; nothing if all is well."""
    if ending.killed:
        return [ending.killed]
    found = []
    stderr = ending.stderr.decode("utf-8", "replace")
    if ending.code not in case.codes:
        found.append(f"exit code {ending.code}{_fault(stderr)}")
    elif "Traceback" in stderr:
        found.append(f"a traceback on stderr{_fault(stderr)}")
    elif warned := WARNING.search(stderr):
        found.append(f"a warning of Python's on stderr: {_without_numbers(warned[0])[:150]}")
    if ending.wall_s > limits.wall_s:
        found.append(f"took longer than {limits.wall_s:g} s")
    if ending.memory_mb > limits.memory_mb:
        found.append(f"took more than {limits.memory_mb} MB")
    lines = stderr.splitlines()
    if ending.code == BAD_INPUT and not any(line.startswith(("error:", "Error:", "Usage:")) for line in lines):
        found.append("exit code 2 without a line that begins with error:")
    if "Traceback" not in stderr and any(len(line) > LONGEST_LINE for line in lines):
        longest = max(lines, key=len)
        found.append(f"a line of more than {LONGEST_LINE} characters on stderr: {_shape(longest)}")
    if ending.code != FINE and ending.empty:
        found.append(f"failed, and left empty folders behind: {', '.join(ending.empty)[:100]}")
    helped = {"-h", "--help", "--version"} & {*case.arguments}
    if "--json" in case.arguments and case.stdout == "file" and not helped:
        found += _of_json(ending)
        if not found and ending.code == FINE and case.arguments[:2] == ["trace", "info"]:
            found += _of_rows(json.loads(ending.stdout))
    return found


def _fault(stderr: str) -> str:
    """Where the innermost traceback ends, and with what: what faults of one cause have in common."""
    start = stderr.rfind("Traceback (most recent call last)")
    if start < 0:
        last = next((line for line in reversed(stderr.splitlines()) if line.strip()), "nothing on stderr")
        return f": {_without_numbers(last)[:120]}"
    frames = FRAME.findall(stderr[start:])
    ours = [frame for frame in frames if not frame[0].startswith("click/")]
    named = [line for line in stderr[start:].splitlines() if re.match(r"[A-Za-z_][\w.]*(: |$)", line)]
    what = _without_numbers(named[-1])[:120] if named else "?"
    where = f"{ours[-1][0]} in {ours[-1][2]}" if ours else "?"
    return f": {what} ({where})"


def _without_numbers(text: str) -> str:
    return re.sub(r"\d+", "N", re.sub(r"/[^\s'\"]*/", "", text))


def _shape(line: str) -> str:
    """The beginning of a long line without what differs from case to case."""
    return re.sub(r"(.)\1{9,}", r"\1..", _without_numbers(line))[:80]


def _of_json(ending: Ending) -> list[str]:
    if not ending.stdout:
        return ["exit code 0 with --json, and nothing on stdout"] if ending.code == FINE else []

    def refuse(word: str) -> NoReturn:
        raise ValueError(f"{word} is not JSON")

    try:
        json.loads(ending.stdout, parse_constant=refuse)
    except ValueError as problem:
        return [f"--json: not one JSON document on stdout: {_without_numbers(str(problem))[:100]}"]
    return []


def _of_rows(info: dict[str, Any]) -> list[str]:
    """Each row of a log is one that is used, or is skipped for a reason."""
    skipped = sum(info["skipped"].values())
    if info["rows"] == info["used"] + skipped:
        return []
    return [f"rows are not those used and those skipped: {info['format']}"]
