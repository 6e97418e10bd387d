"""Which process does what, when several work on one folder: claims that end with the process that made them.

A claim is a file that only one process can create (a hard link, or O_CREAT | O_EXCL where there are none; also on
network file systems; no flock). It names the session of its owner. A session is a file; its process renews the
modification time. Host and process are in its name, so a kill while it is written does no harm. Where there are hard
links, a claim is a further name of this file: to make a file takes many times as long. A claim is void once the
session's process is known to be dead (this host) or its session has not been renewed for `EXPIRY_S`. Void claims are
not removed but superseded: the next process creates the claim with the next fencing token, which again only one
process can. If the caches of a file system defeat all this, a run is made twice, to the same bytes: nothing is lost or
counted twice.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cluster_abm.interrupts import interrupt_held_back
from cluster_abm.study.store.durable import Damaged, read_bytes

RENEWAL_S = 10.0
EXPIRY_S = 90.0


class Leases:
    """The claims of this process on a folder, until the `with` block is left.

    Args:
        folder: where claims and sessions are kept.
        expiry_s: how long a session counts as alive without being renewed.
    """

    def __init__(self, folder: Path, expiry_s: float = EXPIRY_S) -> None:
        self.token = token_of(this_host(), os.getpid())
        self._claims, self._sessions = folder / "claims", folder / "sessions"
        self._expiry_s = expiry_s
        self._held: dict[str, Path] = {}
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Leases:
        for folder in (self._claims, self._sessions):
            folder.mkdir(parents=True, exist_ok=True)
        self._renew()
        self._heart.start()
        return self

    def __exit__(self, *_: object) -> None:
        # An interrupt takes effect only when nothing is left to give up.
        with interrupt_held_back():
            for name in list(self._held):
                self.release(name)
            self._over.set()
            self._heart.join()
            self._session(self.token).unlink(missing_ok=True)

    def claim(self, name: str) -> bool:
        """Whether the thing is now this process's; False: another one, which lives, has it."""
        claims = self._claims_of(name)
        if claims and not self._is_void(claims[-1]):
            return False
        path = self._claims / f"{name}.{_fencing_token(claims[-1]) + 1 if claims else 1}"
        with interrupt_held_back():
            try:
                self._create(path)
            except FileExistsError:
                return False
            self._held[name] = path
        return True

    def _create(self, claim: Path) -> None:
        """Create a claim with the owner's name in it. Raises FileExistsError: another process has created it."""
        session = self._session(self.token)
        try:
            # A claim without a name would hold until it expires: a kill leaves none.
            claim.hardlink_to(session)
        except FileExistsError:
            with suppress(FileNotFoundError):
                # Over a network a link may be there though it is said to have failed.
                if claim.samefile(session):
                    return
            raise
        except OSError:
            # A file system without hard links; or the session has just been removed, as of a dead process.
            with claim.open("x", encoding="utf-8") as file:
                file.write(self.token)

    def release(self, name: str) -> None:
        """Give a claim up, with the void ones it has superseded."""
        own = self._held.pop(name)
        if _fencing_token(own) == 1:
            # It has superseded none.
            own.unlink(missing_ok=True)
            return
        for path in self._claims_of(name):
            if _fencing_token(path) <= _fencing_token(own):
                path.unlink(missing_ok=True)

    def dead(self) -> Iterator[str]:
        """Yield the tokens of sessions that ended without closing, and remove their files."""
        for path in sorted(self._sessions.iterdir()):
            if path.name != self.token and self._is_dead(path.name):
                yield path.name
                # Version 0.2 before its release wrote each claim to this file first.
                (self._claims / path.name).unlink(missing_ok=True)
                path.unlink(missing_ok=True)

    def _claims_of(self, name: str) -> list[Path]:
        # By texts: there may be thousands of claims, and a path takes longer to make than a claim.
        start = f"{name}."
        own = [file for file in os.listdir(self._claims) if file.startswith(start)]
        paths = [self._claims / file for file in own if file.rpartition(".")[0] == name]
        return sorted(paths, key=_fencing_token)

    def _is_void(self, claim: Path) -> bool:
        try:
            token = read_bytes(claim).decode()
            # Its owner has created it and not written its name yet, or never will.
            return self._is_dead(token) if token else self._age_s(claim) > self._expiry_s
        except FileNotFoundError:
            # Given up just now; a process that wants it tries again.
            return False
        except (Damaged, ValueError):
            # No process of ours writes such a claim.
            return True

    def _is_dead(self, token: str) -> bool:
        session = self._session(token)
        try:
            return _is_over(token, self._age_s(session), self._expiry_s)
        except FileNotFoundError:
            return True

    def _age_s(self, path: Path) -> float:
        """The time by the file system's clock: the host's may differ."""
        self._renew()
        return self._session(self.token).stat().st_mtime - path.stat().st_mtime

    def _session(self, token: str) -> Path:
        return self._sessions / token

    def _renew(self) -> None:
        session = self._session(self.token)
        try:
            os.utime(session)
        except FileNotFoundError:
            # Not yet made; or another process took this one for dead while it was suspended.
            session.write_text(self.token, encoding="utf-8")

    def _beat(self) -> None:
        while not self._over.wait(min(RENEWAL_S, self._expiry_s / 4)):
            # A full or unreachable disk is reported where results are written to it.
            with suppress(OSError):
                self._renew()


def processes_at_work(folder: Path, expiry_s: float = EXPIRY_S) -> int:
    """How many processes work on a folder, as far as one sees without writing to it (so by this host's clock)."""
    count = 0
    for path in (folder / "sessions").glob("*"):
        with suppress(FileNotFoundError):
            count += not _is_over(path.name, time.time() - path.stat().st_mtime, expiry_s)
    return count


def this_host() -> str:
    """A name of this machine since it was started, and of the set of process numbers that is seen here."""
    parts = [socket.gethostname()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    with suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def token_of(host: str, pid: int) -> str:
    """A name for a session of a process that no other session has; fit for a file's name, whatever the host's is."""
    return f"{uuid.uuid4().hex}-{_tag(host)}-{pid}"


def _tag(host: str) -> str:
    return hashlib.sha256(host.encode()).hexdigest()[:16]


def _is_over(token: str, age_s: float, expiry_s: float) -> bool:
    _, _, owner = token.partition("-")
    tag, _, pid = owner.partition("-")
    return age_s > expiry_s or (tag == _tag(this_host()) and pid.isdecimal() and not _is_alive(int(pid)))


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        # There, signal 0 would end it; its heartbeat has to show it.
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _fencing_token(path: Path) -> int:
    return int(path.suffix[1:])
