# ruff: noqa: E501
"""What a user may write and compiled code may understand otherwise, not at all, or without looking: one entry each.

The lines of `place` stand after a, b (whole), x, y (numbers), t (text), c (truth) and n (a node) have been given
values (policy_bodies.FIRST), and before a Decision is made of them (LAST).
"""

from __future__ import annotations

from dataclasses import dataclass

Lines = tuple[str, ...]


@dataclass(frozen=True)
class Oddity:
    """Lines of a policy's file.

    Attributes:
        place: in `place`.
        last: the line that ends `place` where nothing else is in it; "": the usual one.
        module: beside the class.
        inside: in the class.
        accept, migration: these methods.
    """

    place: Lines = ()
    last: str = ""
    module: Lines = ()
    inside: Lines = ()
    accept: Lines = ()
    migration: Lines = ()


def _place(text: str) -> Oddity:
    return Oddity(tuple(text.split("\n")))


def _last(text: str) -> Oddity:
    return Oddity(last=f"return {text}", place=("if task.task % 7 == 3:", f"    return {text}"))


# Named by what stands in `place`.
_LINES = """
x = view.load("cpu_ms", view.nodes)
x = view.load("cpu_ms", 10**6)
x = view.load("cpu_ms", 2**40)
x = view.load("cpu_ms", -1)
x = view.load("cpu_ms", -view.nodes - 1)
x = view.measured("io_ms", view.nodes + 3)
x = view.measured("io_ms", 2**45)
x = view.cost_ms(task, view.nodes)
x = view.cost_ms(task, 2**40)
x = view.hardware[view.nodes].speed
x = view.hardware[2**40].speed
x = view.hardware[-1].speed
x = view.mb_per_s(view.nodes)
x = view.mb_per_s(2**40)
x = view.fixed_ms(2**40)[0]
x = view.page_ms(task, 2**40)
x = view.column("cpu_ms")[view.nodes]
x = view.column("cpu_ms")[2**40]
x = view.loads[view.nodes]["cpu_ms"]
x = view.loads[2**40]["cpu_ms"]
x = view.loads["cpu_ms"][2**40]
x = view.paths.latency_ms[2**40]
x = view.load("cpu_ms", 1.0)
x = view.load("cpu_ms", True)
x = view.load("cpu_ms", x)
c = (view.nodes + 100) in view.refused
c = 2**40 in view.refused
c = -1 in view.refused
c = 1.5 in view.refused
c = "a" in view.refused
x = view.uniform(task.task, -1)
x = view.uniform(-1, 0)
x = view.uniform(2**63, 0)
x = view.uniform(task.task, 2**40)
x = view.uniform(1.5, 0)
x = view.load("cpu_ms", view.draw_nodes(task, -1)[0])
n = int(view.draw_nodes(task, 0)[0])
n = int(view.draw_nodes(task, 10**6)[-1])
n = view.draw_nodes(task, 2)[-1]
x = view.load("no_such", 0)
x = view.load("", 0)
x = view.loads["no_such"][0]
x = view.measured(b, 0)
x = view.load(1, 0)
x = view.column(t)[0]
x = view.loads["as_of"][0]
view.loads["cpu_ms"][0] = 0.0
view.column("cpu_ms")[0] = 0.0
view.column("cpu_ms")[:] = 0.0
view.column("io_ms").fill(0.0)
view.column("cpu_ms").sort()
view.loads[0]["cpu_ms"] = 5.0
view.loads[0] = view.loads[1]
view.paths.latency_ms[n] = 0.0
view.paths.mb_per_s[:] = 1e9
view.paths.latency_ms.fill(500.0)
view.candidate_rows["cpu_ms"] = 0.0
view.hardware[0].speed = 9.0
view.me = 0
view.now_ms = 0.0
view.migration_ms = 0.0
task.cpu_ms = 1.0
self.kind = "other"
self.parameters.k = 9
view.refused.add(n)
view.is_open[0] = False
view.notes = {}
view.open_entries(view.column("cpu_ms"))[0] = 77.0
view.of_those_up(view.column("tasks"))[0] = 77.0
np.put(view.column("cpu_ms"), 0, 5.0)
np.copyto(view.column("cpu_ms"), 5.0)
view.column("cpu_ms").setfield(0.0, "f8")
view.column("cpu_ms").setflags(write=True)
view.loads.setflags(write=True)
a = 2**62 + 2**62
a = 2**62 * b * 4
a = (10**18 + b) * 10
a = 3037000500 * (3037000500 + b)
a = -(-2**63 + b - b)
a = abs(-2**63 + b - b)
a = (b + 2) ** 64
a = (b + 1) ** -1
a = (b - 2) ** -1
a = 0 ** (b - 3)
a = (b + 2) ** 0.5
a = (b - 6) ** 0.5
x = (x - 1e6) ** 0.5
x = (-2.0) ** (b + 0.5)
x = 0.0 ** (b - 3)
x = x ** 1e3
a = 1 << (b + 62)
a = b << 64
a = b << -1
a = 7 >> (b + 62)
a = 7 >> -1
a = (b - 3) // 2
a = (b - 3) % -2
a = 7 // (b - 2)
a = 7 % (b - 2)
a = -2**63 // (b - 3)
x = 7 / (b - 2)
x = x / (b - 2.0)
x = x // (b - 2.0)
x = x % (b - 2.0)
x = -1.0 % math.inf
x = 1.0 // -math.inf
x = -0.0 % 3.0
x = 7.5 // -2
x = a / 3
x = (2**62 + b) / 3
x = (2**53 + 1 + b) * 1.0
x = (2**63 - 1 + b) / 1
c = 2**53 + 1 + b * 0 == 2.0**53
c = 2**63 + b * 0 > 9.3e18
a = round(x)
a = round(2.5 + b)
a = round(-0.5)
x = round(x, 2)
x = round(2.675, 2)
x = round(x, -1)
x = round(x, b)
x = round(1e300 * x, 2)
x = round(5e-324 + x * 0, 320)
a = round(1234567, -2)
a = round(b, 1)
a = round(math.nan)
a = round(math.inf)
a = round(1e30 + b)
x = round(math.inf, 2)
a = int(math.nan * x)
a = int(math.inf * x)
a = int(1e30 * x)
a = int(-x)
a = int("3")
x = float("1.5")
x = float("nan")
a = math.floor(math.inf * x)
a = math.ceil(1e300 * x)
a = math.trunc(-x)
x = math.sqrt(-x)
x = math.sqrt(b - 2)
x = np.sqrt(-x)
x = math.exp(x * 1e3)
x = np.exp(x * 1e3)
x = math.log(b - 2)
x = math.log(x - x)
x = np.log(x - x)
x = math.log(x, 1)
x = math.log(x, 2)
x = math.log10(8)
x = math.log1p(-b)
x = math.pow(0.0, b - 3)
x = math.pow(-8.0, 1 / 3)
x = math.pow(1e200, b)
x = math.fmod(x, b - 2)
x = math.fmod(math.inf, 2.0)
x = math.acos(b)
x = math.atanh(1.0)
x = math.gamma(b - 3)
x = math.lgamma(0)
x = math.cosh(1e4)
x = math.ldexp(1.0, 1024 + b)
x = math.hypot(1e308, 1e308)
x = math.sin(math.inf)
x = math.sin(x) + math.cos(x) + math.tan(x)
x = math.exp(-x) + math.log(x + 1) + math.atan(x)
x = math.erf(x / 100)
x = math.fsum([0.1] * 10)
x = sum([0.1] * 10)
x = sum((0.1, 0.2, 0.3, x))
x = sum(view.measured("cpu_ms", node) for node in range(view.nodes))
x = sum([view.measured("cpu_ms", node) for node in range(view.nodes)])
a = math.factorial(20 + b)
a = math.comb(70, 35)
a = math.gcd(b, 12)
a = math.isqrt(b - 2)
x = math.dist((0.0, x), (1.0, y))
x = math.copysign(1.0, -0.0)
x = math.remainder(x, 3.0)
x = math.ulp(x)
a = divmod(-7, b + 1)[1]
a = divmod(7, b - 2)[0]
x = divmod(x, -3.0)[1]
a = pow(b + 2, 3, 5)
a = pow(2, -1, 5)
a = pow(b + 2, 70)
x = min(x, math.nan)
x = min(math.nan, x)
x = max(math.nan, x)
x = max(0.0, -0.0)
x = max(-0.0, 0.0)
x = min(0, 0.0)
a = min(b, 2.5)
a = max(3, 1.0)
a = max(b, True)
x = max([x, y])
x = max(view.column("cpu_ms"))
x = min(view.loads["cpu_ms"])
x = max(())
x = max([])
x = max(x, y, key=abs)
x = max([x, y], default=0)
a = True + b
a = -True
a = ~True
a = c + c
a = c
x = c
a = b > 2
x = x > 2
n = True
n = 1.0
n = float(view.me)
n = np.float64(view.me)
n = np.int64(view.me)
n = np.int32(1)
n = np.uint8(200 + 100)
n = view.column("cpu_ms").argmin()
n = x > 0
n = None
n = "a"
n = task
n = -1
n = view.nodes
n = 2**40
n = 2**63
n = 2**64 + 1
n = math.nan
n = view.me + 0.5
n = b / 1
n = a // 1.0
n = (view.me,)
t = 3
t = None
t = b
t = c
t = ""
t = "a" if c else None
t = "a" if c else 3
t = t + "b"
t = t * 2
t = "%s" % t
t = "a".upper()
t = str(b)
t = f"{b}"
t = f"turn {b}"
t = f"turn {b - 7}"
t = f"turn {x}"
t = f"turn {x > 2}"
t = f"turn {c}"
t = f"turn {2**62 + b}"
t = f"turn {2**40 * b}"
t = f"turn {x:.2f}"
t = f"turn {b} of {a}"
t = f"turn {t}"
t = f"turn {view.me} {{}}"
t = "a {} b"
t = f"a {{}} {b}"
t = f"{b}{{}}"
t = "\\ud800"
t = "\\0"
t = "a" * 100000
t = "größer"
t = NAMES[b]
t = NAMES[-1]
t = NAMES[True]
t = LABEL
a = len(t)
a = len(LABEL)
a = len(NAMES)
a = len("")
c = "a" < "b"
c = t < "b"
c = "own" == t == LABEL
c = t is LABEL
c = t == 3
c = 1 == "tasks"
c = "tasks" == 1
c = b == "tasks"
c = t == None
c = x == None
c = x is None
c = not t
c = bool("")
c = bool(LABEL)
c = "w" in t
c = "" in t
c = t in NAMES
c = t in ("own", 1)
c = b in (1, 2.0, "tasks")
c = 1 in NAMES
c = t in {"own", "a"}
c = t in ["own"]
c = t.startswith("o")
c = "a" or b
a = "a" and b
a = t and b
a = b or t
x = x or y
a = 0 or b
a = not x
a = {"own": 3}[t]
a = {"own": 3, "a": 4}.get(t, 5)
a = hash(t) % 5
a = hash(b) % 5
a = id(view) % 2
a = ord("a")
a = (1, 2, 3)[b]
a = (1, 2.5, "c")[b % 2]
a = (1, 2, 3)[-4]
a = (1, 2, 3)[b - 10]
a = [1, 2, 3][b]
a = [1, 2, 3][b - 10]
a = [1, 2, 3].pop(b)
a = [].pop()
a = len([x for x in range(b)])
a = [i * i for i in range(5)][b]
a = sorted([3, 1, b])[0]
a = sorted((3, 1, b), reverse=True)[0]
a = list(range(5))[b]
a = list(view.refused)[0]
a = sorted(view.refused)[0]
a = len(view.refused)
a = min(view.refused)
a = sum(view.refused)
a = [node for node in view.refused][-1]
c = bool(view.refused)
c = not view.refused
c = view.refused == frozenset()
a = len({1, 2, b})
a = sum({1, 2, b})
a = len({"a", "b", t})
a = len(set(NAMES))
a = sum(range(b))
a = range(5)[b]
a = range(10)[-1]
a = len(range(0, 10, b - 2))
a = sum(i for i in range(b))
a = any(i == b for i in range(4))
a = all((c, x > 0))
a = isinstance(b, int)
a = type(b) is int
a = (5).bit_length()
a = b.bit_length()
c = x.is_integer()
c = (1.0).is_integer()
x = complex(1, b).real
x = (x - 1e9) ** 0.3
a = b if c else x
a = 1 if c else 1.5
a = eval("1")
a = getattr(self, "kind") == "own"
a = hasattr(view, "me")
a = self.parameters.k + self.parameters.share
a = self.parameters.strict + 1
a = self.parameters.mode == "fast"
t = self.parameters.mode
a = self.no_such
a = view.no_such
a = task.no_such
a = self.parameters.no_such
a = no_such
a = math.no_such(x)
a = np.no_such(x)
a = view.loads.shape[0]
a = len(view.loads)
a = view.loads["cpu_ms"].size
a = view.loads["cpu_ms"].argmax()
x = view.loads.sum()
x = np.array([x, y]).mean()
x = np.array([b, 2]).mean()
a = np.array([2**62, 2**62]).sum()
a = np.array([b, 2], dtype=np.int8)[0]
x = np.float32(0.1) + x
x = np.float32(x)
a = np.int64(2**62) * 4
a = np.int32(2**31 - 1) + b
a = np.arange(b)[-1]
a = np.arange(5)[b - 3]
x = np.zeros(3)[b]
x = np.empty(3)[0] * 0.0
x = np.ones(b - 2).sum()
x = np.linspace(0.0, 1.0, 5)[b]
x = np.mean(view.column("cpu_ms"))
x = np.median(view.column("cpu_ms"))
x = np.std(view.column("cpu_ms"))
x = np.var(view.column("io_ms"))
x = np.sum(view.column("cpu_ms") / 3.0)
x = np.percentile(view.column("cpu_ms"), 90)
x = np.dot(view.column("cpu_ms"), view.column("io_ms"))
x = view.column("cpu_ms") @ view.column("io_ms")
x = np.round(x, 2)
x = np.round(2.675, 2)
x = np.clip(x, 1.0, 50.0)
x = np.sign(-x)
x = np.power(x, 0.5)
x = np.power(b, 2)
x = np.divide(x, 0.0)
x = np.floor_divide(x, -3.0)
x = np.mod(-x, 3.0)
x = np.float64(1.0) / 0.0
x = view.column("cpu_ms")[0] / 0.0
x = view.column("cpu_ms")[0] / (b - 2)
x = (view.column("cpu_ms") / view.column("io_ms"))[0]
x = (view.column("cpu_ms") / 0.0)[0]
x = (view.column("cpu_ms") // 0.0)[1]
x = (view.column("cpu_ms") % 0.0)[1]
x = np.log(view.column("cpu_ms"))[0]
x = np.nanmin(view.column("cpu_ms") * math.nan)
x = np.min(view.column("cpu_ms") * math.nan)
x = np.max(view.column("cpu_ms"))
a = np.argmin(view.column("cpu_ms") * math.nan)
a = np.argsort(view.column("tasks"))[0]
a = np.argsort(view.column("tasks"))[-1]
a = np.argsort(view.column("tasks"), kind="stable")[1]
a = np.count_nonzero(view.column("tasks"))
a = np.searchsorted(view.column("tasks"), 1.0)
a = np.flatnonzero(view.column("tasks") == 0.0)[0]
a = np.where(view.column("tasks") > 99.0)[0][0]
x = view.column("cpu_ms")[view.column("cpu_ms") > 1e9].min()
x = view.column("cpu_ms")[view.column("cpu_ms") > 1e9].sum()
x = view.column("cpu_ms")[1:][0]
x = view.column("cpu_ms")[5:].sum()
x = view.column("cpu_ms")[::-1][0]
x = view.column("cpu_ms")[-1]
x = view.column("cpu_ms")[n]
x = view.column("cpu_ms")[1.0]
x = view.column("cpu_ms")[True]
x = view.column("cpu_ms").tolist()[0]
x = float(view.column("cpu_ms"))
x = view.column("cpu_ms")
c = bool(view.column("cpu_ms"))
c = view.column("cpu_ms") > 0.0
x = view.least_of(view.column("cpu_ms")[1:])
x = view.least_of(view.column("cpu_ms") * math.nan)
n = view.least_of(-view.column("cpu_ms"))
n = view.least_of(view.column("cpu_ms") * math.inf)
n = view.least_of(np.zeros(2))
n = view.least_of(np.zeros(50))
n = view.least_of([1.0, 2.0, 3.0, 4.0])
n = view.least_of(view.column("tasks") > 0)
c = view.is_largest_of(np.zeros(1))
x = view.mean_of_those_up(view.column("cpu_ms"))
x = view.per_unit(x, "cpu_ms", n)
x = view.per_unit(x, "cpu_ms", 2**40)
x = view.imbalance[b % 3]
x = view.imbalance[b]
a = view.slice_ms
a = view.live_jobs[0]
x = view.overflow_held_mb[0]
a = view.capacities is None
a = view.data is None
x = view.data.access_ms(task.files)[0]
x = view.capacities.cpu[0]
x = view.candidates[0].cpu_ms
x = view.candidate(0).cpu_ms
x = view.candidate(10**6).cpu_ms
x = view.candidate(-1).cpu_ms
x = view.candidate_rows["cpu_ms"].sum()
x = view.candidate_rows[10**6]["cpu_ms"]
a = view.out == view.down
a = len(task.files)
x = task.files[0]
x = task.requested_ms
c = math.isnan(task.requested_ms)
c = task.running is False
c = task == task
c = view == view
c = self == self
view.notes["m"] = b; a = view.notes["m"]
view.notes["m"] = b; x = view.notes["m"] / 2
view.notes["m"] = 2.7; a = view.notes.get("m", 0)
view.notes["m"] = 2; x = view.notes.get("m", 0.5)
view.notes["m"] = True; a = view.notes.get("m", 0)
view.notes["m"] = True; a = view.notes.get("m", False)
view.notes["m"] = 2**53 + 1 + b; a = view.notes.get("m", 0)
view.notes["m"] = 2**62 * b; a = view.notes.get("m", 0)
view.notes["m"] = math.nan; x = view.notes.get("m", 1.0)
view.notes["m"] = -math.inf; x = view.notes.get("m", 1.0)
view.notes["m"] = -0.0; x = view.notes.get("m", 1.0)
view.notes["m"] = "own"; t = view.notes.get("m", "a")
view.notes["m"] = t; t = view.notes["m"]
view.notes["m"] = None; a = view.notes.get("m", 1)
view.notes["m"] = (1, 2); a = view.notes["m"][0]
view.notes["m"] = [1]; a = len(view.notes["m"])
view.notes["m"] = view.notes.get("m", 0) + 1; a = view.notes["m"]
view.notes["m"] = view.notes.get("m", 0) + 0.5; x = view.notes.get("m", 0)
view.notes["m"] = view.notes.get("m", 1) * 3; a = view.notes.get("m", 1)
view.notes["m"] = view.notes.get("m", 1) * 100003; a = view.notes.get("m", 1)
view.notes["m"] = view.notes.get("m", 1.0) * 1e200; x = view.notes.get("m", 1.0)
view.notes["m"] = (view.notes.get("m", 0) * 1103515245 + 12345) % 2147483648; a = view.notes.get("m", 0)
view.notes["m"] = (view.notes.get("m", 1) * 6364136223846793005 + 1442695040888963407) % 2**64; a = view.notes.get("m", 0) % 7
view.notes["m"] = view.now_ms if c else b; x = view.notes.get("m", 0)
view.notes["m"] = x if c else None; x = view.notes.get("m", 0.0)
view.notes[b] = x; a = len(view.notes)
view.notes[f"m {b}"] = x; x = view.notes.get(f"m {b}", 0.0)
view.notes["m"] = x; c = "m" in view.notes
view.notes["m"] = x; a = len(view.notes)
view.notes["m"] += 1
view.notes.setdefault("m", b); a = view.notes["m"]
view.notes.pop("m", None)
view.notes.clear()
view.notes.update(m=b); a = view.notes["m"]
a = view.notes["missing"]
a = view.notes.get("missing")
x = view.notes.get("missing", math.nan)
a = view.notes.get("missing", b)
t = view.notes.get("missing", "own")
a = view.notes.get("missing", None) is None
a = view.notes.get("missing", True)
a = view.notes.get(t, 1)
a = view.notes.get("missing", default=2)
view.notes["m"] = view.column("cpu_ms"); x = view.notes["m"][0]
view.notes["m"] = task; x = view.notes["m"].cpu_ms
assert c
assert x > 60.0, "too small"
assert x > 0.0
assert t == "own", f"{t}"
assert view.nodes
print("hello")
print("hello", b, x)
raise ValueError("no")
raise ValueError
raise KeyError(t)
raise SystemExit(1)
raise MemoryError
raise StopIteration
raise AssertionError("own")
raise Exception("{}")
return None
return 3
return n
return "own"
return task
return (n, t)
return Decision
return
import math as other; x = other.sqrt(x)
from math import sqrt as root; x = root(x)
import random; x = random.random()
import os; x = float(os.getpid() > 0)
import no_such_module
global COUNT; COUNT = 1
a, *_ = (b, 1, 2)
*_, a = (b, 1, 2)
a, (b, x) = 1, (2, 3.0)
a = b = 4
(a := b + 1)
a = (lambda value: value + 1)(b)
a = [*(1, 2), b][-1]
del a
del x; x = 1.0
pass
...
"text"
yield_ = 1; a = yield_
a: int = 2.5
a: "int" = b
x = x if x == x else 0.0
x = -x if c else +x
a = b.__add__(1)
a = int.from_bytes(b"a", "big")
x = float.fromhex("0x1p3")
a = len(bytes(3))
a = __import__("math").floor(x)
a = open("mine.py").read(1) == "i"
x = super().task_load(task, view, "cpu_ms", n)
x = super().response_ms(task, view, n)
return super().place(task, view)
return Policy.place(self, task, view)
return self.send_to_least(task, view, "cpu_ms", "own")
return self.place(task, view)
c = self.is_overloaded(task, view); a = self.location(task, view)
x = self.response_ms(task, view, n)
x = self.response_ms(task, view, n) + 1
"""

ODDITIES: dict[str, Oddity] = {}
for _line in _LINES.strip("\n").split("\n"):
    ODDITIES[_line] = Oddity(tuple(_line.split("; ")))

_BLOCKS = {
    "while": "while b < 5:\n    b += 1",
    "while forever": "while True:\n    b += 1\n    if b > 9:\n        break",
    "try except as": "try:\n    x = 1 / (b - 2)\nexcept ZeroDivisionError as problem:\n    t = 'zero'",
    "try except": "try:\n    x = 1 / (b - 2)\nexcept ZeroDivisionError:\n    t = 'a'",
    "try bare": "try:\n    x = math.sqrt(b - 2)\nexcept:\n    t = 'a'",
    "try Exception": "try:\n    x = math.sqrt(b - 2)\nexcept Exception:\n    t = 'a'",
    "try index": "try:\n    x = view.load('cpu_ms', view.nodes)\nexcept IndexError:\n    t = 'a'",
    "try index, any": "try:\n    x = view.load('cpu_ms', view.nodes)\nexcept Exception:\n    t = 'a'",
    "try key": "try:\n    x = view.load('no_such', 0)\nexcept Exception:\n    t = 'a'",
    "try note": "try:\n    a = view.notes['m']\nexcept KeyError:\n    a = 7",
    "try assert": "try:\n    assert c\nexcept AssertionError:\n    t = 'a'",
    "try overflow": "try:\n    x = math.exp(x * 1e3)\nexcept OverflowError:\n    x = math.inf",
    "try whole": "try:\n    a = 2**62 * b * 4\nexcept Exception:\n    t = 'a'",
    "try raise": "try:\n    if c:\n        raise ValueError('own')\nexcept ValueError:\n    t = 'a'",
    "try finally": "try:\n    a = b\nfinally:\n    t = 'a'",
    "try else": "try:\n    a = b\nexcept Exception:\n    pass\nelse:\n    t = 'a'",
    "raise if": "if c:\n    raise ValueError('too long')",
    "raise text of its own": "if c:\n    raise ValueError(f'too long: {x}')",
    "with": "with np.errstate(all='ignore'):\n    x = np.log(x - x)",
    "match": "match b:\n    case 1:\n        t = 'a'\n    case _:\n        t = 'b'",
    "match text": "match t:\n    case 'own':\n        a = 1\n    case _:\n        a = 2",
    "nested function": "def inner(value):\n    return value + b\na = inner(2)",
    "nested function, late": "def inner():\n    return b\nb = 7\na = inner()",
    "nonlocal": "def inner():\n    nonlocal b\n    b += 1\ninner()\na = b",
    "inner class": "class Inner:\n    pass\na = 1",
    "no value on one branch": "if c:\n    z = 1.0\nx = z",
    "no value, whole": "if c:\n    z = 3\na = z",
    "no value of an empty loop": "for z in range(b - 4):\n    pass\na = z",
    "value after a loop": "for z in range(3):\n    pass\na = z",
    "value after a comprehension": "z = 5\nw = [z for z in range(3)]\na = z",
    "type changes": "z = 1\nif c:\n    z = 1.5\na = z",
    "type changes, large": "z = 2**53 + 1\nif c:\n    z = 0.5\na = z * 2",
    "type changes to text": "z = 1\nif c:\n    z = 'a'\nt = z",
    "type changes to None": "z = None\nif c:\n    z = 1.0\nif z is None:\n    a = 1",
    "None as a number": "z = None\nif c:\n    z = 1.0\nx = z + 1.0",
    "truth as a number": "z = c\nif b > 2:\n    z = 2\na = z",
    "loop changes its range": "z = 3\nfor i in range(z):\n    z = 10\n    a = i",
    "loop changes its list": "z = [1, 2]\nfor i in z:\n    if len(z) < 5:\n        z.append(i)\na = len(z)",
    "loop over a set of texts": "for one in {'a', 'b', 'c', 'd', 'e'}:\n    t = one",
    "loop over a set of texts, first": "for one in {'a', 'b', 'c', 'd', 'e'}:\n    t = one\n    break",
    "loop over a frozenset": "for one in frozenset(NAMES):\n    t = one",
    "loop over a set of numbers": "for one in {5, 3, 99, 1000, -1}:\n    a = a * 3 + one",
    "loop over refused": "for one in view.refused:\n    a = one",
    "loop over a tuple of kinds": "for one in (1, 2.5, True):\n    x += one",
    "loop over mixed texts": "for one in ('a', 1):\n    t = one",
    "loop over hardware": "for node, one in enumerate(view.hardware):\n    x += one.speed * node",
    "loop over loads": "for row in view.loads:\n    x += row['cpu_ms']",
    "loop over rows of candidates": "for row in view.candidate_rows:\n    x += row['cpu_ms']",
    "loop over a text": "for one in 'abc':\n    t = one",
    "loop over a dictionary": "for key, value in {'a': 1, 'b': 2}.items():\n    t = key",
    "range by zero": "for i in range(0, 5, b - 2):\n    a = i",
    "range of a number": "for i in range(x):\n    a = i",
    "range, long": "for i in range(10**5):\n    a = i",
    "range, wrapping": "for i in range(2**63 - 3, 2**63 - 1):\n    a = i",
    "sums that wrap": "z = 1\nfor i in range(70):\n    z *= 2\na = z",
    "sums that wrap and come back": "z = b\nfor i in range(70):\n    z *= 2\nfor i in range(70):\n    z //= 2\na = z",
    "hash by multiplication": "z = task.task\nfor i in range(10):\n    z = (z * 6364136223846793005 + 1442695040888963407) % 2**31\na = z",
    "difference of large": "z = 2**63 - 1 - b\na = z - (2**63 - 1)",
    "large numbers compared": "z = 2**62 + b\nif z + z > 0:\n    t = 'a'",
    "fibonacci": "p, q = 0, 1\nfor i in range(100):\n    p, q = q, p + q\na = p",
    "float loop": "z = 0.1\nfor i in range(10):\n    z += 0.1\nx = z",
    "fused multiply and add": "for i in range(9):\n    x = x * 1.1 + y * 0.9 - 0.3",
    "writes through a name": "z = view.column('tasks')\nz[0] = 50.0",
    "writes through arithmetic": "z = view.column('tasks')\nz += 1.0",
    "writes through a slice": "z = view.column('tasks')[1:]\nz[:] = 9.0",
    "writes through a row": "z = view.loads[0]\nz['cpu_ms'] = 9.0",
    "writes through a function": "spoil(view.column('tasks'))",
    "writes on a copy": "z = view.column('tasks').copy()\nz += 1.0\nx = z[0]",
    "writes on a new array": "z = np.zeros(view.nodes)\nfor node in range(view.nodes):\n    z[node] = view.load('tasks', node)\nn = int(z.argmin())",
    "writes beyond": "z = np.zeros(view.nodes)\nz[view.nodes + b] = 1.0",
    "writes far beyond": "z = np.zeros(view.nodes)\nz[2**40] = 1.0",
    "writes of whole numbers": "z = np.zeros(3, dtype=np.int8)\nz[0] = 300\na = z[0]",
    "writes of a fraction": "z = np.zeros(3, dtype=np.int64)\nz[0] = x\na = z[0]",
    "writes of nan": "z = np.zeros(3, dtype=np.int64)\nz[0] = math.nan\na = z[0]",
    "shapes that differ": "z = view.column('tasks') + np.zeros(3)\nx = z[0]",
    "list of lists": "z = [[1], [2]]\na = z[b][0]",
    "list grows": "z = []\nfor i in range(4):\n    z.append(i)\na = z[b]",
    "list of texts": "z = ['a', t]\nt = z[b % 2]",
    "dictionary": "z = {}\nz[b] = 2\na = z[b]",
    "dictionary by texts": "z = {'own': 1.0}\nx = z[t]",
    "tuple compared": "c = (x, b) < (y, a)\na = int(c)",
    "tuple compared, equal": "if (b, t) == (2, 'own'):\n    a = 9",
    "tuples sorted": "z = sorted((view.load('tasks', node), node) for node in range(view.nodes))\nn = z[0][1]",
    "lowest by a key": "n = min(range(view.nodes), key=lambda node: view.load('tasks', node))",
    "lowest of pairs": "n = min((view.load('tasks', node), node) for node in range(view.nodes))[1]",
    "lowest of a list": "n = min([(view.load('tasks', node), node) for node in range(view.nodes)])[1]",
    "generator": "z = (i for i in range(3))\na = next(z)",
    "notes of another kind later": "view.notes['m'] = 1\nif c:\n    view.notes['m'] = 2.5\nx = view.notes['m']",
    "notes before a fault": "view.notes['m'] = view.notes.get('m', 0) + 1\na = view.notes.get('m', 0)\nx = math.exp(x * 20.0) if c else 1.0",
    "notes before an overflow": "view.notes['m'] = view.notes.get('m', 0) + 1\na = 2**62 * view.notes.get('m', 0) // 2**60",
    "notes through a name": "z = view.notes\nz['m'] = b\na = z['m']",
    "notes of a truth": "view.notes['m'] = c\na = 1 if view.notes.get('m', False) else 2",
    "notes of a truth, returned": "view.notes['m'] = c\nx = view.notes.get('m', 0)",
    "notes of a large number": "view.notes['m'] = view.notes.get('m', 2**53) + 1\na = view.notes.get('m', 0)",
    "notes of an index": "view.notes['m'] = view.least('tasks')\nn = view.notes.get('m', 0)",
    "notes of a number as a node": "view.notes['m'] = float(view.next_node)\nn = view.notes.get('m', 0)",
    "notes of a number as a node, directly": "view.notes['m'] = view.next_node\nn = view.notes['m']",
    "notes of a number as a node, converted": "view.notes['m'] = view.next_node\nn = int(view.notes['m'])",
    "notes in a text": "view.notes['m'] = view.notes.get('m', 0) + 1\nt = f'turn {view.notes[\"m\"]}'",
    "notes in a range": "view.notes['m'] = 3\nfor i in range(view.notes['m']):\n    a = i",
    "exceptions swallowed": "for node in range(view.nodes + 2):\n    try:\n        x += view.load('cpu_ms', node)\n    except IndexError:\n        break",
    "early return on a branch": "if c:\n    return Decision(view.me, 'early', load_here=x)",
    "nothing on a branch": "if c:\n    return None",
    "number on a branch": "if c:\n    return 3",
    "the same decision twice": "z = Decision(n, t, load_here=x)\nreturn z",
    "decision changed": "z = Decision(n, t, load_here=x)\nz.target = 1\nreturn z",
    "decision read": "z = Decision(n, t, load_here=x)\nif z.load_here > 60.0:\n    return Decision(z.target, z.rule, mce=z.load_here)\nreturn z",
    "decisions compared": "z = Decision(n, t)\nif z == Decision(n, t):\n    a = 1",
    "decision replaced": "from dataclasses import replace\nreturn replace(Decision(n, t), load_here=x)",
    "target read as it was given": "z = Decision(n, t, load_here=b)\na = z.load_here / 2\nx = z.target / 2",
    "whole load read as it was given": "z = Decision(n, t, load_here=b)\na = z.load_here // 2",
    "isinstance of a load": "z = Decision(n, t, load_here=b)\na = isinstance(z.load_here, int)",
    "two lines of one if": "if c: a = 1; b = 2",
    "bits": "a = (b & 6) | (b ^ 3)\na ^= 1",
    "chained": "a = 1 if 0 < b <= 3 != a else 2",
    "chained with effects": "c = 0 < bump(view) < 5\na = view.notes.get('bumps', 0)",
    "and or with effects": "c = bump(view) > 3 and bump(view) > 3\na = view.notes.get('bumps', 0)",
    "order of evaluation": "a = bump(view) * 10 + bump(view)",
    "arguments by name": "a = weigh_whole(b=2, a=b)",
    "default argument": "a = with_default(b)",
    "changing default": "a = with_list()",
    "many arguments": "a = with_many(1, 2, b)",
    "named arguments": "a = with_names(one=b)",
    "recursion": "a = recursive(b)",
    "recursion without end": "a = endless(b)",
    "two that call each other": "a = even(b)",
    "function of kinds": "x = weigh_whole(x, b)\na = weigh_whole(b, 1)",
    "function of a column": "x = weigh_whole(view.column('tasks'), 1.0)[0]",
    "function without a result": "z = nothing(b)\na = 1 if z is None else 2",
    "function that may give nothing": "z = perhaps(b)\na = 5 if z is None else z",
    "function that gives kinds": "z = kinds(b)\na = z",
    "function that gives texts": "t = named(b)",
    "function that gives a pair": "a, x = pair(b, x)",
    "function that writes": "view.notes['m'] = 1\nspoil_notes(view)\na = view.notes.get('m', 0)",
    "function put in a name": "z = weigh_whole\na = z(b, 2)",
    "global read": "a = STEPS",
    "global of a list": "a = LIST[b]",
    "global of a dictionary": "a = TABLE['own']",
    "global of an array": "x = ARRAY[b]",
    "global of an array, written": "ARRAY[0] += 1.0\nx = ARRAY[0]",
    "global list, written": "LIST.append(b)\na = len(LIST)",
    "global counted": "a = count_up()",
    "global of kinds": "a = KINDS[b % 2]",
    "global set": "c = b in SET\na = int(c)",
    "global set of texts": "for one in TEXTS:\n    t = one",
    "global large": "a = LARGE",
    "global of a truth": "a = FLAG",
    "global None": "a = 1 if NOTHING is None else 2",
    "lambda of the module": "a = DOUBLE(b)",
    "partial": "a = PARTIAL(b)",
    "enumeration": "a = Colour.RED.value",
    "data class": "z = Point(b, 2)\na = z.one",
    "named tuple": "z = Pair(b, x)\na = z.one",
    "decorated function": "a = decorated(b)",
    "cached function": "a = cached(b)",
    "compiled by the user": "a = jitted(b)",
}  # fmt: skip
_MODULE = """
import dataclasses
import enum
import functools
from typing import NamedTuple

LIST = [4, 5, 6, 7, 8]
TABLE = {"own": 3}
ARRAY = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
KINDS = (1, 2.5)
SET = {1, 2}
TEXTS = {"a", "b", "c", "d", "e"}
LARGE = 2**63
FLAG = True
NOTHING = None
COUNT = 0
DOUBLE = lambda value: value * 2
PARTIAL = functools.partial(max, 3)


class Colour(enum.Enum):
    RED = 3


@dataclasses.dataclass
class Point:
    one: int
    other: int


class Pair(NamedTuple):
    one: int
    other: float


def spoil(column):
    column[0] = 50.0


def spoil_notes(view):
    view.notes["m"] = 2.5


def bump(view):
    view.notes["bumps"] = view.notes.get("bumps", 0) + 1
    return view.notes.get("bumps", 0)


def with_default(a, b=2):
    return a + b


def with_list(seen=[]):
    seen.append(1)
    return len(seen)


def with_many(*given):
    return given[-1] + len(given)


def with_names(**given):
    return given["one"]


def recursive(a):
    return 1 if a <= 0 else a * recursive(a - 1)


def endless(a):
    return endless(a + 1)


def even(a):
    return True if a == 0 else odd(a - 1)


def odd(a):
    return False if a == 0 else even(a - 1)


def nothing(a):
    a += 1


def perhaps(a):
    if a > 2:
        return a


def kinds(a):
    if a > 2:
        return 1
    return 2.5


def named(a):
    return "a" if a > 2 else "own"


def pair(a, x):
    return a + 1, x / 2


def count_up():
    global COUNT
    COUNT += 1
    return COUNT


@functools.wraps(named)
def decorated(a):
    return a + 1


@functools.cache
def cached(a):
    return a + 1


import numba


@numba.njit
def jitted(a):
    return a * 2**62
"""
for _name, _block in _BLOCKS.items():
    ODDITIES[_name] = Oddity(tuple(_block.split("\n")))

# Named by what the method returns.
for _text in """
Decision(n, t, load_here=True)
Decision(n, t, load_here=None)
Decision(n, t, load_here="a")
Decision(n, t, load_here=2**70)
Decision(n, t, load_here=10**400)
Decision(n, t, load_here=b)
Decision(n, t, load_here=1j)
Decision(n, t, load_here=view.column("cpu_ms"))
Decision(n, t, load_here=np.float32(0.1))
Decision(n, t, cost_ms=math.nan)
Decision(n, t, cost_ms=-5.0)
Decision(n, t, cost_ms=math.inf)
Decision(n, t, index="no_such")
Decision(n, t, index="no_such", load_here=1.0)
Decision(n, t, index=3)
Decision(n, t, index=None)
Decision(n, t, index="cpu_ms", load_here=1e9, task_load=1.0)
Decision(n, t, index="cpu_ms", load_here=1e9, task_load=b, response_here_ms=5, cost_ms=1)
Decision(n, t, reason=None)
Decision(n, t, reason=3)
Decision(n, None)
Decision(n, 3)
Decision(n)
Decision()
Decision(n, t, "cpu_ms", 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, "why", None, 7.0)
Decision(n, t, "cpu_ms", 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, "why", None, 7.0, 8.0)
Decision(n, t, no_such=1)
Decision(target=n, rule=t)
Decision(rule=t, target=n)
Decision(1.0, t)
Decision(True, t)
Decision(np.int64(1), t)
Decision(np.bool_(True), t)
Decision(np.float64(1), t)
Decision("1", t)
Decision(None, t)
Decision(-1, t)
Decision(view.nodes, t)
Decision(2**40, t)
Decision(2**63, t)
Decision(n, t, task=task)
Decision(n, t, task=3)
Decision(n, t, task=None)
Decision(n, task.task)
Decision(n, "tasks", index=1)
Decision(n, b"own")
Decision(n, ("own",))
Decision(n, "own", reason=f"turn {b}")
Decision(n, f"{x}")
Decision(n, f"{b} {b}")
Decision(n, "a" + "b")
Decision(n, LABEL + t)
Decision(n, repr(t))
Decision(n, "\\ud800")
""".strip().split("\n"):
    ODDITIES[_text] = _last(_text)

_ACCEPTS = """
return None
return True
return 1
return 0
return 1.5
return "" if view.load("tasks", view.me) < 2 else "full"
return "full" if view.measured("tasks", view.me) > 1 else ""
return decision.rule
return decision.reason
return decision.index
return "" if decision.rule == "own" else "other"
return "" if decision.target == view.me else "astray"
return "" if decision.load_here > 60.0 else "small"
return "" if decision.cost_ms >= 0.0 else "no cost"
return f"full: {view.me}"
return f"full: {view.load('tasks', view.me)}"
return "full" if view.load("tasks", view.nodes) > 0 else ""
return "full" if view.load("tasks", 2**40) > 0 else ""
return "full" if math.sqrt(-task.cpu_ms) > 0 else ""
return "full" if math.exp(task.cpu_ms * 20.0) > 0 else ""
return "full" if 2**62 * (task.task + 2) > 0 else ""
return "full" * (task.task % 2)
return "full" if task.task % 2 else None
return "full" if task.task % 2 else 3
return super().accept(task, decision, view)
return Policy.accept(self, task, decision, view)
return "\\ud800"
assert task.cpu_ms > 60.0; return ""
view.column("tasks")[0] = 9.0; return ""
decision.target = 0; return ""
view.notes["m"] = view.notes.get("m", 0) + 1; return "full" if view.notes["m"] % 2 else ""
print("accept"); return ""
raise ValueError("no")
"full"
return self.kind if task.task % 2 else ""
return "" if decision.task is None else "no"
return "" if decision.load_here == decision.load_here else "nan"
return "" if decision.mce is None else "x"
return "" if isinstance(decision.load_here, float) else "whole"
return "" if decision.task_load // 2 == decision.task_load / 2 else "odd"
"""
for _line in _ACCEPTS.strip("\n").split("\n"):
    ODDITIES[f"accept: {_line}"] = Oddity(accept=tuple(_line.split("; ")), place=("b = task.task % 5 + 1",))

_MIGRATIONS = """
return None
return Decision(view.next_node, "own")
return Decision(view.me, "own")
return Decision(-1, "own")
return Decision(view.next_node, "own", task=view.candidate(0))
return Decision(view.next_node, "own", task=view.candidate(10**6))
return Decision(view.next_node, "own", task=view.candidate(-1))
return Decision(view.next_node, "own", task=task)
return Decision(view.me, "own", task=view.candidate(0))
return Decision(view.nodes, "own", task=view.candidate(0))
return 3
return False
return Decision(view.next_node, "own", cost_ms=0.0, task=view.candidate(0)) if len(view.candidate_rows) else None
return Decision(view.next_node, "own", cost_ms=1e4, task=view.candidate(0)) if len(view.candidate_rows) else None
return Decision(view.next_node, "own", load_here=view.candidate_rows["age_ms"][-1], task=view.candidate(0)) if len(view.candidate_rows) else None
return Decision(view.next_node, "own", load_here=view.candidate_rows["no_such"][0], task=view.candidate(0))
return Decision(view.next_node, "own", load_here=view.candidate_rows[0]["age_ms"], task=view.candidate(0))
return Decision(view.next_node, "own", task=view.candidates[0]) if view.candidates else None
view.candidate_rows["cpu_ms"][:] = 0.0; return None
view.candidate_rows["age_ms"] += 1.0; return None
x = math.sqrt(-task.cpu_ms); return None
assert task.cpu_ms < 60.0; return None
raise ValueError("no")
one = view.candidate(0); other = view.candidate(1); return Decision(view.next_node, "own", mce=one.cpu_ms, task=one)
"""
for _line in _MIGRATIONS.strip("\n").split("\n"):
    ODDITIES[f"migration: {_line}"] = Oddity(migration=tuple(_line.split("; ")))

ODDITIES |= {
    "property": Oddity(inside=("@property", "def width(self):", "    return 3"), place=("a = self.width",)),
    "property that is a text": Oddity(inside=("@property", "def width(self):", "    return 'a'"), place=("t = self.width",)),
    "property of parameters": Oddity(
        inside=("@property", "def width(self):", "    return self.parameters.k / 2"), place=("x = self.width",)
    ),
    "cached property": Oddity(
        inside=("from functools import cached_property", "@cached_property", "def width(self):", "    return 3"),
        place=("a = self.width",),
    ),
    "property name": Oddity(inside=("@property", "def index(self):", "    return 'cpu_ms'"), place=("return super().place(task, view)",)),
    "property with a setter": Oddity(
        inside=("@property", "def w(self):", "    return 3", "@w.setter", "def w(self, value):", "    pass"),
        place=("self.w = 5", "a = self.w"),
    ),
    "static method": Oddity(inside=("@staticmethod", "def twice(a):", "    return 2 * a"), place=("a = self.twice(b)",)),
    "class method": Oddity(inside=("@classmethod", "def twice(cls, a):", "    return 2 * a"), place=("a = self.twice(b)",)),
    "method": Oddity(inside=("def _twice(self, a):", "    return 2 * a"), place=("a = self._twice(b)", "x = self._twice(x)")),
    "method with default": Oddity(inside=("def _add(self, a, b=2):", "    return a + b"), place=("a = self._add(b)", "a += self._add(b=1, a=a)")),
    "method of the class": Oddity(inside=("def _twice(self, a):", "    return 2 * a"), place=("a = Mine._twice(self, b)",)),
    "recursive method": Oddity(inside=("def _down(self, a):", "    return 0 if a <= 0 else 1 + self._down(a - 1)"), place=("a = self._down(b)",)),
    "equality": Oddity(inside=("def __eq__(self, other):", "    return True"), place=("c = self == 3", "a = int(c)")),
    "equality, unused": Oddity(inside=("def __eq__(self, other):", "    return True")),
    "equality of nothing": Oddity(inside=("def __eq__(self, other):", "    return NotImplemented")),
    "length": Oddity(inside=("def __len__(self):", "    return 3"), place=("a = len(self)",)),
    "length zero": Oddity(inside=("def __len__(self):", "    return 0"), place=("c = bool(self)", "a = int(c)")),
    "hash": Oddity(inside=("def __hash__(self):", "    return 3"), place=("a = hash(self)",)),
    "call": Oddity(inside=("def __call__(self, a):", "    return a"), place=("a = self(b)",)),
    "getattr": Oddity(inside=("def __getattr__(self, name):", "    return 3"), place=("a = self.anything",)),
    "repr that fails": Oddity(inside=("def __repr__(self):", "    raise ValueError('no')"), last="return None"),
    "constants": Oddity(inside=("width = 3", "share = 0.5", "flag = True", "word = 'a'"), place=("a = self.width", "x = self.share * x", "t = self.word")),
    "constant, large": Oddity(inside=("width = 2**63",), place=("a = self.width",)),
    "constant, larger": Oddity(inside=("width = 10**30",), place=("a = self.width // 10**20",)),
    "constant, list": Oddity(inside=("width = [1, 2]",), place=("a = self.width[1]",)),
    "constant, tuple": Oddity(inside=("width = (1, 2)",), place=("a = self.width[1]",)),
    "constant, dictionary": Oddity(inside=("width = {'own': 2}",), place=("a = self.width[t]",)),
    "constant, array": Oddity(inside=("width = np.ones(3)",), place=("x = self.width[1]",)),
    "constant, None": Oddity(inside=("width = None",), place=("a = 1 if self.width is None else 2",)),
    "constant, written": Oddity(inside=("width = 3",), place=("Mine.width += 1", "a = Mine.width")),
    "constant of the class": Oddity(inside=("width = 3",), place=("a = Mine.width",)),
    "kept in itself": Oddity(place=("self.seen = b", "a = self.seen")),
    "kept by its constructor": Oddity(inside=("def __init__(self, **given):", "    super().__init__(**given)", "    self.seen = 3"), place=("a = self.seen",)),
    "slots": Oddity(inside=("__slots__ = ('seen',)",)),
    "parameters replaced": Oddity(place=("self.parameters = None",)),
    "load_name": Oddity(inside=("def load_name(self, view):", "    return 'io_ms'"), place=("t = self.load_name(view)",)),
    "is_overloaded gives a number": Oddity(inside=("def is_overloaded(self, task, view):", "    return task.task % 3"), place=("return super().place(task, view)",)),
    "is_overloaded gives a text": Oddity(inside=("def is_overloaded(self, task, view):", "    return ''"), place=("return super().place(task, view)",)),
    "is_overloaded gives nothing": Oddity(inside=("def is_overloaded(self, task, view):", "    pass"), place=("return super().place(task, view)",)),
    "location gives a number": Oddity(inside=("def location(self, task, view):", "    return 1.0"), place=("return super().place(task, view)",)),
    "location beyond": Oddity(inside=("def location(self, task, view):", "    return view.nodes"), place=("return super().place(task, view)",)),
    "response_ms gives nothing": Oddity(
        inside=("def response_ms(self, task, view, node):", "    return None"),
        place=("return Decision(n, t, index='cpu_ms', load_here=1e9, task_load=0.5, response_here_ms=4.0, cost_ms=1.0)",),
    ),
    "response_ms gives nan": Oddity(
        inside=("def response_ms(self, task, view, node):", "    return math.nan"),
        place=("return Decision(n, t, index='cpu_ms', load_here=1e9, task_load=0.5, response_here_ms=4.0, cost_ms=1.0)",),
    ),
    "response_ms beyond": Oddity(
        inside=("def response_ms(self, task, view, node):", "    return view.load('cpu_ms', view.nodes)"),
        place=("return Decision(n, t, index='cpu_ms', load_here=1e9, task_load=0.5, response_here_ms=4.0, cost_ms=1.0)",),
    ),
    "task_load gives a text": Oddity(
        inside=("def task_load(self, task, view, index, node):", "    return 'a'"),
        place=("return self.send_to_least(task, view, 'cpu_ms', 'own')",),
    ),
    "a decorator": Oddity(module=("def same(function):", "    return function", ""), inside=("@same", "def _twice(self, a):", "    return 2 * a"), place=("a = self._twice(b)",)),
    "a decorator that wraps": Oddity(
        module=("def plus(function):", "    def wrapped(*given):", "        return function(*given) + 1", "    return wrapped", ""),
        inside=("@plus", "def _twice(self, a):", "    return 2 * a"), place=("a = self._twice(b)",),
    ),
    "keyword only": Oddity(inside=("def _twice(self, *, a):", "    return 2 * a"), place=("a = self._twice(a=b)",)),
    "name mangled": Oddity(inside=("def __twice(self, a):", "    return 2 * a"), place=("a = self.__twice(b)",)),
    "name mangled constant": Oddity(inside=("__width = 4",), place=("a = self.__width",)),
    "two bases": Oddity(module=("class Extra:", "    width = 5", "    def wide(self):", "        return 6", ""), place=("a = Extra.width",)),
    "annotations": Oddity(inside=("def _twice(self, a: float) -> int:", "    return 2 * a"), place=("a = self._twice(b)",)),
    "docstring": Oddity(inside=("def _twice(self, a):", "    '''Twice.'''", "    return 2 * a"), place=("a = self._twice(b)",)),
    "only a docstring": Oddity(inside=("def _twice(self, a):", "    '''Twice.'''"), place=("a = 1 if self._twice(b) is None else 2",)),
    "shadowed": Oddity(place=("max = min", "a = max(b, 3)")),
    "shadowed by the module": Oddity(module=("def abs(value):", "    return 7", ""), place=("a = abs(b)",)),
    "shadowed math": Oddity(module=("def sqrt(value):", "    return 7.0", ""), place=("x = sqrt(x)",)),
    "shadowed round": Oddity(module=("def round(value, digits=0):", "    return 7.0", ""), place=("x = round(x, 2)",)),
    "shadowed argument": Oddity(place=("view_ = view", "x = view_.load('cpu_ms', 0)")),
    "other names of arguments": Oddity(inside=("def _look(self, seen, at):", "    return seen.load('cpu_ms', at)"), place=("x = self._look(view, n)",)),
    "Decision under another name": Oddity(module=("from cluster_abm.policies import Decision as Choice", ""), place=("return Choice(n, t, load_here=x)",)),
    "Decision made by a function": Oddity(module=("def made(n, t):", "    return Decision(n, t)", ""), place=("return made(n, t)",)),
    "constants of another module": Oddity(module=("from math import inf, pi, sqrt", ""), place=("x = sqrt(pi) * x", "y = inf")),
    "numpy under its name": Oddity(module=("import numpy", ""), place=("x = numpy.sqrt(x)",)),
    "statistics": Oddity(module=("import statistics", ""), place=("x = statistics.mean([x, y])",)),
    "time": Oddity(module=("import time", ""), place=("c = time.time() > 0.0",)),
    "decimal": Oddity(module=("from decimal import Decimal", ""), place=("x = float(Decimal('0.1') + b)",)),
    "fraction": Oddity(module=("from fractions import Fraction", ""), place=("x = float(Fraction(1, 3) + b)",)),
}  # fmt: skip

# What the blocks call stands beside the class of those that call it.
_HELPED = (
    "spoil",
    "bump",
    "with_",
    "recursive",
    "endless",
    "even(",
    "nothing(",
    "perhaps",
    "kinds(",
    "named(",
    "pair(",
)
_HELPED += (
    "LIST",
    "TABLE",
    "ARRAY",
    "count_up",
    "KINDS",
    "SET",
    "TEXTS",
    "LARGE",
    "FLAG",
    "NOTHING",
    "DOUBLE",
    "PARTIAL",
)
_HELPED += ("Colour", "Point", "Pair", "decorated", "cached(", "jitted")
for _name in _BLOCKS:
    if any(word in _BLOCKS[_name] for word in _HELPED):
        ODDITIES[_name] = Oddity(ODDITIES[_name].place, module=tuple(_MODULE.split("\n")))
