"""Commands that misbehave on purpose, and what the harness says of each; test_fuzz.py runs it in its own process."""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from pathlib import Path

from carrying_out import Limits, carry_out
from case import Case
from judging import problems_of

LIMITS = Limits(wall_s=2.0, memory_mb=400, address_mb=4000)


def misbehave(arguments: list[str]) -> None:
    """Do what the first argument says."""
    match arguments[0]:
        case "fine":
            print('{"a": 1}')
        case "refuse":
            print("error: no", file=sys.stderr)
            sys.exit(2)
        case "refuse without words":
            sys.exit(2)
        case "refuse at length":
            print("error: " + "x" * 2000, file=sys.stderr)
            sys.exit(2)
        case "raise":
            raise RuntimeError("on purpose")
        case "warn":
            warnings.warn("on purpose", stacklevel=1)
        case "hang":
            time.sleep(60)
        case "eat":
            held = []
            while True:
                held.append(b"x" * 10_000_000)
                time.sleep(0.01)
        case "have a child eat":
            if os.fork() == 0:
                misbehave(["eat"])
            time.sleep(60)
        case "ask for all":
            bytearray(8_000_000_000)
        case "die":
            os.abort()
        case "print nan":
            print('{"a": NaN}')
        case "print two":
            print("{}\n{}")
        case "leave a folder":
            Path("out/deep").mkdir(parents=True)
            print("error: no", file=sys.stderr)
            sys.exit(2)
        case "fill":
            print("x" * 100_000, flush=True)


def main() -> None:
    """Carry out each command that is named, and print what is said of it as JSON."""
    found = {}
    for name in sys.argv[1:]:
        case = Case("stub", [name, "--json"], {"a/b.txt": b"x", "empty/": b""})
        if name == "fill":
            case.stdout = "full"
        found[name] = problems_of(case, carry_out(case, misbehave, LIMITS), LIMITS)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
