"""Claims and sessions: the number of a claim, its release, the renewal of a session, and its end."""

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
        # A process cannot claim a run twice.
        assert not mine.claim("run")
    for name in ("other.9", "other.10"):
        put(tmp_path, name)
    with Leases(tmp_path) as mine:
        assert mine.claim("other")
        # The numbers of claims are compared as numbers: 10 comes after 9.
        assert claims(tmp_path) == ["other.10", "other.11", "other.9"]
        mine.release("other")
        assert claims(tmp_path) == []


def test_a_claim_makes_no_file_but_a_name_of_its_session(tmp_path):
    with Leases(tmp_path) as mine:
        assert mine.claim("run")
        assert (tmp_path / "claims" / "run.1").samefile(tmp_path / "sessions" / mine.token)
        # A name that begins alike is another claim.
        assert mine.claim("run.1")
        assert mine.claim("ru")
        mine.release("run")
        assert claims(tmp_path) == ["ru.1", "run.1.1"]


def test_a_claim_is_made_while_the_session_is_gone(tmp_path):
    """Another process has just removed it, as that of a dead one."""
    with Leases(tmp_path) as mine:
        (tmp_path / "sessions" / mine.token).unlink()
        assert mine.claim("run")
        assert (tmp_path / "claims" / "run.1").read_text() == mine.token


def test_the_claim_with_the_largest_number_holds(tmp_path):
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        put(tmp_path, "run.9", GONE)
        put(tmp_path, "run.10", other.token)
        assert not mine.claim("run")
        put(tmp_path, "again.10", GONE)
        put(tmp_path, "again.9", other.token)
        assert mine.claim("again")


def test_a_process_that_was_superseded_releases_no_claim_of_its_successor(tmp_path):
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        assert mine.claim("run")
        put(tmp_path, "run.2", other.token)
        mine.release("run")
        assert claims(tmp_path) == ["run.2"]
        assert not mine.claim("run")


def test_of_two_claims_at_the_same_moment_the_first_file_wins(tmp_path, monkeypatch):
    with Leases(tmp_path) as mine:
        monkeypatch.setattr(Leases, "_claims_of", lambda self, name: [])
        put(tmp_path, "run.1", "another")
        assert not mine.claim("run")
        assert (tmp_path / "claims" / "run.1").read_text() == "another"
    # The claim of the other process is not released at the end.
    assert claims(tmp_path) == ["run.1"]


def test_a_claim_that_is_released_during_the_look_can_be_had_at_the_next(tmp_path, monkeypatch):
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
        # By now there is no claim any more.
        assert mine.claim("run")
        assert claims(tmp_path) == ["run.1"]
        monkeypatch.undo()


def test_a_name_with_a_dot_is_not_the_name_before_the_dot(tmp_path):
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        assert mine.claim("plan.json")
        assert other.claim("plan")
        assert other.claim("study.toml")
        assert not other.claim("plan.json")
        mine.release("plan.json")
        assert claims(tmp_path) == ["plan.1", "study.toml.1"]


def test_a_dead_session_is_removed_after_its_files_were_cleared_away(tmp_path):
    with Leases(tmp_path) as mine:
        names = sorted(token_of("another host", number) for number in (1, 2))
        for name in names:
            path = tmp_path / "sessions" / name
            path.touch()
            os.utime(path, (0, 0))
        found = mine.dead()
        for name in names:
            # The caller first removes the files of the session. If it is killed meanwhile, the session is still there.
            assert next(found) == name
            assert (tmp_path / "sessions" / name).exists()
        assert list(found) == []
        assert [path.name for path in (tmp_path / "sessions").iterdir()] == [mine.token]


def test_looking_at_a_claim_restores_a_session_that_was_removed(tmp_path):
    with Leases(tmp_path) as mine, Leases(tmp_path) as other:
        assert other.claim("run")
        (tmp_path / "sessions" / mine.token).unlink()
        assert not mine.claim("run")
        assert (tmp_path / "sessions" / mine.token).exists()


class Over:
    """Replaces the event that ends a session: it is set after the given number of waits."""

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
        # A daemon thread does not keep a program alive.
        assert leases._heart.daemon
    assert not leases._heart.is_alive()


# ---- processes that hold sessions ----


def test_a_missing_folder_and_a_session_that_has_just_ended_count_no_process(tmp_path):
    assert processes_at_work(tmp_path / "nowhere") == 0
    with Leases(tmp_path):
        # A broken link stands for a session that is removed after the folder was listed.
        (tmp_path / "sessions" / token_of("another host", 1)).symlink_to(tmp_path / "gone")
        assert processes_at_work(tmp_path) == 1


def test_tokens_differ_and_hide_the_name_of_the_host():
    one, other = token_of("my host/with a slash", 12), token_of("my host/with a slash", 12)
    assert one != other
    (_, tag, pid), (_, same, _) = one.split("-"), other.split("-")
    # A token can be the name of a file, although the name of the host contains a slash.
    assert (tag, pid) == (same, "12")
    assert one.replace("-", "").isalnum()
    assert tag != token_of("another", 12).split("-")[1]


@pytest.mark.parametrize("pid", ["own", "no number", ""])
def test_a_session_of_a_process_that_may_live_is_over_only_when_it_expires(pid):
    token = f"abc-{token_of(this_host(), 1).split('-')[1]}-{os.getpid() if pid == 'own' else pid}"
    assert not module._is_over(token, 89.0, 90.0)
    assert not module._is_over(token, 90.0, 90.0)
    assert module._is_over(token, 90.1, 90.0)


def test_on_windows_processes_count_as_alive_because_signal_0_would_end_them(monkeypatch):
    monkeypatch.setattr(module, "os", SimpleNamespace(name="nt", kill=lambda *_: pytest.fail("it would be ended")))
    assert module._is_alive(5)


def test_a_host_is_named_by_its_boot_and_its_namespace_of_processes_if_proc_can_be_read(monkeypatch):
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
