"""The command line. Heavy imports wait inside the commands, so that `--help` answers at once."""

from __future__ import annotations

import errno
import sys
import traceback

import click

from cluster_abm import __version__
from cluster_abm.cli.batch import batch_group
from cluster_abm.cli.catalogue import policies_command, scenarios_command
from cluster_abm.cli.compare import compare_command
from cluster_abm.cli.options import Interrupted
from cluster_abm.cli.reproduce import reproduce_command
from cluster_abm.cli.run import run_command
from cluster_abm.cli.trace import trace_group
from cluster_abm.cli.view import view_command
from cluster_abm.errors import InputError

BAD_INPUT, OUR_FAULT, INTERRUPTED = 2, 1, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="cluster-abm")
def cluster_abm() -> None:
    """Simulate load balancing in clusters under CPU-, memory- and I/O-intensive work.

    Start with `cluster-abm compare quickstart`. Exit codes: 0 fine, 2 bad input, 1 our fault, 130 interrupted.
    """


for _command in (
    run_command,
    compare_command,
    reproduce_command,
    batch_group,
    policies_command,
    scenarios_command,
    trace_group,
    view_command,
):
    cluster_abm.add_command(_command)


def main(arguments: list[str] | None = None) -> None:
    """Entry point of `cluster-abm` and `python -m cluster_abm`."""
    sys.exit(_exit_code(arguments))


def _exit_code(arguments: list[str] | None) -> int:
    try:
        result = cluster_abm.main(args=arguments, prog_name="cluster-abm", standalone_mode=False)
    except InputError as problem:
        for line in problem.problems:
            click.echo(f"error: {line}", err=True)
        return BAD_INPUT
    except click.ClickException as problem:
        problem.show()
        return problem.exit_code
    except (KeyboardInterrupt, click.Abort):
        # What is there all the same only the command knows, which says it by `kept`.
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except Interrupted as problem:
        click.echo(f"interrupted: {problem}", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough of it (`| head`).
        sys.stderr.close()
        return 0
    except Exception as problem:
        if isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT):
            click.echo(f"error: the results could not be written: {problem.strerror}", err=True)
            return BAD_INPUT
        if isinstance(problem, OSError) and problem.errno == errno.EIO:
            # Of the disk, in either direction; the system does not say which.
            which = f"{problem.filename}" if problem.filename else "a file"
            click.echo(f"error: {which} could not be read or written: {problem.strerror}", err=True)
            return BAD_INPUT
        click.echo(
            "error: this is a fault of cluster-abm, not of your input; please report it with what follows",
            err=True,
        )
        click.echo(traceback.format_exc(), err=True)
        return OUR_FAULT
    return result if isinstance(result, int) else 0
