"""The command line. Heavy imports wait inside the commands, so that `--help` answers at once."""

from __future__ import annotations

import errno
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress

import click

from cluster_abm import __version__
from cluster_abm.cli.batch import batch_group
from cluster_abm.cli.compare import compare_command
from cluster_abm.cli.listing.hardware import hardware_command
from cluster_abm.cli.listing.policies import policies_command
from cluster_abm.cli.listing.scenarios import scenarios_command
from cluster_abm.cli.options import Interrupted
from cluster_abm.cli.output import OutputFailed, flush_stdout, give_up_stdout, tell
from cluster_abm.cli.reproduce import reproduce_command
from cluster_abm.cli.run import run_command
from cluster_abm.cli.scene import scene_command
from cluster_abm.cli.shell.completion import completion_command
from cluster_abm.cli.shell.sections import SectionedGroup
from cluster_abm.cli.studies.arena import arena_command
from cluster_abm.cli.studies.calibrate import calibrate_command
from cluster_abm.cli.studies.plan import plan_command
from cluster_abm.cli.studies.tune import tune_command
from cluster_abm.cli.studies.validate import validate_command
from cluster_abm.cli.trace import trace_group
from cluster_abm.cli.view import view_command
from cluster_abm.errors import InputError
from cluster_abm.interrupts import PolicyInterrupted, sigterm_raises, was_terminated
from cluster_abm.old_names import note_again

BAD_INPUT, OUR_FAULT, INTERRUPTED, TERMINATED = 2, 1, 130, 143
LONGEST_LINE = 900
# What click says of numbers.
PLAINER = {
    r"is not in the range x>=(\S+)\.$": r"must be at least \1.",
    r"is not in the range x>(\S+)\.$": r"must be above \1.",
    r"is not in the range (\S+)<=x<=(\S+)\.$": r"must be from \1 to \2.",
    r"is not a valid integer range\.$": "is no whole number.",
    r"is not a valid float range\.$": "is no number.",
}
# Of the system's refusals, those that say something of a file, a disk or a limit, and nothing of this program.
OF_THE_SYSTEM = {
    errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT,
    errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE,
    errno.EAGAIN, errno.ELOOP, errno.EXDEV, errno.ENOTCONN, errno.ETXTBSY,
}  # fmt: skip


@click.group(cls=SectionedGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cluster-abm", message="%(prog)s %(version)s")
def cluster_abm() -> None:
    """Simulate load balancing in clusters under CPU-, memory- and I/O-intensive work.

    \b
    cluster-abm compare quickstart             policies on the same jobs
    cluster-abm run quickstart --policy iolb   one run in detail
    cluster-abm view quickstart                the same live in the browser

    SCENARIO is a shipped name or a TOML file of yours; --set cluster.nodes=64 changes a key of it. Every command has
    --help, and most have --json: one JSON document on stdout, nothing else there.

    Exit codes: 0 fine; 2 something in the input is wrong; 1 a fault of this program; 130 Ctrl-C and 143 SIGTERM (what
    was finished is kept).
    """


cluster_abm.add_section("Runs", [run_command, compare_command, view_command, scene_command])
cluster_abm.add_section("What there is", [scenarios_command, policies_command, hardware_command])
cluster_abm.add_section(
    "Many runs", [batch_group, reproduce_command, arena_command, plan_command, tune_command, calibrate_command]
)
cluster_abm.add_section("Logs and machines", [trace_group, validate_command])
cluster_abm.add_section("This program", [completion_command])


def main(arguments: list[str] | None = None) -> None:
    """Entry point of `cluster-abm` and `python -m cluster_abm`."""
    with suppress(AttributeError, ValueError):
        # What a terminal cannot show is shown by its number, rather than that the command fails.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # After an earlier command of this process this one says again what it has to say.
    note_again()
    with sigterm_raises():
        code = _exit_code(arguments)
        if code == INTERRUPTED and was_terminated():
            code = TERMINATED
    sys.exit(code)


def _exit_code(arguments: list[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    try:
        for word in words:
            if not word.isascii() and any("\ud800" <= letter <= "\udfff" for letter in word):
                raise InputError(f"{word!r:.120}: is no text in UTF-8, which arguments have to be")
        result = cluster_abm.main(args=arguments, prog_name="cluster-abm", standalone_mode=False)
        flush_stdout()
    except InputError as problem:
        for line in problem.problems:
            tell(f"error: {_short(line)}")
        return BAD_INPUT
    except click.ClickException as problem:
        tell(_usage(problem))
        return problem.exit_code
    except (KeyboardInterrupt, click.Abort) as problem:
        # What is there all the same only the command knows, which says it by `kept`.
        named = [f": {one}" for one in _chain(problem) if isinstance(one, PolicyInterrupted)]
        tell("interrupted" + "".join(named[:1]))
        return INTERRUPTED
    except Interrupted as problem:
        tell(f"interrupted: {problem}")
        return INTERRUPTED
    except OutputFailed as problem:
        return _output_failed(problem)
    except SystemExit as problem:
        # So click ends where its help finds stdout closed; no policy's SystemExit comes so far.
        wrapped = "PacifyFlushWrapper" in type(sys.stdout).__name__
        if wrapped or any(isinstance(one, BrokenPipeError) for one in _chain(problem)):
            return _output_failed(OutputFailed(BrokenPipeError()))
        raise
    except Exception as problem:
        refusal = _of_the_system(problem)
        if refusal is not None:
            tell(f"error: {refusal}")
            with suppress(OutputFailed):
                flush_stdout()
            return BAD_INPUT
        tell("error: this is a fault of cluster-abm, not of your input; please report it with what follows")
        tell(traceback.format_exc())
        return OUR_FAULT
    return result if isinstance(result, int) else 0


def _output_failed(problem: OutputFailed) -> int:
    """A reader that has what it wants (`| head`) is no failure; a full disk under stdout is one."""
    give_up_stdout()
    if problem.closed:
        return problem.exit_code
    tell(f"error: stdout could not be written: {problem}")
    return BAD_INPUT


def _of_the_system(problem: Exception) -> str | None:
    """What the system has refused, in words; None if it is this program's own fault."""
    if isinstance(problem, MemoryError):
        return f"there is not enough memory for this{f' ({problem})' if str(problem) else ''}"
    if not isinstance(problem, OSError) or problem.errno not in OF_THE_SYSTEM:
        return None
    reason = problem.strerror or str(problem)
    if problem.filename is None and problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"the results could not be written: {reason}"
    which = "a file" if problem.filename is None else f"{problem.filename}"
    return f"{_short(which)} could not be read or written: {reason}"


def _usage(problem: click.ClickException) -> str:
    """What click shows of a usage error."""
    context = problem.ctx if isinstance(problem, click.UsageError) else None
    usage = "" if context is None else f"{context.get_usage()}\nTry '{context.command_path} --help' for help.\n\n"
    message = problem.format_message()
    for words, plainer in PLAINER.items():
        message = re.sub(words, plainer, message)
    return f"{usage}Error: {_short(message)}"


def _chain(problem: BaseException) -> Iterator[BaseException]:
    """An exception, what it was raised from, and so on."""
    one: BaseException | None = problem
    while one is not None:
        yield one
        one = one.__cause__ or one.__context__


def _short(line: str) -> str:
    """A line of a message, its middle left out where a value makes it too long to read."""
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 200]} ... {line[-190:]}"
