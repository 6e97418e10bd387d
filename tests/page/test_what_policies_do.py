"""Policies that do not return, and those that raise what ends programs: the page's player lives on."""

import threading
import time
from dataclasses import replace

import numba
import pytest
from numba.extending import overload
from support import busy, scenario
from test_player import panel, until

from cluster_abm.policies import Decision, Policy, available
from viz.player import Player
from viz.settings import settings_of
from viz.worker import GRACE_S, MOST_WORDS, is_compiling, policy_in

SCENARIO = scenario(**busy())
# Set by a policy that is about to stay in its code; a policy's code is also at work while a run is built.
STAYS = threading.Event()


class Own(Policy):
    source = "a test"
    summary = "of one's own"

    def place(self, arriving, view):
        return Decision(view.me, rule="stay")


class Endless(Own):
    name = "endless"

    def place(self, arriving, view):
        STAYS.set()
        while True:
            pass


class Unborn(Own):
    name = "unborn"

    def __init__(self, **parameters):
        STAYS.set()
        while True:
            pass


class Stubborn(Own):
    """It does not even let itself be stopped at once."""

    name = "stubborn"

    def place(self, arriving, view):
        STAYS.set()
        for _ in range(3):
            try:
                while True:
                    pass
            except BaseException:
                continue
        return Decision(view.me, rule="stay")


class Asleep(Own):
    """Nothing can be raised in it before it wakes."""

    name = "asleep"

    def place(self, arriving, view):
        STAYS.set()
        time.sleep(6.0)
        return Decision(view.me, rule="stay")


class Slow(Own):
    """It takes its time, and returns."""

    name = "slow"

    def place(self, arriving, view):
        time.sleep(0.05)
        return Decision(view.me, rule="stay")


def ponders():
    """Nothing; it takes long to compile."""


@overload(ponders)
def compiled_ponders():
    STAYS.set()
    time.sleep(3 * GRACE_S)
    return lambda: None


class Compiles(Own):
    """It has numba compile for longer than a policy may take."""

    name = "compiles"

    def place(self, arriving, view):
        numba.njit(lambda: ponders())()
        return Decision(view.me, rule="stay")


NEVER_RETURN = (Endless, Stubborn, Asleep)


@pytest.fixture
def shots():
    return []


@pytest.fixture
def begun(monkeypatch, shots):
    """A player that begins with a policy."""
    players = []
    # A thread that an earlier test has left behind may still be in its policy, and would set it again.
    until(lambda: not in_policy(), 30.0)
    STAYS.clear()

    def begun(policy):
        monkeypatch.setitem(available(), policy.name, policy)
        players.append(Player(SCENARIO, replace(settings_of(SCENARIO), policy=policy.name), shots.append))
        players[-1].begin()
        return players[-1]

    yield begun
    for player in players:
        player.close()


def in_policy():
    return [thread for thread in threading.enumerate() if policy_in(thread) is not None]


def is_stuck():
    return bool(in_policy())


def at_once(command, *given):
    begun_s = time.monotonic()
    command(*given)
    # Far less than the time that a policy gets; whatever else the machine does.
    assert time.monotonic() - begun_s < GRACE_S / 2


@pytest.mark.slow
def test_compiling_is_no_hanging_policy(begun, shots):
    """Neither a pause nor a reset ends it; both are carried out once it is over."""
    player = begun(Compiles)
    player.play()
    until(STAYS.is_set)
    thread = next(one for one in threading.enumerate() if is_compiling(one))
    at_once(player.pause)
    at_once(player.reset)
    player.step()
    player.wait()
    assert shots[-1].error == ""
    assert not any(shot.error for shot in shots)
    assert thread.is_alive()
    assert shots[-1].now_ms > 0


@pytest.mark.slow
@pytest.mark.parametrize("policy", NEVER_RETURN)
def test_pause_stops_a_policy_that_does_not_return(begun, shots, policy):
    player = begun(policy)
    player.play()
    until(STAYS.is_set)
    at_once(player.pause)
    until(lambda: shots[-1].error, 30.0)
    assert shots[-1].error.startswith(f"policy '{policy.name}' had not returned for ")
    assert shots[-1].error.endswith(" s when it was stopped")
    assert float(shots[-1].error.split()[-6]) >= GRACE_S
    assert not shots[-1].playing
    assert shots[-1].over
    # The thread ends as soon as it can, and the next one works.
    until(lambda: not is_stuck(), 30.0)
    player.change(settings_of(SCENARIO))
    player.step()
    player.wait()
    assert (shots[-1].error, shots[-1].now_ms) == ("", 1000.0)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [Endless, Unborn])
def test_other_settings_stop_it_and_begin(begun, shots, policy):
    player = begun(policy)
    player.step()
    until(STAYS.is_set)
    at_once(player.change, settings_of(SCENARIO))
    until(lambda: shots and "note" in dict(shots[-1].panels), 30.0)
    assert f"{policy.name}&#x27; had not returned" in panel(shots[-1], "note")
    assert not shots[-1].error
    assert shots[-1].now_ms == 0
    player.step()
    player.wait()
    assert shots[-1].now_ms == 1000.0
    assert "note" not in dict(shots[-1].panels)


@pytest.mark.slow
def test_reset_stops_a_step_and_says_so_beside_the_new_run(begun, shots):
    player = begun(Endless)
    player.step()
    player.step()
    until(STAYS.is_set)
    at_once(player.reset)
    until(lambda: "note" in dict(shots[-1].panels), 30.0)
    assert "endless&#x27; had not returned" in panel(shots[-1], "note")
    assert shots[-1].now_ms == 0
    player.wait()
    # The second step was asked for before the reset.
    assert not is_stuck()


@pytest.mark.slow
def test_a_page_that_is_gone_leaves_no_policy_running(begun):
    player = begun(Endless)
    player.play()
    until(STAYS.is_set)
    at_once(player.close)
    until(lambda: not is_stuck(), 30.0)


def test_no_other_player_is_disturbed(begun, shots):
    begun(Endless).play()
    until(STAYS.is_set)
    others = []
    other = Player(SCENARIO, settings_of(SCENARIO), others.append)
    other.begin()
    other.step()
    other.wait()
    assert others[-1].now_ms == 1000.0
    other.close()


@pytest.mark.slow
def test_a_slow_policy_is_paused_at_a_slice_boundary_and_goes_on(begun, shots):
    player = begun(Slow)
    player.frame_ms = 1e6
    player.play()
    until(lambda: shots and shots[-1].playing and is_stuck())
    player.pause()
    player.wait()
    assert not shots[-1].error
    assert not shots[-1].playing
    assert 0 < shots[-1].now_ms < 1e6
    stopped_ms, player.frame_ms = shots[-1].now_ms, 100.0
    player.step()
    player.wait()
    assert shots[-1].now_ms == pytest.approx(stopped_ms + 100.0)


@pytest.mark.slow
def test_pause_gives_a_policy_its_time_from_then_on(begun, shots, monkeypatch):
    for module in ("viz.worker", "viz.player"):
        monkeypatch.setattr(f"{module}.GRACE_S", 1.0)
    slow = type("Slower", (Slow,), {"name": "slower", "place": sleeps(1.6)})
    player = begun(slow)
    player.frame_ms = 1e6
    player.play()
    until(STAYS.is_set)
    time.sleep(1.2)
    player.pause()
    player.wait()
    assert not shots[-1].error
    assert not shots[-1].playing


def sleeps(time_s):
    def place(self, arriving, view):
        if not STAYS.is_set():
            STAYS.set()
            time.sleep(time_s)
        return Decision(view.me, rule="stay")

    return place


class Unprintable(Exception):
    def __str__(self):
        raise SystemExit


@pytest.mark.parametrize("problem", [
    SystemExit(3), KeyboardInterrupt(), GeneratorExit(), OSError(28, "No space left on device"), MemoryError(),
    Unprintable(), RuntimeError("x" * 100_000),
], ids=lambda problem: type(problem).__name__)  # fmt: skip
@pytest.mark.parametrize("where", ["__init__", "place"])
def test_what_a_policy_raises_is_its_fault_and_the_player_lives_on(begun, shots, problem, where):
    def raises(self, *given, **named):
        raise problem

    player = begun(type("Raising", (Own,), {"name": "raising", where: raises}))
    player.play()
    until(lambda: shots and shots[-1].error, 30.0)
    assert "'raising'" in shots[-1].error
    assert type(problem).__name__ in shots[-1].error
    assert len(shots[-1].error) < MOST_WORDS + 100
    player.change(settings_of(SCENARIO))
    player.step()
    player.wait()
    assert (shots[-1].error, shots[-1].now_ms) == ("", 1000.0)


def test_a_thread_that_has_ended_is_in_no_policy_though_another_has_its_number(begun):
    ended = threading.Thread(target=int)
    ended.start()
    ended.join()
    begun(Endless).play()
    until(STAYS.is_set)
    ended._ident = in_policy()[0].ident
    assert policy_in(ended) is None
