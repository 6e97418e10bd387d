"""What a case is: a command line, the files it finds, and the surroundings in which it is carried out."""

from __future__ import annotations

import os
import random
import shlex
from dataclasses import dataclass, field
from pathlib import Path

Random = random.Random

FINE, BAD_INPUT, INTERRUPTED = 0, 2, 130


@dataclass
class Case:
    """A command line of `cluster-abm` and everything that it meets.

    Attributes:
        kind: which generator made it.
        arguments: of the command.
        files: path in the case's folder -> content; a path that ends in "/" is a folder, one in "|" a pipe, a `str` the
            target of a link.
        changes: what was mutated, in words.
        environment: variables set over those there are; None: not set.
        stdout: file, or what is there in its place: closed, full (/dev/full), or broken (a pipe that is read no more).
        file_size: no file may grow beyond so many bytes (RLIMIT_FSIZE).
        as_process: a process of its own from the start, not one forked from a warm one.
        codes: exit codes that are right.
    """

    kind: str
    arguments: list[str]
    files: dict[str, bytes | str] = field(default_factory=dict)
    changes: list[str] = field(default_factory=list)
    environment: dict[str, str | None] = field(default_factory=dict)
    stdout: str = "file"
    file_size: int | None = None
    as_process: bool = False
    codes: frozenset[int] = frozenset({FINE, BAD_INPUT})

    @property
    def command(self) -> str:
        """The command as a shell takes it, cut where it is long."""
        words = [word if len(word) < 200 else f"{word[:60]}...({len(word)})" for word in self.arguments]
        before = [f"{name}={value}" if value is not None else f"-u {name}" for name, value in self.environment.items()]
        env = f"env {shlex.join(before)} " if before else ""
        return f"{env}cluster-abm {shlex.join(words)}".encode("utf-8", "backslashreplace").decode()

    def lay_out(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files.items():
            path = folder / name
            if name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("|"):
                os.mkfifo(str(path).rstrip("|"))
            elif isinstance(content, str):
                os.symlink(content, path)
            else:
                path.write_bytes(content)
