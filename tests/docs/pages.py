"""The pages of the documentation as a reader meets them: their fenced blocks, and the files that they name."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FENCED = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
# A block that is a file: "`machine.toml`:", or "... in a file `mine.py` (...):", and then the block.
NAMED = re.compile(r"`([\w-]+\.(?:toml|csv|py|txt|xml))`[^`\n]*:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)
# A command alone in an indented block.
INDENTED = re.compile(r"^    (cluster-abm (?:.*\\\n)*.*)", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """One page: its name as seen from the top, and its text (of a notebook: its texts, and its shell cells)."""

    name: str
    text: str

    def blocks(self, language: str) -> list[str]:
        """Its fenced blocks of a language."""
        return [body for found, body in FENCED.findall(self.text) if found == language]

    def shell(self) -> list[str]:
        """All that it shows for a shell, block by block."""
        return self.blocks("sh") + INDENTED.findall(self.text)

    def commands(self) -> list[list[str]]:
        """The words of every `cluster-abm` command that it shows, without `cluster-abm`."""
        lines = "\n".join(self.shell()).replace("\\\n", " ").splitlines()
        found = []
        for line in lines:
            words = _words(line) if "cluster-abm " in line else []
            while "cluster-abm" in words:
                rest = words[words.index("cluster-abm") + 1 :]
                end = next((place for place, word in enumerate(rest) if set(word) <= set(";&|<>")), len(rest))
                found.append(rest[:end])
                words = rest[end:]
        return found

    def files(self) -> dict[str, str]:
        """Files that it shows whole: name -> text."""
        return dict(NAMED.findall(self.text))


def _words(line: str) -> list[str]:
    """The words of a line as a shell has them; what joins commands is a word of its own."""
    line = re.sub(r"\b2>(&1)?", ">", line)  # what is told on stderr
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    return [Path(word).name if word.endswith("bin/cluster-abm") else word for word in lexer]


def _of_notebook(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            texts.append(source)
        elif source.startswith("%%bash\n"):
            texts.append("```sh\n" + source.removeprefix("%%bash\n") + "\n```")
    return "\n\n".join(texts)


def all_pages() -> list[Page]:
    """README, CONTRIBUTING and every page of the site."""
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    pages = [Page(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]
    notebooks = sorted((ROOT / "docs").rglob("*.ipynb"))
    return pages + [Page(path.relative_to(ROOT).as_posix(), _of_notebook(path)) for path in notebooks]
