"""Work and log of a process of a validation, by clocks that a test moves. An iteration takes 50 ns."""

from __future__ import annotations

import ctypes
import io
import signal
import struct
from types import SimpleNamespace

import pytest

from cluster_abm.validation import worker as module
from cluster_abm.validation.worker import ASKED, COMPUTED, SERVED, START

fcntl = pytest.importorskip("fcntl")
resource = pytest.importorskip("resource")
# Iterations and length of a unit. No other loop has this many iterations.
ITERATIONS, UNIT_NS = 1000, 50_000


class Computer:
    """Stands in for `time` and `range`: iterations of a unit take wall and CPU time, a sleep takes wall time.

    The first sleep ends half way, as a sleep may.
    """

    def __init__(self, monkeypatch, now_ns=0, cpu_ns=0):
        self.now_ns, self.cpu_ns, self.slept_ns = now_ns, cpu_ns, []
        monkeypatch.setattr(module, "time", self)
        monkeypatch.setattr(module, "range", self.range, raising=False)

    def monotonic_ns(self):
        return self.now_ns

    def process_time_ns(self):
        return self.cpu_ns

    def sleep(self, seconds):
        whole_ns = round(seconds * 1e9)
        self.slept_ns.append(whole_ns)
        self.now_ns += whole_ns // 2 if len(self.slept_ns) == 1 else whole_ns

    def range(self, count):
        return Loop(self, count) if count == ITERATIONS else range(count)


class Loop:
    def __init__(self, computer, count):
        self.computer, self.count = computer, count

    def __iter__(self):
        for one in range(self.count):
            self.computer.now_ns += 50
            self.computer.cpu_ns += 50
            yield one


def rows_of(log):
    return [tuple(log[place : place + 3]) for place in range(0, len(log), 3)]


@pytest.fixture
def shared(tmp_path):
    """A file of 8 bytes with the instant at which the disk is free."""
    with (tmp_path / "instant").open("w+b", 0) as file:
        file.write(bytes(8))
        yield file


def test_each_unit_is_logged(monkeypatch):
    Computer(monkeypatch, now_ns=7, cpu_ns=3)
    log = module.array("q", bytes(24 * 5))
    assert module.compute(3, ITERATIONS, log, 3) == 12
    assert rows_of(log) == [
        (0, 0, 0), *[(COMPUTED, 7 + count * UNIT_NS, 3 + count * UNIT_NS) for count in (1, 2, 3)], (0, 0, 0),
    ]  # fmt: skip
    assert module.compute(0, ITERATIONS, log, 6) == 6


def test_sleeping_until_an_instant(monkeypatch):
    computer = Computer(monkeypatch, now_ns=1000)
    module.sleep_until(5000)
    assert computer.slept_ns == [4000, 2000]
    module.sleep_until(5000)
    module.sleep_until(4000)
    assert computer.slept_ns == [4000, 2000]
    assert computer.now_ns == 5000


def test_accesses_are_served_in_order_of_arrival(monkeypatch, shared):
    computer = Computer(monkeypatch)
    locks = []
    monkeypatch.setattr(fcntl, "lockf", lambda file, what: locks.append((file, what)))
    with module.mmap.mmap(shared.fileno(), 8) as disk:
        found = []
        for now_ns, service_ns in ((100, 40), (110, 10), (120, 1 << 40), (1 << 41, 5)):
            computer.now_ns = now_ns
            found.append(module.served_at(disk, shared.fileno(), service_ns))
    # The second waits for the first, the third for both; the last finds the disk free.
    assert found == [(100, 140), (110, 150), (120, 150 + (1 << 40)), (1 << 41, (1 << 41) + 5)]
    assert locks == [(shared.fileno(), what) for what in (fcntl.LOCK_EX, fcntl.LOCK_UN)] * 4


def test_a_program_is_carried_out(monkeypatch, shared):
    """From 600 us on: two units, a read of 300 us, one unit, then two units without a read."""
    computer = Computer(monkeypatch, now_ns=100_000, cpu_ns=9)
    log = module.run(600_000, [[2, 300_000, 1], [1, 0, 1]], ITERATIONS, shared.fileno())
    cpu = [9 + count * UNIT_NS for count in range(6)]
    assert rows_of(log) == [
        (START, 600_000, cpu[0]),
        (COMPUTED, 650_000, cpu[1]), (COMPUTED, 700_000, cpu[2]),
        (ASKED, 700_000, cpu[2]), (SERVED, 1_000_000, cpu[2]),
        (COMPUTED, 1_050_000, cpu[3]), (COMPUTED, 1_100_000, cpu[4]), (COMPUTED, 1_150_000, cpu[5]),
    ]  # fmt: skip
    assert computer.slept_ns == [500_000, 250_000, 300_000]
    shared.seek(0)
    assert int.from_bytes(shared.read(), "little") == 1_000_000


def test_without_a_disk_nothing_is_read(monkeypatch):
    Computer(monkeypatch, now_ns=600_000)
    log = module.run(600_000, [[1, 300_000, 1]], ITERATIONS, -1)
    assert [kind for kind, *_ in rows_of(log)] == [START, COMPUTED, COMPUTED]


def test_touches_of_random_pages(monkeypatch):
    """Ten touches of 16 pages. Faults are counted from the fourth touch on: 31 - 20 = 11."""
    touched, advice, counted = [], [], []

    class Map:
        def __init__(self, *given, **options):
            assert (given, options) == ((5, 16 * module.mmap.PAGESIZE + 1), {"prot": module.mmap.PROT_READ})

        def madvise(self, what):
            advice.append(what)

        def __getitem__(self, place):
            touched.append(place)

    def usage(of):
        assert of == resource.RUSAGE_SELF
        counted.append(len(touched))
        return SimpleNamespace(ru_majflt=20 if len(counted) == 1 else 31)

    size = 16 * module.mmap.PAGESIZE + 1
    mmap = SimpleNamespace(
        mmap=Map, PAGESIZE=module.mmap.PAGESIZE, PROT_READ=module.mmap.PROT_READ, MADV_RANDOM=module.mmap.MADV_RANDOM
    )
    monkeypatch.setattr(module, "mmap", mmap)
    monkeypatch.setattr(resource, "getrusage", usage)
    assert module.walk(5, size, 6, 10, 3) == 11
    assert counted == [3, 10]
    assert advice == [mmap.MADV_RANDOM]
    # Each touch is at the begin of one of the 16 pages; the pages follow from the seed.
    pages = [place / mmap.PAGESIZE for place in touched]
    assert {*pages} <= {*range(16)}
    for seed, is_same in ((6, True), (7, False)):
        touched.clear()
        module.walk(5, size, seed, 10, 3)
        assert ([place / mmap.PAGESIZE for place in touched] == pages) == is_same


@pytest.fixture
def carried_out(monkeypatch, capfdbinary):
    """Run the process on these input lines, and return its output; `prepared` lists its first calls."""
    prepared = []
    monkeypatch.setattr(module, "end_with_parent", lambda: prepared.append("ends with its parent"))
    monkeypatch.setattr(module.signal, "signal", lambda *given: prepared.append(given))
    monkeypatch.setattr(module.signal, "alarm", lambda seconds: prepared.append(seconds))
    monkeypatch.setattr(module.gc, "disable", lambda: prepared.append("collects no garbage"))

    def tell(*lines):
        monkeypatch.setattr(module.sys, "stdin", io.TextIOWrapper(io.BytesIO("".join(lines).encode())))
        module.main()
        return capfdbinary.readouterr().out

    tell.prepared = prepared
    return tell


def test_commands_and_answers(monkeypatch, carried_out):
    """A log is of the last run, with three 64-bit integers a row."""
    Computer(monkeypatch, now_ns=600_000)
    monkeypatch.setattr(module, "walk", lambda *given: sum(given))
    out = carried_out(
        '["log"]\n', '["unit", 1000]\n', '["run", 600000, [[1, 0, 1]], -1]\n', '["log"]\n',
        '["run", 700000, [[0, 0, 1]], -1]\n', '["log"]\n', '["alone", 1, 4]\n', '["walk", 1, 20, 300, 4000, 50000]\n',
    )  # fmt: skip
    first = struct.pack("=9q", START, 600_000, 0, COMPUTED, 650_000, UNIT_NS, COMPUTED, 700_000, 2 * UNIT_NS)
    second = struct.pack("=6q", START, 700_000, 2 * UNIT_NS, COMPUTED, 750_000, 3 * UNIT_NS)
    answers = b"0\nok\ndone\n3\n", first, b"done\n2\n", second, b"50000\n54321\n"
    assert out == b"".join(answers)
    assert carried_out.prepared == [
        (signal.SIGINT, signal.SIG_IGN), "ends with its parent", 3600, "collects no garbage",
    ]  # fmt: skip


def test_a_unit_has_1000_iterations_by_default(monkeypatch, carried_out):
    Computer(monkeypatch)
    assert carried_out('["alone", 2, 3]\n') == b"50000\n"


def test_it_sleeps_exactly_and_ends_with_its_parent(monkeypatch):
    asked = []
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(prctl=lambda *given: asked.append((name, *given))))
    module.end_with_parent()
    # PR_SET_PDEATHSIG and PR_SET_TIMERSLACK of Linux.
    assert asked == [(None, 1, signal.SIGKILL), (None, 29, 1)]
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace())
    module.end_with_parent()
