"""Lives of tasks, worked by hand from the rows of a journal."""

from __future__ import annotations

from journals import departure, end, ends, lives

from cluster_abm.engine.tables import ENTERS, LOST_NODE, MIGRATES, NEVER, RESTARTS, RETURNS, SENT_ON, STARTS


def test_a_task_starts_at_home_at_once():
    journal = [departure(STARTS, 1, 5, 5, 0, 0)]
    assert lives(journal, ends(end(1, 50, arrival=5, cpu=30, cpu_queue=15))) == [
        ("runs", 0, 0, 5, 50, {"cpu": 30, "cpu_queue": 15})
    ]


def test_a_remote_start():
    """10 ns on its way, then 90 on node 1."""
    journal = [departure(STARTS, 1, 0, 10, 0, 1)]
    assert lives(journal, ends(end(1, 100, cpu=80, cpu_queue=10, migration=10))) == [
        ("starts", 0, 1, 0, 10, {"migration": 10}), ("runs", 1, 1, 10, 100, {"cpu": 80, "cpu_queue": 10}),
    ]  # fmt: skip


def test_a_manager_asks_in_vain_or_files_are_fetched():
    """Both take time before the home is entered."""
    journal, tasks = [departure(STARTS, 1, 0, 10, 0, 0)], ends(end(1, 30, cpu=20, migration=10))
    assert lives(journal, tasks)[0] == ("asks", 0, 0, 0, 10, {"migration": 10})
    assert lives(journal, tasks, needs_files=True)[0] == ("fetches", 0, 0, 0, 10, {"migration": 10})


def test_a_migration_while_the_disk_serves():
    """Taken at 30, it leaves at 40, when its request ends, which is booked by then; 15 ns on its way."""
    journal = [departure(STARTS, 1, 0, 0, 0, 0), departure(MIGRATES, 1, 40, 55, 0, 2, cpu=25, io=15)]
    assert lives(journal, ends(end(1, 100, cpu=60, cpu_queue=10, io=15, migration=15))) == [
        ("runs", 0, 0, 0, 40, {"cpu": 25, "io": 15}), ("migrates", 0, 2, 40, 55, {"migration": 15}),
        ("runs", 2, 2, 55, 100, {"cpu": 35, "cpu_queue": 10}),
    ]  # fmt: skip


def test_it_writes_what_it_brought():
    """Of its 25 ns of migration it travels for 15 and writes for 10, inside its visit."""
    journal = [departure(STARTS, 1, 0, 0, 0, 0), departure(MIGRATES, 1, 40, 55, 0, 2, cpu=40)]
    assert lives(journal, ends(end(1, 100, cpu=75, migration=25)))[1:] == [
        ("migrates", 0, 2, 40, 55, {"migration": 15}), ("runs", 2, 2, 55, 100, {"cpu": 35, "migration": 10}),
    ]  # fmt: skip


def test_the_time_of_entry_is_known_later():
    """A transfer over shared links: set out at 40, its last time of entry is 70."""
    journal = [
        departure(STARTS, 1, 0, 0, 0, 0), departure(MIGRATES, 1, 40, NEVER, 0, 2, cpu=40),
        departure(ENTERS, 1, 0, 60, 0, 2), departure(ENTERS, 1, 0, 70, 0, 2),
    ]  # fmt: skip
    assert lives(journal, ends(end(1, 100, cpu=70, migration=30)))[1:] == [
        ("migrates", 0, 2, 40, 70, {"migration": 30}), ("runs", 2, 2, 70, 100, {"cpu": 30})
    ]  # fmt: skip


def test_a_transfer_that_fails():
    """20 ns towards node 2, and 5 back; both are booked when it enters its origin."""
    journal = [
        departure(STARTS, 1, 0, 0, 0, 0), departure(MIGRATES, 1, 40, 90, 0, 2, cpu=40),
        departure(RETURNS, 1, 60, 65, 2, 0, cpu=40),
    ]  # fmt: skip
    assert lives(journal, ends(end(1, 100, cpu=75, migration=25))) == [
        ("runs", 0, 0, 0, 40, {"cpu": 40}), ("migrates", 0, 2, 40, 60, {"migration": 20}),
        ("returns", 2, 0, 60, 65, {"migration": 5}), ("runs", 0, 0, 65, 100, {"cpu": 35}),
    ]  # fmt: skip


def test_a_lost_node():
    """Node 1 fails at 50; node 3 takes the task at 70, which is there at 80."""
    journal = [
        departure(STARTS, 1, 0, 0, 1, 1), departure(LOST_NODE, 1, 50, NEVER, 1, 1, cpu=50),
        departure(RESTARTS, 1, 70, 80, 1, 3, cpu=50, blocked=20),
    ]  # fmt: skip
    assert lives(journal, ends(end(1, 120, home=1, cpu=90, blocked=20, migration=10))) == [
        ("runs", 1, 1, 0, 50, {"cpu": 50}), ("lost", 1, 1, 50, 70, {"blocked": 20}),
        ("restarts", 1, 3, 70, 80, {"migration": 10}), ("runs", 3, 3, 80, 120, {"cpu": 40}),
    ]  # fmt: skip


def test_a_job_is_held_and_sent_on():
    """Held for 30 ns; its home asked for 4, then its manager sent it on before it had entered."""
    journal = [
        departure(STARTS, 1, 30, 34, 0, 0, blocked=30), departure(SENT_ON, 1, 34, 44, 0, 2, blocked=30, migration=4)
    ]  # fmt: skip
    assert lives(journal, ends(end(1, 60, cpu=16, migration=14, blocked=30))) == [
        ("waits", 0, 0, 0, 30, {"blocked": 30}), ("asks", 0, 0, 30, 34, {"migration": 4}),
        ("starts", 0, 2, 34, 44, {"migration": 10}), ("runs", 2, 2, 44, 60, {"cpu": 16}),
    ]  # fmt: skip


def test_tasks_that_go_on_after_the_end():
    """At 100 one waits at its manager, one is on its way, one runs; what it does since its last event is not booked."""
    journal = [departure(STARTS, 2, 90, 110, 0, 1), departure(STARTS, 3, 0, 0, 0, 0)]
    tasks = ends(
        end(1, 100, True, arrival=60, home=2, blocked=40), end(2, 100, True, arrival=90), end(3, 100, True, cpu=70)
    )
    assert lives(journal, tasks) == [
        ("waits", 2, 2, 60, 100, {"blocked": 40}, "open"), ("starts", 0, 1, 90, 100, {}, "open"),
        ("runs", 0, 0, 0, 100, {"cpu": 70}, "open"),
    ]  # fmt: skip


def test_a_task_is_killed_on_its_way():
    """Set out for 50 ns, killed after 20: it enters nowhere."""
    journal = [departure(STARTS, 1, 0, 0, 0, 0), departure(MIGRATES, 1, 40, 90, 0, 2, cpu=40)]
    assert lives(journal, ends(end(1, 60, cpu=40, migration=20)))[1:] == [
        ("migrates", 0, 2, 40, 60, {"migration": 20})
    ]  # fmt: skip


def test_rows_of_tasks_that_are_not_kept_are_left_out():
    journal = [departure(STARTS, 7, 0, 10, 0, 1), departure(STARTS, 1, 5, 5, 0, 0)]
    assert lives(journal, ends(end(1, 50, arrival=5, cpu=45))) == [("runs", 0, 0, 5, 50, {"cpu": 45})]


def test_nothing_has_happened():
    assert lives([], ends(end(1, 0, True))) == [("waits", 0, 0, 0, 0, {}, "open")]
