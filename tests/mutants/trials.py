"""One fault put into a clone, and tests run on it in a process of their own, until one notices it or time is up."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mutants.covering import Covering
from mutants.faults import Fault

# A test hangs if it takes this much longer than on the sound code [s]; where kernels are compiled anew, longer.
HANGS_S, COMPILES_S, TIMES_AS_LONG = 40.0, 120.0, 10
# Tests of the covered line get at most this share of the time of a fault; then the others, where there are such tests,
# get that one: of the others only those that start processes can carry out the line.
FIRST_SHARE, OTHERS_SHARE = 0.5, 0.2


@dataclass(frozen=True)
class Verdict:
    """What became of a fault.

    Args:
        noticed: whether a test failed, hung or could not be loaded.
        by: that test, and how it noticed it.
        tests: that ran.
        seconds: that this took.
    """

    noticed: bool
    by: str
    tests: int
    seconds: float

    def row(self, fault: Fault, text: str) -> dict[str, Any]:
        """Both as plain data; `before` and `after` are the lines that the fault changes."""
        before, after = fault.shown(text)
        return {"path": fault.path, "line": fault.line, "kind": fault.kind, "before": before, "after": after} | asdict(
            self
        )


class _End(NamedTuple):
    """How a series of tests ended.

    Args:
        how: the part of a test that failed ("call", "setup", ...), "hangs" or "the process ended"; empty: none did.
        test: that test.
        ran: how many tests ran.
    """

    how: str
    test: str
    ran: int

    @property
    def words(self) -> str:
        return self.test + ("" if self.how == "call" else f" ({self.how})")


class Trials:
    """A clone of the checkout with a cache of kernels of its own, in which faults are tried one after the other."""

    def __init__(self, clone: Path, covering: Covering, minutes: float) -> None:
        self._clone, self._covering, self._limit_s = clone, covering, minutes * 60.0
        self._cache = clone.with_name(f"kernels-of-{clone.name}")
        self._sound: set[Path] = set()

    def judged(self, fault: Fault) -> Verdict:
        """Tests that carry out its line, quickest first; if none fails, all others, nearest first, then slow ones."""
        began = time.monotonic()
        first = self._covering.of(fault.path, fault.line)
        tried, ran = set(first), 0
        rest = [test for test in self._covering.near(fault.path) if test not in tried]
        for tests, share in (first, FIRST_SHARE), (rest, OTHERS_SHARE if first else 1.0):
            until = time.monotonic() + self._limit_s * share
            while tests and until > time.monotonic():
                end, is_noticed = self._with_fault(fault, tests, until - time.monotonic())
                ran += end.ran
                if not end.how:
                    break
                if is_noticed or (end.how == "hangs" and self._hangs_for_the_fault(fault, end.test)):
                    return Verdict(True, end.words, ran, round(time.monotonic() - began, 1))
                tests = tests[tests.index(end.test) + 1 :]
        return Verdict(False, "", ran, round(time.monotonic() - began, 1))

    def _with_fault(self, fault: Fault, tests: list[str], seconds: float) -> tuple[_End, bool]:
        """How the tests ended, and whether one failed that fails alone too: another may have left something behind."""
        with self._with(fault):
            end = self._run(tests, seconds)
            has_failed = end.how not in ("", "hangs")
            alone = has_failed and end.test in tests
            return end, bool(self._run([end.test], math.inf, COMPILES_S).how) if alone else has_failed

    def _hangs_for_the_fault(self, fault: Fault, test: str) -> bool:
        """Whether a test that seems to hang passes on the sound code, and afterwards still does not end on the fault.

        The first time it may have waited for kernels of the sound code to be compiled.
        """
        if self._run([test], math.inf, COMPILES_S).how:
            return False
        with self._with(fault):
            return bool(self._run([test], math.inf).how)

    @contextmanager
    def _with(self, fault: Fault) -> Iterator[None]:
        """The fault in its file; afterwards the file as it was, its time of change too, by which Python knows it."""
        file = self._clone / fault.path
        text, before = file.read_text(encoding="utf-8"), file.stat()
        self._sound = set(self._kernels())
        file.write_text(fault.applied(text), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(text, encoding="utf-8")
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            for file in self._compiled():
                file.unlink(missing_ok=True)

    def _kernels(self) -> list[Path]:
        return list((self._cache / "kernels").glob("*/*.code"))

    def _compiled(self) -> set[Path]:
        """What was compiled for a fault alone; before the sound code has been compiled that is not known."""
        return set(self._kernels()) - self._sound if self._sound else set()

    def _run(self, tests: list[str], seconds: float, more_s: float = 0.0) -> _End:
        """Run tests for so long at most; a test hangs `more_s` later than the others."""
        told = self._clone.with_name(f"told-by-{self._clone.name}.jsonl")
        told.write_text("")
        process = os.fork()
        if process == 0:
            _carry_out(self._clone, self._cache, tests, told)
        until = time.monotonic() + seconds
        ended, status, hangs = 0, 0, False
        while not ended:
            time.sleep(0.1)
            ended, status = os.waitpid(process, os.WNOHANG)
            events = _events(told)
            failed = next((event for event in events if event["failed"]), None)
            hangs = not ended and self._hangs(events, more_s)
            if failed is not None or hangs or time.monotonic() > until:
                break
        if not ended:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
        if failed is not None:
            return _End(failed["failed"], failed["test"], len(events))
        last = events[-1]["test"] if events else "collecting the tests"
        # Exit code 5: none of these tests exists.
        died = ended and (os.WIFSIGNALED(status) or os.WEXITSTATUS(status) not in (0, 5))
        return _End("hangs" if hangs else "the process ended" if died else "", last, len(events))

    def _hangs(self, events: list[dict[str, Any]], more_s: float) -> bool:
        if not events:
            return False
        compiles_s = COMPILES_S if self._compiled() or not self._sound else 0.0
        limit_s = HANGS_S + TIMES_AS_LONG * self._took_s(events[-1]["test"]) + compiles_s + more_s
        return time.time() - events[-1]["at"] > limit_s

    def _took_s(self, test: str) -> float:
        return self._covering.seconds.get(test, 30.0)


def _events(told: Path) -> list[dict[str, Any]]:
    """What a process has told so far; the last line may be under way."""
    return [json.loads(line) for line in told.read_text().splitlines() if line.endswith("}")]


class _Told:
    """Chosen tests in a chosen order; each is told as it begins, and the one that fails."""

    def __init__(self, tests: list[str], told: Path) -> None:
        self._place = {test: place for place, test in enumerate(tests)}
        self._told = told

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self._place]
        items[:] = sorted(chosen, key=lambda item: self._place[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._tell(nodeid, "")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._tell(report.nodeid, report.when or "call")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._tell(report.nodeid, "collecting")

    def _tell(self, test: str, failed: str) -> None:
        with self._told.open("a") as file:
            file.write(json.dumps({"at": time.time(), "failed": failed, "test": test}) + "\n")


def _carry_out(clone: Path, cache: Path, tests: list[str], told: Path) -> None:
    """In a process just forked: run the tests of the clone, stop at the first that fails; never returns."""
    try:
        os.setsid()
        os.chdir(clone)
        quiet = os.open(clone.with_name(f"output-of-{clone.name}.txt"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.environ |= {"CLUSTER_ABM_CACHE_DIR": str(cache), "PYTHONPATH": str(clone)}
        # A file that is changed twice in a second keeps the time of change by which its compiled form is known.
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.path[:0] = [str(clone), str(clone / "tests")]
        files = list(dict.fromkeys(test.split("::")[0] for test in tests))
        options = ["-x", "-q", "-m", "", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--tb=short"]
        code = pytest.main([*options, *files], plugins=[_Told(tests, told)])
        sys.stdout.flush()
        os._exit(int(code))
    except BaseException:
        os._exit(1)
