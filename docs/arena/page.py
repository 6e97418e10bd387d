"""Put what an arena has found into its page: sentences that held on fresh regimes, tables, and their files.

    cluster-abm arena --verify --out out/arena
    python docs/arena/page.py out/arena

In `index.md` the text between `<!-- made: NAME -->` and `<!-- end -->` is made anew. A claim that did not hold stands in
the table of claims alone.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from textwrap import fill
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE / "index.md"
# Beside the first ones by rank, those of the textbook.
FIRST = 15
TEXTBOOK = ("random", "round-robin", "power-of-d", "jsq", "lwl", "jiq", "easy", "central-queue", "tetris", "none")
FILES = {"regret.csv": "arena-regret.csv", "verify.md": "verify.md"}
VERBS = {"keeps its rank": "These keep their rank", "loses rank": "These lose rank", "gains rank": "These gain rank"}
CHANGED = {"wrong": "Sizes wrong by a factor of two", "each": "Tasks of a job that differ"}


def main(folder: Path) -> None:
    """Read an arena's folder; write the page and the files beside it."""
    arena, verify = (json.loads((folder / name).read_text("utf-8")) for name in ("arena.json", "verify.json"))
    parts = {
        "size": size(arena, verify),
        "general": bullets(claim["words"] for claim in held(verify, "leader", "best", "surely")),
        "regret": regret(arena["ranking"]),
        "rules": rules(arena, verify),
        "sizes": sizes(arena, verify),
        "claims": claims(verify),
    }
    text = PAGE.read_text("utf-8")
    for name, made in parts.items():
        pattern = rf"(<!-- made: {name} -->\n).*?(\n<!-- end -->)"
        text, count = re.subn(pattern, lambda found, made=made: f"{found[1]}{made}{found[2]}", text, flags=re.DOTALL)
        assert count == 1, name
    PAGE.write_text(text, "utf-8")
    for source, target in FILES.items():
        shutil.copyfile(folder / source, HERE / target)


def held(verify: dict[str, Any], *kinds: str) -> list[dict[str, Any]]:
    """The claims of some kinds that fresh regimes bear out."""
    return [claim for claim in verify["claims"] if claim["kind"] in kinds and claim["held"]]


def size(arena: dict[str, Any], verify: dict[str, Any]) -> str:
    """How large it was."""
    return fill(
        f"{len(arena['ranking'])} policies in {arena['regimes']} regimes, {arena['seeds']} seeds each; regret is of "
        f"{arena['headline'].replace('_', ' ')}. {verify['held']} of {len(verify['claims'])} claims hold on "
        f"{verify['regimes']} fresh regimes and other seeds.", 100,
    )  # fmt: skip


def bullets(sentences: Any) -> str:
    """A list."""
    return "\n".join(fill(f"* {one}", 100, subsequent_indent="  ") for one in sentences)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)])


def regret(ranking: list[dict[str, Any]]) -> str:
    """The first policies, and those of the textbook, with their ranks."""
    return table(
        ["", "policy", "mean regret", "95 % over regimes", "worst", "surely near the best in", "knows sizes",
         "sees the true state", "may refuse", "messages a job"],
        [
            [str(rank), f"`{row['policy']}`", f"{row['regret']:.1%}", f"{row['low']:.1%} to {row['high']:.1%}",
             f"{row['worst']:,.0%}", str(row["sure_in"]), row["knows_sizes"], row["sees_true_state"],
             row["may_refuse"], f"{row['messages']:.3g}"]
            for rank, row in enumerate(ranking, 1) if rank <= FIRST or row["policy"] in TEXTBOOK
        ],
    )  # fmt: skip


def rules(arena: dict[str, Any], verify: dict[str, Any]) -> str:
    """How many rules there are, and those that held twice."""
    told = held(verify, "rule")
    count = (
        f"{arena['rules_found']} rules were found, {len(arena['rules'])} of them held on the other half of the "
        f"regimes, and {len(told)} of these on the fresh ones:"
    )
    return "\n\n".join([fill(count, 100), bullets(claim["words"] for claim in told)]).rstrip()


def sizes(arena: dict[str, Any], verify: dict[str, Any]) -> str:
    """What became of ranks, and what wrong sizes cost: as far as it held."""
    lines = [
        claim["words"] for claim in held(verify, "wrong") if not claim["words"].startswith("With")
    ]  # fmt: skip
    for kind, words in CHANGED.items():
        for verb, plural in VERBS.items():
            names = [
                found[1] for claim in held(verify, kind) if (found := re.search(rf", (`.*`) {verb}", claim["words"]))
            ]
            lines += [f"{words}. {plural}: {', '.join(names)}."] if names else []
    wrong, each = ({row["policy"]: row for row in arena["sizes"][kind]} for kind in ("wrong", "each"))
    rows = [
        [f"`{row['policy']}`", str(own["before"]), str(own["after"]), cost(own), str(each[row["policy"]]["after"])]
        for row in arena["ranking"][:FIRST] for own in [wrong[row["policy"]]]
    ]  # fmt: skip
    head = ["policy", "rank", "rank, sizes wrong", "what wrong sizes cost", "rank, tasks differ"]
    return "\n\n".join([bullets(lines), table(head, rows)])


def cost(row: dict[str, Any]) -> str:
    """A cost with its interval."""
    return f"{row['cost']:+.1%} ({row['low']:+.1%} to {row['high']:+.1%})"


def claims(verify: dict[str, Any]) -> str:
    """The sentences with both figures; ranks are in the file."""
    rows = [
        [claim["words"].rstrip("."), claim["found"], claim["fresh"], "yes" if claim["held"] else "**no**"]
        for claim in verify["claims"] if claim["kind"] != "rank"
    ]  # fmt: skip
    return table(["claim", "found", "fresh", "held"], rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
