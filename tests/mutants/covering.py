"""Which tests carry out a line: the fast suite once under `coverage`, a context a test.

Compiled code is not seen: a line of a kernel has no tests here (`Covering.near` serves it).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

# Of the tests that carry out a line at most this number is kept, the quickest.
KEPT = 400
# Where tests of a folder of the package are, nearest first, beside the folder of its name.
NEXT = ("crossings", "engine", "compiling", "model", "policies", "theory", "workload", "results", "study", "scenario")


@dataclass(frozen=True)
class Covering:
    """The tests of the fast suite that passed, and what each line is carried out by.

    Args:
        seconds: that a test took, by its name; quickest first.
        lines: names of tests by file and line.
        slow: names of the slow tests.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]
    slow: list[str]

    def of(self, path: str, line: int) -> list[str]:
        """The tests that carry out a line, nearest first, of those the quickest."""
        return sorted(self.lines.get(path, {}).get(line, []), key=lambda test: _distance(test, path))

    def near(self, path: str) -> list[str]:
        """All tests, nearest first, of those the quickest; at the end the slow ones of the folder."""
        slow = [test for test in self.slow if _distance(test, path) < len(Path(path).parts) - 1]
        return sorted(self._by_time, key=lambda test: _distance(test, path)) + slow

    @cached_property
    def _by_time(self) -> list[str]:
        return sorted(self.seconds, key=self.seconds.__getitem__)


def _distance(test: str, path: str) -> int:
    """How far a test is from a file: 0 in the folder of tests that has the name of the file's folder."""
    folders = [*reversed(Path(path.replace("viz/", "page/")).parts[:-1]), *NEXT]
    folder = Path(test.split("::")[0]).parts[1]
    return folders.index(folder) if folder in folders else len(folders)


def covering(clone: Path, kept: Path, workers: int) -> Covering:
    """What the fast suite of a clone covers, read from `kept`, or found out and kept there: some minutes."""
    if not kept.exists():
        parts = [kept.with_name(f"part-{number}.json") for number in range(workers)]
        command = [sys.executable, str(Path(__file__).resolve()), str(clone)]
        started = [subprocess.Popen([*command, str(part), str(n), str(workers)]) for n, part in enumerate(parts)]
        ends = [process.wait() for process in started]
        if any(ends):
            raise SystemExit("the fast suite under coverage did not come to its end")
        kept.write_text(json.dumps(_joined([json.loads(part.read_text()) for part in parts])))
        for part in parts:
            part.unlink()
            part.with_suffix(".coverage").unlink()
    found = json.loads(kept.read_text())
    names = list(found["seconds"])
    lines = {
        path: {int(line): [names[test] for test in tests] for line, tests in by_line.items()}
        for path, by_line in found["lines"].items()
    }
    return Covering(found["seconds"], lines, found["slow"])


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """The parts' tests in one list, quickest first, by whose numbers lines name them."""
    seconds = {test: took for part in parts for test, took in part["seconds"].items()}
    names = sorted(seconds, key=seconds.__getitem__)
    number = {test: place for place, test in enumerate(names)}
    lines: dict[str, dict[str, list[int]]] = defaultdict(dict)
    for part in parts:
        for path, by_line in part["lines"].items():
            for line, tests in by_line.items():
                passed = [number[test] for test in tests if test in number]
                lines[path][line] = sorted(lines[path].get(line, []) + passed)[:KEPT]
    return {"seconds": {test: seconds[test] for test in names}, "lines": lines, "slow": parts[0]["slow"]}


class _Contexts:
    """The part of the suite that is this process', each test in a context of its own."""

    def __init__(self, measured: Any, part: int, parts: int) -> None:
        self._measured, self._part, self._parts = measured, part, parts
        self.seconds: dict[str, float] = {}
        self.slow: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.slow = [item.nodeid for item in items if item.get_closest_marker("slow")]
        files = sorted({item.path for item in items})
        mine = set(files[self._part :: self._parts])
        items[:] = [item for item in items if item.path in mine and not item.get_closest_marker("slow")]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._measured.switch_context(item.nodeid)
        before = time.perf_counter()
        result = yield
        if item.nodeid in self.seconds:
            self.seconds[item.nodeid] = round(time.perf_counter() - before, 4)
        self._measured.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration


def _measure(clone: Path, kept: Path, part: int, parts: int) -> None:
    from coverage import Coverage

    os.chdir(clone)
    sys.path[:0] = [str(clone), str(clone / "tests")]
    os.environ["PYTHONPATH"] = str(clone)
    measured = Coverage(data_file=str(kept.with_suffix(".coverage")), source=["cluster_abm", "viz"], config_file=False)
    contexts = _Contexts(measured, part, parts)
    measured.start()
    pytest.main(["-q", "-p", "no:cacheprovider", "-m", "", "--hypothesis-seed=0"], plugins=[contexts])
    measured.stop()
    data = measured.get_data()
    lines = {}
    for file in data.measured_files():
        by_line = data.contexts_by_lineno(file)
        named = {line: [test for test in tests if test] for line, tests in by_line.items()}
        lines[Path(file).relative_to(clone).as_posix()] = {line: tests for line, tests in named.items() if tests}
    kept.write_text(json.dumps({"seconds": contexts.seconds, "lines": lines, "slow": contexts.slow}))


if __name__ == "__main__":
    _measure(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
