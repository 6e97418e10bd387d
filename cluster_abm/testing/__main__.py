"""`python -m cluster_abm.testing mine.py:Mine [options of pytest]`: the contract on one policy, without a test file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

# Named and not imported here: pytest imports it in its own way.
CHOSEN = "cluster_abm.testing.chosen"


def main(arguments: list[str]) -> int:
    """Run the tests on the policy that the first argument names; return pytest's exit code."""
    if not arguments or arguments[0].startswith("-"):
        print("usage: python -m cluster_abm.testing NAME|FILE.py:CLASS [options of pytest]", file=sys.stderr)
        return 2
    # No settings of the folder's: they are about its own tests.
    plain = ["-c", os.devnull, "--rootdir", os.curdir, "-p", "no:cacheprovider", "-q", "-rs", "-p", CHOSEN]
    file = str(Path(__file__).with_name("chosen.py"))
    return int(pytest.main([*plain, "--policy", *arguments, file]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
