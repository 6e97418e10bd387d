"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from cluster_abm.cli.log_options import COLUMNS_KEY, NO_LOG, FilePath, FromLog, log_options
from cluster_abm.cli.shell import names
from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.found_modules import EXECUTORS
from cluster_abm.json_text import json_line

if TYPE_CHECKING:
    from cluster_abm.study.runner.tasks import Where

Function = TypeVar("Function", bound=Callable[..., Any])


# How many changed keys a caption names, and which of them its first words say anyway.
MOST_IN_WORDS = 8
SAID_ANYWAY = {"policy.name", "run.seed", "run.threads", "workload.kind", "compare.policies", "compare.seeds"}
# Keys of a scenario that only `compare` reads.
ONLY_COMPARE = {"compare": "only `cluster-abm compare` reads it"}

scenario_argument = click.argument("scenario", shell_complete=names.scenarios)
policy_option = click.option(
    "--policy", shell_complete=names.policies, help="Policy: NAME or FILE.py:CLASS (default: the scenario's)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout, nothing else.")
set_option = click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    shell_complete=names.settings,
    help="Set a key of the scenario, e.g. cluster.nodes=64 (keys: cluster-abm scenarios --keys).",
)
workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="process: processes (default: one per processor); slurm: jobs in the queue or running at once (default: "
    "1000). dask has those of its scheduler, inline one.",
)
executor_option = click.option(
    "--executor",
    "kind",
    type=click.Choice(EXECUTORS),
    default="process",
    show_default=True,
    help="Where runs are carried out.",
)
dask_option = click.option(
    "--dask", metavar="ADDRESS", help="With --executor dask: its scheduler, e.g. tcp://10.0.0.1:8786."
)
slurm_option = click.option(
    "--slurm", metavar="KEY=VALUE", multiple=True, help="With --executor slurm: a parameter, e.g. partition=short."
)
kept_out_option = click.option(
    "--out", required=True, type=FilePath(), help="Folder that keeps the runs and the results."
)


def work_options(function: Function) -> Function:
    """`--set`, and `--trace` with what goes with it: what changes the work of a scenario."""
    return set_option(log_options(function))


class Executor(NamedTuple):
    """Where runs are carried out, as the options of `executor_options` say."""

    kind: str  # inline, process, dask or slurm
    workers: int | None  # how many at once; None: as many as the kind has by itself
    dask: str | None  # address of Dask's scheduler
    slurm: tuple[str, ...]  # parameters of Slurm's jobs, each KEY=VALUE

    @property
    def parameters(self) -> dict[str, object]:
        """Slurm's parameters. Raises InputError for what is not KEY=VALUE."""
        return settings_of("--slurm", self.slurm, "partition=short")

    def where(self, out: Path | None, folder: Path | None = None) -> Where:
        """Where runs are carried out, and the folder in which their results are kept.

        Args:
            out: the folder of the command's results, in which Slurm's files are kept; None: it has none.
            folder: where runs are kept that the same command need not carry out again; None: nowhere.

        Raises InputError: an option that the executor does not know, or Slurm without a folder.
        """
        from cluster_abm.study.runner.tasks import Where

        parameters = self.parameters
        if self.kind == "slurm":
            if out is None:
                raise InputError("--executor slurm: needs --out DIR: its jobs and this process meet in that folder")
            parameters = {"folder": str(out / "slurm"), **parameters}
        where = Where(self.kind, self.workers, self.dask, parameters or None, folder)
        where.check()
        return where


def executor_options(function: Function) -> Function:
    """`--workers`, `--executor`, `--dask` and `--slurm`: where runs are carried out, given on as `executor`."""

    @wraps(function)
    def command(
        *args: Any, kind: str, workers: int | None, dask: str | None, slurm: tuple[str, ...], **others: Any
    ) -> Any:
        return function(*args, executor=Executor(kind, workers, dask, slurm), **others)

    return workers_option(executor_option(dask_option(slurm_option(cast(Function, command)))))


def count_option(name: str, default: int | None, help: str, least: int = 1) -> Callable[[Function], Function]:
    """An option that takes a whole number from `least` on."""
    allowed = click.IntRange(min=least)
    return click.option(name, type=allowed, default=default, show_default=default is not None, help=help)


def over_option(metavar: str, help: str) -> Callable[[Function], Function]:
    """`--over KEY=RANGE`, several times."""
    return click.option(
        "--over", "overs", metavar=metavar, multiple=True, required=True, shell_complete=names.ranges, help=help
    )


def out_option(default: str | None) -> Callable[[Function], Function]:
    """`--out DIR`, with what happens without it."""
    shown = f"Folder for results (default: {default})." if default else "Write results and pictures to this folder."
    return click.option("--out", type=FilePath(), help=shown)


def settings_of(option: str, settings: Sequence[str], example: str = "cluster.nodes=64") -> dict[str, object]:
    """The values of an option that takes KEY=VALUE. Raises InputError for those without `=`, all at once."""
    from cluster_abm.scenario.filling.values import value_of
    from cluster_abm.scenario.unused import dotted

    found: dict[str, object] = {}
    given_keys: set[str] = set()
    problems = []
    for setting in settings:
        key, equals, text = setting.partition("=")
        name = key.strip()
        if not equals or not name:
            problems.append(f"{option} {setting!r}: allowed is KEY=VALUE, e.g. {example}")
            continue
        try:
            value = value_of(text.strip())
        except InputError as problem:
            problems += [f"{option} {name}: {line}" for line in problem.problems]
            continue
        # A table says the keys in it, as a={b=1} does a.b.
        keys = set(dotted({name: value}))
        problems += [f"{option} {one}: is given twice" for one in sorted(given_keys & keys)]
        problems += [
            f"{option} {inner}: {outer} is given too, as a value of its own: allowed is one of both"
            for outer, inner in sorted({*product(given_keys, keys), *product(keys, given_keys)})
            if inner.startswith(f"{outer}.")
        ]
        given_keys |= keys
        found[name] = _with(found.get(name), value)
    if problems:
        raise InputError(problems)
    return found


def _with(before: object, value: object) -> object:
    """Merge two tables key by key; any other value replaces the one before."""
    if not (isinstance(before, dict) and isinstance(value, dict)):
        return value
    return before | {name: _with(before.get(name), one) for name, one in value.items()}


class Overrides(dict[str, object]):
    """Dotted keys that are laid over a scenario.

    Args:
        found: the keys, with their values.
        options: of those that another option than `--set` gives, which one.
    """

    def __init__(self, found: Mapping[str, object], options: Mapping[str, str]) -> None:
        super().__init__(found)
        self._options = dict(options)

    def in_words(self) -> str:
        """What is changed, for a reader of tables and pictures; but for policy and seed, which stand there anyway."""
        found = []
        for key, value in self.items():
            if key == "workload.trace.file":
                found.append(f"trace {Path(str(value)).name}")
            elif key == COLUMNS_KEY:
                found.append("a map of columns of its own")
            elif key not in SAID_ANYWAY:
                found.append(f"{key}={value if isinstance(value, str) else json_line(value)}")
        if len(found) > MOST_IN_WORDS:
            found[MOST_IN_WORDS:] = [f"and {len(found) - MOST_IN_WORDS} more"]
        return ", ".join(found)

    def captioned(self, title: str) -> str:
        """A title of a picture, with what is changed."""
        words = self.in_words()
        return f"{title}; with {words}" if words else title

    def given_by(self, key: str) -> str:
        """The option that gives a key, in words."""
        return self._options.get(key, f"--set {key}")


def overrides_of(
    settings: Sequence[str],
    trace: FromLog = NO_LOG,
    policy: str | None = None,
    seed: int | None = None,
    threads: str | None = None,
) -> Overrides:
    """The options as dotted keys over a scenario. Raises InputError for what is wrong with them, all at once.

    Policies from files are loaded, as --policy or --set policy.name or compare.policies give them: the command line is
    the caller.
    """
    from cluster_abm.scenario.filling.values import value_of

    found = settings_of("--set", settings)
    for key in ("policy.name", "compare.policies"):
        if key in found:
            found[key] = _with_policy_files(found[key])
    by_option: dict[str, tuple[str, object]] = {}
    by_option |= {key: (option, value) for key, option, value in trace.settings()}
    if policy is not None:
        by_option["policy.name"] = ("--policy", _with_policy_files(policy))
    if seed is not None:
        by_option["run.seed"] = ("--seed", seed)
    if threads is not None:
        by_option["run.threads"] = ("--threads", value_of(threads))
    from cluster_abm.scenario.unused import dotted

    given_keys = set(dotted(found))
    problems = [
        f"--set {key}: {option} sets this key too; give one of them"
        for key, (option, value) in by_option.items()
        if key in given_keys and found.get(key) != value
    ]
    if problems:
        raise InputError(problems)
    values = {key: value for key, (_, value) in by_option.items()}
    return Overrides(found | values, {key: option for key, (option, _) in by_option.items()})


def _with_policy_files(value: Any) -> Any:
    """A policy's name, or a list of them, FILE.py:CLASS replaced by the name of the policy in it."""
    if isinstance(value, list):
        return [_with_policy_files(one) for one in value]
    if not isinstance(value, str):
        return value
    return policy_named(value)


def policies_named(text: str | None) -> list[str] | None:
    """The names of comma-separated policies, as of `policy_named`; None: the option is not given."""
    names = names_of(text)
    return None if names is None else [policy_named(name) for name in names]


def policy_named(text: str) -> str:
    """The name of the policy that a user means by NAME or FILE.py:CLASS.

    Raises InputError: as `name_of`; a name that no policy has, and a file would have with `.py` behind it.
    """
    from cluster_abm.arguments import shortened
    from cluster_abm.policies import available, name_of
    from cluster_abm.scenario.policy_names import plain_name

    name = name_of(text)
    stem, colon, of_class = plain_name(name).partition(":")
    if (colon or os.path.isfile(f"{stem}.py")) and plain_name(name) not in available():
        meant = f"{stem}.py:{of_class or 'CLASS'}" if os.path.isfile(f"{stem}.py") else "FILE.py:CLASS"
        raise InputError(f"policy {shortened(text)}: no such policy; one in a file is named {meant}")
    return name


def as_given(scenario: str, settings: Sequence[str], trace: FromLog) -> str:
    """Scenario and options as a shell takes them, for a command that goes on from this one."""
    return shlex.join([scenario, *(word for setting in settings for word in ("--set", setting)), *trace.words()])


def file_name(name: str) -> str:
    """A name of a scenario as a part of a file's name: without what divides or hides, and not without end."""
    return re.sub(r"[^\w.+-]+", "-", name).strip(".-")[:80] or "unnamed"


def exit_code_of(errors: Sequence[str]) -> int:
    """0 without errors of runs, 2 if all of them are faults of policies, else 1."""
    if not errors:
        return 0
    return 2 if all(error.startswith(f"{PolicyFault.__name__}:") for error in errors) else 1


class Interrupted(Exception):
    """Ctrl-C after something was kept; says what."""


@contextmanager
def interruptible(words: str) -> Iterator[None]:
    """Ctrl-C in the block ends the command with these words on what is there all the same."""
    try:
        yield
    except KeyboardInterrupt as problem:
        raise Interrupted(words) from problem


def names_of(text: str | None) -> list[str] | None:
    """Comma-separated names; commas in brackets or quotes divide none."""
    from cluster_abm.scenario.policy_names import in_parts

    return None if text is None else in_parts(text)
