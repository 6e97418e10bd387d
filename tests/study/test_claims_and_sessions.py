"""Claims and sessions one by one: which number a claim gets, what is given up with it, when a session is renewed."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from cluster_abm.study.store import leases as module
from cluster_abm.study.store.leases import Leases, processes_at_work, this_host, token_of

GONE = "never-heard-of"


def put(folder, name, token=GONE):
    """A claim as another process would have made it."""
    (folder / "claims").mkdir(exist_ok=True)
    (folder / "claims" / name).write_text(token)


def claims(folder):
    return sorted(path.name for path in (folder / "claims").iterdir())


def test_a_claim_has_its_owner_s_name_and_the_next_number(tmp_path):
    with Leases(tmp_path) as mine:
        assert mine.claim("run")
        assert (tmp_path / "claims" / "run.1").read_text() == mine.token
        assert (tmp_path / "sessions" / mine.token).exists()
        # Its own claim is one that holds.
        assert not mine.claim("run")
    for name in ("other.9", "other.10"):
        put(tmp_path, name)
    with Leases(tmp_path) as mine:
        assert mine.claim("other")
        # Numbers, not texts: ten comes after nine.
        assert claims(tmp_path) == ["other.10", "other.11", "other.9"]
        mine.release("other")
        assert claims(tmp_path) == []


def test_the_last_claim_counts(tmp_path):
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        put(tmp_path, "run.9", GONE)
        put(tmp_path, "run.10", other.token)
        assert not mine.claim("run")
        put(tmp_path, "again.10", GONE)
        put(tmp_path, "again.9", other.token)
        assert mine.claim("again")


def test_who_was_taken_for_dead_gives_up_no_claim_of_its_successor(tmp_path):
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        assert mine.claim("run")
        put(tmp_path, "run.2", other.token)
        mine.release("run")
        assert claims(tmp_path) == ["run.2"]
        assert not mine.claim("run")


def test_a_claim_that_another_process_makes_at_the_same_moment_is_its_own(tmp_path, monkeypatch):
    with Leases(tmp_path) as mine:
        monkeypatch.setattr(Leases, "_claims_of", lambda self, name: [])
        put(tmp_path, "run.1", "another")
        assert not mine.claim("run")
        assert (tmp_path / "claims" / "run.1").read_text() == "another"
        # It is not given up at the end.
    assert claims(tmp_path) == ["run.1"]


def test_a_claim_that_is_given_up_just_now_is_asked_for_the_next_time(tmp_path, monkeypatch):
    with Leases(tmp_path) as mine:
        put(tmp_path, "run.1")
        real = Leases._claims_of

        def gone(self, name):
            found = real(self, name)
            for path in found:
                path.unlink()
            return found

        monkeypatch.setattr(Leases, "_claims_of", gone)
        assert not mine.claim("run")
        # There is none any more.
        assert mine.claim("run")
        assert claims(tmp_path) == ["run.1"]
        monkeypatch.undo()


def test_names_with_dots_are_names_of_their_own(tmp_path):
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        assert mine.claim("plan.json")
        assert other.claim("plan")
        assert other.claim("study.toml")
        assert not other.claim("plan.json")
        mine.release("plan.json")
        assert claims(tmp_path) == ["plan.1", "study.toml.1"]


def test_of_sessions_that_ended_without_closing_the_names_are_told_before_they_are_removed(tmp_path):
    with Leases(tmp_path) as mine:
        names = sorted(token_of("another host", number) for number in (1, 2))
        for name in names:
            path = tmp_path / "sessions" / name
            path.touch()
            os.utime(path, (0, 0))
        found = mine.dead()
        for name in names:
            # What it left is cleared away first: a process that is killed over that leaves it to the next one.
            assert next(found) == name
            assert (tmp_path / "sessions" / name).exists()
        assert list(found) == []
        assert [path.name for path in (tmp_path / "sessions").iterdir()] == [mine.token]


def test_a_session_that_another_process_has_removed_is_made_again_when_a_claim_is_looked_at(tmp_path):
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        assert other.claim("run")
        (tmp_path / "sessions" / mine.token).unlink()
        assert not mine.claim("run")
        assert (tmp_path / "sessions" / mine.token).exists()


class Over:
    """In place of the event that ends a session: it is not set for so many waits."""

    def __init__(self, waits):
        self.left, self.periods = waits, []

    def wait(self, period_s):
        self.periods.append(period_s)
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize(("expiry", "period_s"), [((), 10.0), ((100.0,), 10.0), ((40.0,), 10.0), ((8.0,), 2.0)])
def test_a_session_is_renewed_well_before_it_expires(tmp_path, expiry, period_s):
    leases = Leases(tmp_path, *expiry)
    (tmp_path / "sessions").mkdir()
    leases._over = Over(3)
    renewed = []
    leases._renew = lambda: renewed.append(leases._over.left)
    leases._beat()
    assert leases._over.periods == [period_s] * 4
    assert len(renewed) == 3


def test_a_disk_that_is_full_does_not_end_a_session(tmp_path):
    leases = Leases(tmp_path)
    leases._over = Over(2)
    tried = []

    def renew():
        tried.append(1)
        raise OSError("No space left on device")

    leases._renew = renew
    leases._beat()
    assert len(tried) == 2


def test_the_thread_of_a_session_begins_and_ends_with_it(tmp_path):
    with Leases(tmp_path) as leases:
        assert leases._heart.is_alive()
        # A program that is ended in between does not wait for it.
        assert leases._heart.daemon
    assert not leases._heart.is_alive()


# ---- who is at work ----


def test_none_is_at_work_where_no_folder_is_and_one_that_has_just_ended_is_none(tmp_path):
    assert processes_at_work(tmp_path / "nowhere") == 0
    with Leases(tmp_path):
        # It is gone between the list and the look.
        (tmp_path / "sessions" / token_of("another host", 1)).symlink_to(tmp_path / "gone")
        assert processes_at_work(tmp_path) == 1


def test_a_token_names_no_host_and_no_two_are_the_same():
    one, other = token_of("my host/with a slash", 12), token_of("my host/with a slash", 12)
    assert one != other
    (_, tag, pid), (_, same, _) = one.split("-"), other.split("-")
    # Fit for a file's name, whatever the host's is.
    assert (tag, pid) == (same, "12")
    assert one.replace("-", "").isalnum()
    assert tag != token_of("another", 12).split("-")[1]


@pytest.mark.parametrize("pid", ["own", "no number", ""])
def test_a_session_of_this_host_whose_process_is_not_known_to_be_dead_lives(pid):
    token = f"abc-{token_of(this_host(), 1).split('-')[1]}-{os.getpid() if pid == 'own' else pid}"
    assert not module._is_over(token, 89.0, 90.0)
    assert not module._is_over(token, 90.0, 90.0)
    assert module._is_over(token, 90.1, 90.0)


def test_where_signal_0_would_end_a_process_its_heart_has_to_tell(monkeypatch):
    monkeypatch.setattr(module, "os", SimpleNamespace(name="nt", kill=lambda *_: pytest.fail("it would be ended")))
    assert module._is_alive(5)


def test_a_host_is_known_by_its_start_and_its_process_numbers_where_these_can_be_read(monkeypatch):
    monkeypatch.setattr(module.socket, "gethostname", lambda: "mine")
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: f"start of {path}\n")
    monkeypatch.setattr(module.os, "readlink", lambda path: f"numbers of {path}")
    assert this_host() == "mine start of /proc/sys/kernel/random/boot_id numbers of /proc/self/ns/pid"

    def refuses(*_, **__):
        raise OSError("no /proc")

    monkeypatch.setattr(Path, "read_text", refuses)
    assert this_host() == "mine numbers of /proc/self/ns/pid"
    monkeypatch.setattr(module.os, "readlink", refuses)
    assert this_host() == "mine"
