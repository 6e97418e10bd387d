"""The numbers that options accept, at the ends of their ranges. No command runs."""

from __future__ import annotations

import click
import pytest
from script_options import draw_option, out_option, seeds_option, workers_option

from cluster_abm.cli import cluster_abm as root

SEED_NUMBER, COUNT, FOR_AN_INTERVAL = (["0", "7"], ["-1"]), (["1", "7"], ["0"]), (["2", "7"], ["1"])


def command_of(words):
    command = root
    for word in words.split():
        command = command.commands[word]
    return command


def option_of(words, name):
    return next(one for one in command_of(words).params if f"--{name}" in one.opts)


def is_taken(option, text):
    try:
        option.type.convert(text, option, None)
    except click.BadParameter:
        return False
    return True


@pytest.mark.parametrize(("command", "option", "taken_and_not"), [
    # Seeds and runs of a trace are numbered from 0.
    ("run", "seed", SEED_NUMBER), ("view", "seed", SEED_NUMBER), ("validate", "seed", SEED_NUMBER),
    ("run", "trace-run", SEED_NUMBER), ("trace info", "run", SEED_NUMBER), ("trace convert", "run", SEED_NUMBER),
    ("trace fit", "run", SEED_NUMBER),
    # compare and reproduce accept one seed. The others need an interval, and an interval needs two seeds.
    ("compare", "seeds", COUNT), ("reproduce", "seeds", COUNT), ("plan", "seeds", FOR_AN_INTERVAL),
    ("arena", "seeds", FOR_AN_INTERVAL), ("tune", "seeds", FOR_AN_INTERVAL), ("tune", "judge-seeds", FOR_AN_INTERVAL),
    ("calibrate", "seeds", FOR_AN_INTERVAL), ("trace fit", "seeds", FOR_AN_INTERVAL),
    # At least one process, run or tab.
    ("compare", "workers", COUNT), ("batch run", "workers", COUNT), ("trace fit", "workers", COUNT),
    ("tune", "budget", COUNT), ("calibrate", "budget", COUNT), ("view", "max-tabs", (["1", "1000"], ["0", "1001"])),
    ("view", "max-tabs-each", (["1", "1000"], ["0", "1001"])), ("view", "port", (["1", "65535"], ["0", "65536"])),
    # A held-out share of 0 or 1 would leave one side empty.
    ("calibrate", "held-out", (["0.01", "0.99"], ["0", "1"])),
    ("validate", "seconds", (["10", "3600"], ["9.9", "3600.1"])),
    ("trace info", "max-mb", (["1", "100000"], ["0", "100001"])),
    ("trace fit", "max-mb", (["1", "100000"], ["0", "100001"])),
    ("trace convert", "cpu-ms-per-mb", (["0.001", "1e9"], ["0", "1.1e9"])),
    ("trace convert", "task-mb", (["0.001", "1e9"], ["0", "1.1e9"])),
    ("trace convert", "disk-read-share", (["0", "1"], ["-0.1", "1.1"])),
    ("trace convert", "disk-write-share", (["0", "1"], ["-0.1", "1.1"])),
])  # fmt: skip
def test_the_ends_of_ranges(command, option, taken_and_not):
    taken, not_taken = taken_and_not
    found = option_of(command, option)
    assert [text for text in taken if not is_taken(found, text)] == []
    assert [text for text in not_taken if is_taken(found, text)] == []


@pytest.mark.parametrize(("command", "option"), [
    ("run", "set"), ("trace info", "set"), ("arena", "policy"), ("view", "allow-host"), ("plan", "need"),
    ("tune", "over"), ("calibrate", "over"), ("batch run", "slurm"), ("reproduce", "set"),
])  # fmt: skip
def test_options_that_may_be_repeated(command, option):
    assert option_of(command, option).multiple


@pytest.mark.parametrize(("command", "options"), [
    ("plan", {"need", "over"}), ("tune", {"over", "out"}), ("calibrate", {"observed", "over", "out"}),
    ("batch run", {"out"}), ("trace fit", {"out"}), ("run", set()), ("compare", set()), ("view", set()),
    ("arena", set()), ("reproduce", set()), ("validate", set()), ("batch report", set()),
])  # fmt: skip
def test_options_that_are_required(command, options):
    given = [one for one in command_of(command).params if isinstance(one, click.Option)]
    assert {one.opts[0].removeprefix("--") for one in given if one.required} == options


@pytest.mark.parametrize(("command", "option", "default"), [
    # docs/how-to/view.md.
    ("view", "port", 8765), ("view", "max-tabs", 16), ("view", "host", "127.0.0.1"),
    # docs/how-to/tune.md: a budget of 200 runs tries about 50 candidates.
    ("tune", "budget", 200), ("compare", "executor", "process"),
    ("validate", "parts", "cpu,mixed,disk"),
])  # fmt: skip
def test_defaults_of_options(command, option, default):
    assert option_of(command, option).default == default


def test_options_of_scripts_accept_the_same_numbers():
    @click.command()
    @seeds_option(5, "point")
    @workers_option
    @draw_option
    @out_option
    def script(**_):
        pass

    found = {one.opts[0]: one for one in script.params}
    assert [is_taken(found["--seeds"], text) for text in ("1", "2")] == [False, True]
    assert [is_taken(found["--workers"], text) for text in ("0", "1")] == [False, True]
    assert (found["--seeds"].default, str(found["--out"].default)) == (5, "out")
    assert found["--draw"].is_flag
    assert all(found[name].show_default for name in ("--seeds", "--out"))
