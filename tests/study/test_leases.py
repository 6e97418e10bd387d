"""Claims: one owner at a time, and none for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from cluster_abm.study.store.leases import Leases, processes_at_work, this_host, token_of


def session(folder, host=None, pid=None):
    """A session as another process would have made it."""
    (folder / "sessions").mkdir(exist_ok=True)
    path = folder / "sessions" / token_of(host or this_host(), pid or os.getpid())
    path.touch()
    return path


def claim_of(folder, token, name="run", generation=1):
    (folder / "claims").mkdir(exist_ok=True)
    path = folder / "claims" / f"{name}.{generation}"
    path.write_text(token, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def dead_pid():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_claim_has_one_owner_until_it_is_given_up(tmp_path):
    with Leases(tmp_path) as first, Leases(tmp_path) as second:
        assert first.claim("run")
        assert not second.claim("run")
        assert second.claim("other")
        first.release("run")
        assert second.claim("run")
        assert processes_at_work(tmp_path) == 2
    assert list((tmp_path / "claims").iterdir()) == []
    assert list((tmp_path / "sessions").iterdir()) == []


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_at_the_end_leaves_no_claim(tmp_path, monkeypatch):
    real, released = Leases.release, []

    def interrupted(leases, name):
        released.append(name)
        os.kill(os.getpid(), signal.SIGINT)
        real(leases, name)

    monkeypatch.setattr(Leases, "release", interrupted)
    with pytest.raises(KeyboardInterrupt), Leases(tmp_path) as leases:  # noqa: PT012
        assert leases.claim("run")
        assert leases.claim("other")
    assert released == ["run", "other"]
    assert list((tmp_path / "claims").iterdir()) == []
    assert list((tmp_path / "sessions").iterdir()) == []


@pytest.fixture(params=[True, False])
def has_links(request, monkeypatch):
    """Of a file system that has hard links, and of one that has none."""
    if not request.param:

        def refuse(path, target):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr(Path, "hardlink_to", refuse)
    return request.param


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_in_the_middle_of_a_claim_leaves_no_claim(tmp_path, monkeypatch, has_links):
    creates = "hardlink_to" if has_links else "open"
    real = getattr(Path, creates)

    def interrupted(path, *given, **named):
        made = real(path, *given, **named)
        if has_links or given == ("x",):
            os.kill(os.getpid(), signal.SIGINT)
        return made

    monkeypatch.setattr(Path, creates, interrupted)
    with pytest.raises(KeyboardInterrupt), Leases(tmp_path) as leases:
        leases.claim("run")
    assert list((tmp_path / "claims").iterdir()) == []


def test_a_claim_has_one_owner_with_and_without_links(tmp_path, has_links):
    with Leases(tmp_path) as first, Leases(tmp_path) as second:
        assert first.claim("run")
        assert not second.claim("run")
        assert [path.read_text() for path in (tmp_path / "claims").iterdir()] == [first.token]


def test_a_claim_has_a_name_from_its_first_moment_on(tmp_path, monkeypatch):
    """Whoever is killed then leaves a claim that is known to be void at once."""
    real, found = Path.hardlink_to, []

    def killed(path, target):
        real(path, target)
        found.append(path.read_text())
        raise SystemExit

    monkeypatch.setattr(Path, "hardlink_to", killed)
    with Leases(tmp_path) as leases, pytest.raises(SystemExit):
        leases.claim("run")
    assert found == [leases.token]


def test_a_link_that_is_there_though_it_is_said_to_have_failed_is_a_claim(tmp_path, monkeypatch):
    """A request that a network file system sends again finds its own link."""
    real = Path.hardlink_to

    def twice(path, target):
        real(path, target)
        real(path, target)

    monkeypatch.setattr(Path, "hardlink_to", twice)
    with Leases(tmp_path) as first, Leases(tmp_path) as second:
        assert first.claim("run")
        assert not second.claim("run")


def test_what_a_dead_process_has_left_of_a_claim_is_removed(tmp_path, dead_pid):
    gone = session(tmp_path, pid=dead_pid).name
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / gone).write_text(gone)
    with Leases(tmp_path) as mine:
        assert list(mine.dead()) == [gone]
    assert list((tmp_path / "claims").iterdir()) == []


def test_of_many_at_once_one_gets_it(tmp_path, dead_pid):
    """Of a free claim, and of one whose owner is dead."""
    with ExitStack() as stack:
        many = [stack.enter_context(Leases(tmp_path)) for _ in range(8)]
        gone = session(tmp_path, pid=dead_pid).name
        with ThreadPoolExecutor(8) as threads:
            for number in range(50):
                name = f"run-{number}"
                if number % 2:
                    claim_of(tmp_path, gone, name)
                assert sum(threads.map(lambda one, name=name: one.claim(name), many)) == 1


@pytest.mark.parametrize("generation", [1, 7])
def test_the_claim_of_a_dead_process_is_outbid(tmp_path, dead_pid, generation):
    gone = session(tmp_path, pid=dead_pid).name
    claim_of(tmp_path, gone, generation=generation)
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        assert mine.claim("run")
        assert not other.claim("run")
        mine.release("run")
        assert list((tmp_path / "claims").iterdir()) == []
        assert list(other.dead()) == [gone]
        assert list(other.dead()) == []


def test_a_process_elsewhere_is_believed_in_while_it_renews_its_session(tmp_path, dead_pid):
    """Of another machine it is not known which processes live: only its heartbeat tells."""
    far = session(tmp_path, host="elsewhere", pid=dead_pid)
    claim_of(tmp_path, far.name)
    with Leases(tmp_path, expiry_s=100.0) as mine:
        assert not mine.claim("run")
        now = far.stat().st_mtime
        os.utime(far, (now - 95, now - 95))
        assert not mine.claim("run")
        os.utime(far, (now - 105, now - 105))
        assert mine.claim("run")


def test_a_process_of_this_host_that_has_stopped_renewing_is_over(tmp_path):
    """Its number may long be another's."""
    here = session(tmp_path)
    claim_of(tmp_path, here.name)
    with Leases(tmp_path, expiry_s=100.0) as mine:
        assert not mine.claim("run")
        now = here.stat().st_mtime
        os.utime(here, (now - 105, now - 105))
        assert mine.claim("run")


def test_a_claim_without_a_session_or_a_name_in_it(tmp_path):
    claim_of(tmp_path, "never-heard-of", "a")
    unsigned = claim_of(tmp_path, "", "b")
    with Leases(tmp_path, expiry_s=100.0) as mine:
        assert mine.claim("a")
        assert not mine.claim("b")
        now = unsigned.stat().st_mtime
        os.utime(unsigned, (now - 105, now - 105))
        assert mine.claim("b")


def test_who_is_taken_for_dead_comes_back(tmp_path):
    """A machine that slept: its session was removed, it renews it when it wakes."""
    with Leases(tmp_path, expiry_s=0.4) as mine, Leases(tmp_path) as other:
        path = tmp_path / "sessions" / mine.token
        path.unlink()
        while not path.exists():
            pass
        assert mine.claim("run")
        assert not other.claim("run")
