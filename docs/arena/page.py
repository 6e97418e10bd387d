"""Put what an arena has found into its page: sentences that held on fresh regimes, tables, and their files.

    cluster-abm arena --verify --out out/arena
    python docs/arena/page.py out/arena

In `index.md` the text between `<!-- made: NAME -->` and `<!-- end -->` is made anew. A claim that did not hold is
in the table of claims alone.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd

HERE = Path(__file__).resolve().parent
PAGE = HERE / "index.md"
# Beside the first ones by rank, those of the textbook.
FIRST = 15
TEXTBOOK = ("random", "round-robin", "power-of-d", "jsq", "lwl", "jiq", "easy", "central-queue", "tetris", "none")
VERBS = {"keeps its rank": "keep their rank", "loses rank": "lose rank", "gains rank": "gain rank"}
CHANGED = {"wrong": "With sizes wrong by a factor of two", "each": "With tasks of a job that differ"}


def main(folder: Path) -> None:
    """Read an arena's folder; write the page and the files beside it."""
    arena, verify = (json.loads((folder / name).read_text("utf-8")) for name in ("arena.json", "verify.json"))
    parts = {
        "size": size(arena, verify),
        "general": bullets(claim["words"] for claim in held(verify, "leader", "best", "surely")),
        "regret": regret(arena["ranking"], verify),
        "rules": rules(arena, verify),
        "sizes": sizes(arena, verify),
        "claims": claims(verify),
    }
    text = PAGE.read_text("utf-8")
    for name, made in parts.items():
        pattern = rf"(<!-- made: {name} -->\n)(?:(?!<!--).*\n)*(<!-- end -->)"
        made = re.sub(r"(\d)%", r"\1 %", made)
        text, count = re.subn(pattern, lambda found, made=made: f"{found[1]}{made}\n{found[2]}", text)
        assert count == 1, name
    PAGE.write_text(text, "utf-8")
    shutil.copyfile(folder / "regret.csv", HERE / "arena-regret.csv")
    pd.DataFrame(verify["claims"]).to_csv(HERE / "arena-claims.csv", index=False)


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
    return "\n".join(fill(f"* {one}", 100, subsequent_indent="  ", break_on_hyphens=False) for one in sentences)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)])


def regret(ranking: list[dict[str, Any]], verify: dict[str, Any]) -> str:
    """The first policies, and those of the textbook, with their ranks here and on fresh regimes."""
    fresh = {named(claim): claim for claim in verify["claims"] if claim["kind"] == "rank"}
    rows = []
    for rank, row in enumerate(ranking, 1):
        if rank <= FIRST or row["policy"] in TEXTBOOK:
            claim = fresh[row["policy"]]
            again, regret = claim["fresh"].split(", ")
            rows.append(
                [str(rank), marked(again, claim), f"`{row['policy']}`", f"{row['regret']:.1%}",
                 f"{row['low']:.1%} to {row['high']:.1%}", regret, f"{row['worst']:,.0%}", str(row["sure_in"]),
                 row["knows_sizes"], row["sees_true_state"], row["may_refuse"], f"{row['messages']:.3g}"]
            )  # fmt: skip
    return table(
        ["rank", "fresh", "policy", "mean regret", "95 % over regimes", "fresh", "worst", "surely near the best in",
         "knows sizes", "sees the true state", "may refuse", "messages a job"], rows,
    )  # fmt: skip


def named(claim: dict[str, Any]) -> str:
    """The policy that a claim is about."""
    found = re.search(r"`(.*?)`", claim["words"])
    return found[1] if found else ""


def marked(figure: str, claim: dict[str, Any]) -> str:
    """A fresh figure, in bold type if the claim does not hold by it."""
    return figure if claim["held"] else f"**{figure}**"


def rules(arena: dict[str, Any], verify: dict[str, Any]) -> str:
    """How many rules there are, and those that held twice."""
    told = held(verify, "rule")
    count = (
        f"{arena['rules_found']} rules were found, {len(arena['rules'])} of them held on the other half of the "
        f"regimes, and {len(told)} of these on the fresh ones:"
    )
    return "\n\n".join([fill(count, 100), bullets(claim["words"] for claim in told)]).rstrip()


def sizes(arena: dict[str, Any], verify: dict[str, Any]) -> str:
    """What became of ranks, and what wrong sizes cost; in the table the fresh figures, too."""
    lines = [claim["words"] for claim in costs(verify) if claim["held"]]
    told = {(claim["kind"], named(claim)): claim for claim in verify["claims"] if is_of_rank(claim)}
    for kind, words in CHANGED.items():
        for verb, plural in VERBS.items():
            names = [f"`{name}`" for (of, name), claim in told.items()
                     if of == kind and claim["held"] and f"` {verb}" in claim["words"]]  # fmt: skip
            lines += [f"{words} these {plural}: {', '.join(names)}."] if names else []
    wrong = {row["policy"]: row for row in arena["sizes"]["wrong"]}
    rows = [
        [f"`{name}`", *(cell for kind in CHANGED for cell in (told[kind, name]["found"],
         marked(told[kind, name]["fresh"], told[kind, name]))), cost(wrong[name])]
        for name in (row["policy"] for row in arena["ranking"][:FIRST])
    ]  # fmt: skip
    head = ["policy", "sizes wrong: rank", "fresh", "tasks differ: rank", "fresh", "what wrong sizes cost"]
    return "\n\n".join([bullets(lines), table(head, rows)])


def is_of_rank(claim: dict[str, Any]) -> bool:
    """Whether a claim is about what changed sizes do to a rank."""
    return claim["kind"] in CHANGED and claim["words"].startswith("With ")


def costs(verify: dict[str, Any]) -> list[dict[str, Any]]:
    """The claims about what wrong sizes cost."""
    return [claim for claim in verify["claims"] if claim["kind"] in CHANGED and not is_of_rank(claim)]


def cost(row: dict[str, Any]) -> str:
    """A cost with its interval."""
    return f"{row['cost']:+.1%} ({row['low']:+.1%} to {row['high']:+.1%})" if row["low"] or row["high"] else "0"


def claims(verify: dict[str, Any]) -> str:
    """The sentences with both figures; ranks stand in the tables above."""
    told = [claim for claim in verify["claims"] if claim["kind"] not in ("rank", *CHANGED)] + costs(verify)
    rows = [
        [claim["words"].rstrip("."), claim["found"], claim["fresh"], "yes" if claim["held"] else "**no**"]
        for claim in told
    ]  # fmt: skip
    return table(["claim", "found", "fresh", "held"], rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
