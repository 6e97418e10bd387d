"""Values and bytes that programs trip over, and ways to spoil a text. All of it follows from the Random given."""

from __future__ import annotations

import gzip
import lzma
from functools import cache, partial

from case import Random

# As TOML spells them; `--set` takes them too.
NUMBERS = (
    *("0", "1", "-1", "-0.0", "0.0", "0.5", "2", "3", "7", "1.0000000000000002", "1e-9", "1e-308", "5e-324", "1e308"),
    *("-1e308", "nan", "-nan", "inf", "-inf", "1e12", "1000000000001", "1e9", "1e6", "2147483647", "2147483648"),
    *("4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809"),
    *("10000000000000000000", "1" + "0" * 30, "9" * 5000, "0x7fffffffffffffff", "0b1", "1_000", "1e400"),
)
LONG = "x" * 5000
WORDS = (
    *(
        '""',
        '" "',
        '"x"',
        '"0"',
        '"1"',
        '"nan"',
        '"true"',
        '"\\u0000"',
        '"a\\u001b[31mb\\r\\n\\tc"',
        '"\\u0661\\u00b2"',
    ),
    *('"²"', '"\\U0001F600"', '"\\u202e"', '"."', '".."', '"/"', '"/dev/null"', '"/dev/full"', '"/proc/self/mem"'),
    *('"~"', '"a/b"', '"a\\\\b"', '"-"', '"--json"', '"%s %d"', '"{0.__class__}"', '"$HOME"', '"drained"', '"file"'),
    *(f'"{LONG}"', '"' + "é" * 300 + '"', '"con.toml"', "'''\n\n'''", '"quickstart"', '"mcls"', '"none"'),
)
OTHERS = (
    *("true", "false", "[]", "{}", "[1]", '["a"]', "[[]]", "[[1]]", '[1, "a"]', "[0]", "[-1]", "[1e308]", "[nan]"),
    *("{ a = 1 }", '{ kind = "fixed" }', "{ kind = [1] }", "{ kind = {} }", "{ mean = 1e308 }", "{ mean = nan }"),
    *('{ kind = "lognormal", mean = 1e12, sd = 1e12 }', '{ kind = "pareto", mean = 1.0, shape = 1.0000001 }'),
    *('{ kind = "lifetime", shape = 1e-9 }', '{ kind = "gamma", mean = 1e-9, sd = 1e-9 }', "1979-05-27", "07:32:00"),
    *("1979-05-27T07:32:00Z", "[" * 150 + "]" * 150, "{a=" * 150 + "1" + "}" * 150, "[" * 5000, "{ '' = 1 }"),
    *("[{ node = 0, cpu_share = 0.5 }]", "[{}]", "[{ count = 1 }]", "[{ at_s = 0.5, node = 0 }]", "[true]"),
    "[" + "1, " * 3000 + "1]",
)
CELLS = (
    *("", " ", "0", "-1", "-0", "nan", "NaN", "inf", "-inf", "1e308", "1e-308", "1e12", "1e13", "9" * 400, "0x10"),
    *(
        "1_000",
        "1,5",
        "²",
        "\u0661",
        "\u00a05",
        '"',
        '""',
        '"a\nb"',
        "'",
        "true",
        "None",
        "1e",
        "--1",
        "+5",
        "1.",
        ".5",
    ),
    *("2147483647", "2147483648", "9223372036854775808", "4.5", "x" * 200_000, "=1+1", "#", ";", "\t", "\x1b[31m"),
)
BYTES = (
    b"\0",
    b"\r",
    b"\n",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"'",
    b",",
    b";",
    b"=",
    b"[",
    b"]",
    b"#",
    b"\x85",
    b"\x1a",
)


def value(random: Random) -> str:
    """A nasty value as TOML writes it."""
    return random.choice(random.choice((NUMBERS, WORDS, OTHERS)))


def spoilt_bytes(random: Random, data: bytes) -> tuple[bytes, str]:
    """Bytes that are not quite those given, and what was done."""
    if not data:
        return b"\xff", "one byte"
    place = random.randrange(len(data))
    how = random.choice(("flip", "cut", "insert", "remove", "double", "utf-16", "bom", "crlf", "cr", "nul", "empty"))
    match how:
        case "flip":
            changed = bytearray(data)
            changed[place] ^= 1 << random.randrange(8)
            data = bytes(changed)
        case "cut":
            data = data[:place]
        case "insert":
            data = data[:place] + random.choice(BYTES) + data[place:]
        case "remove":
            data = data[:place] + data[place + random.randint(1, 20) :]
        case "double":
            data = data + data
        case "utf-16":
            data = data.decode("latin-1").encode("utf-16")
        case "bom":
            data = b"\xef\xbb\xbf" + data
        case "crlf":
            data = data.replace(b"\n", b"\r\n")
        case "cr":
            data = data.replace(b"\n", b"\r")
        case "nul":
            data = data[:place] + bytes(random.randint(1, 4096)) + data[place:]
        case "empty":
            data = random.choice((b"", b"\n", b" ", b"\n" * 100_000))
    return data, f"bytes: {how} at {place}"


def spoilt_lines(random: Random, data: bytes) -> tuple[bytes, str]:
    """Lines left out, doubled, swapped."""
    lines = data.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    how = random.choice(("delete", "double", "swap", "repeat"))
    match how:
        case "delete":
            del lines[one]
        case "double":
            lines.insert(other, lines[one])
        case "swap":
            lines[one], lines[other] = lines[other], lines[one]
        case "repeat":
            lines[one:one] = [lines[one]] * random.choice((2, 50, 3000))
    return b"\n".join(lines), f"lines: {how} {one + 1} {other + 1}"


@cache
def bomb(packing: str, megabytes: int, piece: bytes = b"0,1\n") -> bytes:
    """A file of a few hundred KB that unpacks to so many MB, a first line of a CSV in front."""
    pack = {"gz": partial(gzip.compress, mtime=0), "xz": lzma.compress}[packing]
    block = pack(piece * (2**20 * 4 // len(piece)))
    return pack(b"arrival_ms,cpu_ms\n") + block * (megabytes // 4)
