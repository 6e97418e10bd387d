"""`calibrate`: keys of a scenario fitted to what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.frame import QuestionFrame, StudyCall, study_options
from cluster_abm.cli.log_options import FilePath
from cluster_abm.cli.options import count_option, kept_out_option, over_option, scenario_argument
from cluster_abm.cli.output import echo
from cluster_abm.cli.shell import names
from cluster_abm.cli.studies.tune import overs_of
from cluster_abm.errors import InputError, gathered

if TYPE_CHECKING:
    from cluster_abm.study.calibration.calibrate import Calibrated, Errors

NOT_CALIBRATED = {
    "compare": "only `cluster-abm compare` reads it",
    "measure.period_ms": "a calibration takes no measurements; `run` does",
}


@click.command("calibrate", short_help="Fit keys of a scenario to what was measured.")
@scenario_argument
@click.option("--policy", shell_complete=names.policies, help="The policy that was in use (default: the scenario's).")
@click.option(
    "--observed",
    required=True,
    metavar="FILE",
    type=FilePath(),
    help="CSV of what was measured: columns job,response_ms or metric,value; see docs/how-to/calibrate.md.",
)
@over_option(
    "KEY=LOW:HIGH", "A key that is fitted within a range; KEY=LOW:HIGH:log by orders of magnitude. Several times."
)
@click.option(
    "--held-out",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    help="Leave this share of the runs (of one run: of its rows) out of the fit, and report the error on it.",
)
@count_option("--seeds", 8, "Runs that each prediction is the mean of.", least=2)
@count_option("--budget", 4000, "Runs that the fit may take: seeds x observed runs for each set of values it tries.")
@study_options(kept_out_option)
def calibrate_command(
    call: StudyCall,
    policy: str | None,
    observed: Path,
    overs: tuple[str, ...],
    held_out: float | None,
    seeds: int,
    budget: int,
) -> int:
    """Fit keys of SCENARIO to what was measured on a machine: response times by job, or metrics.

    Says how well each key is known, what the data cannot tell, and the error on rows that were held out. Stop it as
    you like and start it again: runs that are in the folder are not carried out again, and the result is the same.

    Example: cluster-abm calibrate replay --trace jobs.csv --observed runs.csv
    --over cluster.disk_seek_rotation_ms=1:20 --over cluster.cpu_speed=0.5:2 --out out/machine
    """
    from cluster_abm.scenario.filling.values import value_of
    from cluster_abm.study.calibration.observed import read_observed
    from cluster_abm.study.calibration.question import CalibrationQuestion

    checked, overrides = call.loaded(policy)
    with gathered() as gather:
        with gather:
            ranges = overs_of(overs)
        with gather:
            measured = read_observed(observed, value_of)
            if held_out is not None:
                measured = measured.holding_out(held_out, checked.run.seed)
        with gather:
            given = {key for found in measured.conditions.values() for key in found} if not gather.problems else set()
            own = {key: value for key, value in overrides.items() if key not in given}
            if not given:
                check_keys_have_effect(checked, call.scenario, overrides, [checked.policy.name], NOT_CALIBRATED)
            twice = [overrides.given_by(key) for key in overrides if key not in own]
            if twice:
                raise InputError([f"{one}: a column of {observed} sets this key" for one in twice])
    question = CalibrationQuestion(checked, ranges, measured, seeds, budget)
    question.check()
    return CalibrateFrame(call, overrides, question).carry_out()


class CalibrateFrame(QuestionFrame["Calibrated"]):
    """The frame of `calibrate`."""

    document, picture, table = "calibration.json", "calibration.png", "fitted.csv"

    def _run(self, folder: Path | None) -> Calibrated:
        from cluster_abm.study.calibration.calibrate import calibrate

        return calibrate(self.question, where=self.where, folder=folder)

    def _save(self, folder: Path, found: Calibrated) -> None:
        from cluster_abm.results.files import write_text
        from cluster_abm.results.style import save

        write_text(folder, self.table, found.frame().to_csv(index=False, lineterminator="\n"))
        write_text(folder, "calibrated.toml", found.toml())
        save(found.plot(), folder / self.picture)

    def _show(self, found: Calibrated) -> None:
        _print_calibration(found)


def _print_calibration(found: Calibrated) -> None:
    import pandas as pd

    question, observed = found.question, found.question.observed
    kind = "response times of jobs" if observed.kind == "jobs" else "metrics"
    runs = f"{len(observed.runs)} run{'s' if len(observed.runs) > 1 else ''}"
    echo(f"{question.scenario.name} fitted to {len(observed.fitted)} of {len(observed.rows)} {kind} of {runs}")
    echo(f"each prediction is the mean of {question.seeds} seeds, the same for all values\n")
    rows = [
        {
            "key": one.key,
            "in the scenario": f"{one.default:.5g}" if isinstance(one.default, int | float) else "not set",
            "fitted": f"{one.value:.4g}",
            "90 % interval": f"[{one.ci90[0]:.4g}, {one.ci90[1]:.4g}]",
            "95 % interval": f"[{one.ci95[0]:.4g}, {one.ci95[1]:.4g}]",
            # What the interval is made of.
            **{
                name: f"{100 * share:.0f} %"
                for name, share in zip(("measurement", "measured run", "seeds"), one.shares, strict=True)
            },
        }
        for one in found.estimates
    ]
    echo(pd.DataFrame(rows).to_string(index=False))
    echo("last three columns: the variance of the fitted value by what causes it (errors of measurement, chance in the")
    echo("measured runs themselves, chance in the simulated seeds)")
    echo("\nerrors of prediction, 100 |predicted / observed - 1|: median and 90th percentile over the rows;")
    echo("bias: predicted above (+) or below (-) observed, in the geometric mean\n")
    lines = []
    for side, held_out in (("fitted", False), ("held out", True)):
        for words, logs in (("as given", found.default_logs), ("calibrated", found.logs)):
            errors = found.errors(logs, held_out)
            if errors is not None:
                lines.append({"measured rows": f"{side} ({errors.rows})", "scenario": words} | _in_per_cent(errors))
    echo(pd.DataFrame(lines).to_string(index=False))
    if not found.found.is_converged:
        echo("\nthe fit has not come to its end: the same command with a larger --budget goes on from here")
    for line in found.cannot_tell:
        echo(f"\n{line}")
    echo("\n" + found.toml().rstrip())


def _in_per_cent(errors: Errors) -> dict[str, str]:
    return {
        "median [%]": f"{100 * errors.median:.3g}",
        "90th percentile [%]": f"{100 * errors.p90:.3g}",
        "bias [%]": f"{100 * errors.bias:+.3g}",
    }
