"""Windows: how far the engine may go in one call. Times are in ms, a slice is 10 ms, and the time is 20 ms."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cluster_abm.clock import Clock
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.window import Window, Windows

MS = 1_000_000


def ns(ms):
    return NEVER if ms is None else ms * MS


def windows(
    due=(), end=None, places=False, reviews=False, kills=False, background=False, last_look=None, coming=(),
    crowd=None, waits_for_ends=False, held=(), stuck=False, all_started=False, in_transit=0, talks=False, hears=False,
    talk_due=None, talk_ends=None, talk_stuck=False, transfer=None,
) -> Windows:  # fmt: skip
    """Windows of a model in which only the given things are to come: jobs at the times `coming`; at `crowd`, a job
    behind as many as one window may have; at `transfer` the begin or end of a transfer."""
    schedule = SimpleNamespace(
        waits_for_ends=waits_for_ends, after_next=lambda jobs: ns(crowd),
        first_after=lambda time_ns: min((at * MS for at in coming if at * MS > time_ns), default=NEVER),
    )  # fmt: skip
    submissions = SimpleNamespace(
        schedule=schedule, last_look_ns=ns(last_look), are_held=bool(held), is_stuck=stuck, all_started=all_started
    )
    conversation = SimpleNamespace(
        is_on=talks, hears_ends=hears, due_ns=ns(talk_due), ends_windows_ns=ns(talk_ends), is_stuck=talk_stuck
    )  # fmt: skip
    clock = Clock(10 * MS)
    clock.now_ns = 20 * MS
    return Windows(
        clock=clock, submissions=submissions, transfers=SimpleNamespace(in_transit=in_transit, next_ns=ns(transfer)),
        due=[SimpleNamespace(due_ns=ns(at)) for at in due], end_ns=None if end is None else end * MS,
        places_arrivals=lambda: places, reviews_at_ends=reviews, tasks_can_be_killed=kills,
        has_background=background, conversation=conversation,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "boundary"),
    [
        ({"due": (50, 40, 60)}, 40),
        # At least the slice that begins now.
        ({"due": (10,)}, 30),
        ({"due": (50,), "end": 40}, 40),
        # Managers talk in Python then; what they say in compiled code ends no window.
        ({"due": (50,), "talk_ends": 40}, 40),
        ({"due": (50,), "talk_due": 40}, 50),
        ({"due": (50,), "last_look": 40}, 40),
        # This look is over.
        ({"due": (50,), "last_look": 20}, 50),
        ({"due": (90,), "crowd": 57}, 50),
        # Jobs that are placed by what is known then, or that wait for ends, need a boundary where their slice begins.
        ({"due": (90,), "coming": (57,)}, 90),
        ({"due": (90,), "coming": (57,), "places": True}, 50),
        ({"due": (90,), "coming": (57,), "waits_for_ends": True}, 50),
        # Jobs before 30 are placed now, a job at 30 in the next slice.
        ({"due": (90,), "coming": (29.999999, 57), "places": True}, 50),
        ({"due": (90,), "coming": (30, 57), "places": True}, 30),
    ],
)
def test_the_next_boundary_is_the_first_at_which_anything_acts(given, boundary):
    assert windows(**given).next_boundary_ns() == boundary * MS


@pytest.mark.parametrize(
    ("given", "window"),
    [
        ({}, (100, False, False)),
        # Held jobs are reviewed when a task has ended, unless they have a period, or wait at managers that talk.
        ({"held": [1]}, (100, False, False)),
        ({"held": [1], "reviews": True}, (100, True, False)),
        ({"reviews": True}, (100, False, False)),
        ({"held": [1], "reviews": True, "talks": True}, (100, False, False)),
        ({"talks": True, "hears": True}, (100, True, False)),
        ({"waits_for_ends": True}, (100, True, False)),
        # A message that has just been sent may be due before.
        ({"talk_due": 50}, (50, False, False)),
        ({"talk_due": 20}, (30, False, False)),
        ({"talk_due": 200}, (100, False, False)),
        # A stuck run has one more slice, unless it has an end time.
        ({"stuck": True}, (30, False, False)),
        ({"talk_stuck": True}, (30, False, False)),
        ({"stuck": True, "end": 500}, (100, False, False)),
        ({"talk_stuck": True, "end": 500}, (100, False, False)),
        # Transfers must not run ahead of a window that may end early: none begins or ends after its first slice.
        # Where a task in transit may be killed, the window ends when one is, for its transfer to be given up.
        ({"in_transit": 1, "transfer": 57}, (100, False, False)),
        ({"in_transit": 1, "transfer": 57, "waits_for_ends": True}, (50, True, False)),
        ({"in_transit": 1, "transfer": 60, "waits_for_ends": True}, (60, True, False)),
        ({"in_transit": 1, "transfer": 25, "waits_for_ends": True}, (30, True, False)),
        ({"in_transit": 1, "transfer": 230, "waits_for_ends": True}, (100, True, False)),
        ({"in_transit": 1, "transfer": 57, "kills": True}, (50, True, False)),
        ({"kills": True}, (100, False, False)),
        # Background programs go on for ever.
        ({"background": True, "all_started": True}, (100, False, True)),
        ({"all_started": True}, (100, False, False)),
        ({"background": True}, (100, False, False)),
        ({"background": True, "all_started": True, "end": 500}, (100, False, False)),
    ],
)
def test_a_window_up_to_100(given, window):
    end, until_end_of_task, until_idle = window
    assert windows(**given).window(100 * MS) == Window(end * MS, until_end_of_task, until_idle)
