"""How a run shows itself: in a line, as a picture, and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

from cluster_abm import displays
from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.model.run_results import RunResults
from cluster_abm.results.figures.options import ALWAYS, FigureOptions, Look
from cluster_abm.results.words import line_words, with_unit
from cluster_abm.scenario.wording.caption import caption_of
from cluster_abm.workload.offered import in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# What a notebook shows first of a run's metrics; the rest is folded.
FIRST = ("mean_slowdown", "p95_slowdown", "mean_response_ms", "makespan_ms", "cpu_utilisation", "disk_utilisation")


class RunDisplay(RunResults, displays.Displayed):
    """The part of ClusterModel that shows a run.

    Attributes:
        running: False once the scenario's end is reached.
    """

    running: bool

    def plot(self, metric: str | None = None, **look: Unpack[Look]) -> Figure:
        """Draw what `cluster-abm run --out` writes as run.png: utilisation and tasks over time, the load of each node,
        and the distribution of slowdowns.

        Args:
            metric: none: one run has one value of each, which `summary()` says.
            look: size, title, style (results.figures.options.Look).

        Returns:
            A Matplotlib figure; a notebook shows it, and `.savefig("mine.pdf")` writes it.

        Raises InputError: nothing has been measured yet: the run has not begun, or not reached `measure.period_ms`; or
            an option that this picture does not take.
        """
        from cluster_abm.results.pictures import OF_NODES, run_figure

        if metric is not None:
            raise InputError(
                f"plot({shortened(metric)}): a run has one value of each metric, see summary(); its picture shows all "
                "nodes over time. Titles are given as title=..."
            )
        options = FigureOptions.of(look, ALWAYS, what="picture of one run")
        measurements = self.parts.measurements
        if not measurements.rows:
            raise InputError(
                f"plot(): nothing has been measured at {self.now_ms / 1000:g} s: the first measurement is at "
                f"measure.period_ms = {self.setup.measure.period_ms:g} ms; call run() before, or run(until_ms=...)"
            )
        nodes = self.engine.nodes
        slowdowns, tasks = self.parts.task_records.outcomes().task_slowdowns()
        cores, channels = float(nodes["cores"].mean()), int(nodes["channels"].max())
        title, frame = options.titled(self.title), measurements.frame(OF_NODES)
        return options.draw(lambda: run_figure(title, frame, slowdowns, cores, channels, finished=tasks))

    def to_latex(self) -> str:
        """The metrics of `summary()` for LaTeX's booktabs: a row for each, with its unit."""
        from cluster_abm.results.figures.latex import latex_table

        summary = self.summary()
        is_one = bool(summary["jobs"]["finished"])
        known = {name: value for name, value in summary["metrics"].items() if not isinstance(value, dict)}
        return latex_table([_row(name, value, is_one) for name, value in known.items()])

    def _how_far(self) -> str:
        """How far the run is."""
        if self.now_ns == 0:
            return "not run yet: run() goes to the scenario's end" if self.running else "no job is submitted"
        where = f"{self.now_ms / 1000:,.10g} s of simulated time"
        return f"at {where}, not at its end" if self.running else f"at its end, {where}"

    def __repr__(self) -> str:
        name = type(self).__name__
        # A subclass may fail, or be asked, before it is complete.
        if "negotiation" not in vars(self) or "jobs_register" not in vars(self):
            return f"<{name}, being set up>"
        return f"<{name} {self.title}: {self._how_far()}>"

    def _parts(self) -> Iterator[str]:
        yield displays.headline(self.title, caption_of(self.setup))
        yield displays.paragraph(self._how_far())
        if self.now_ns == 0:
            load = self.offered_load
            if load is not None:
                yield displays.paragraph(f"offered load: {in_words(load.as_dict())}")
            return
        summary = self.summary()
        jobs, metrics = summary["jobs"], summary["metrics"]
        counts = ", ".join(f"{count:,} {state}" for state, count in jobs.items() if count)
        yield displays.paragraph(f"jobs: {counts or 'none submitted'}")
        known = {name: value for name, value in metrics.items() if name != "breakdown_ms"}
        is_one = bool(jobs["finished"])
        yield displays.table([_row(name, known[name], is_one) for name in FIRST if name in known])
        rest = displays.table([_row(name, value, is_one) for name, value in known.items() if name not in FIRST])
        yield displays.folded("all metrics", rest)
        if self.parts.measurements.rows:
            from cluster_abm.results.figures.picture import png_of

            yield displays.image(png_of(self.plot()), f"{self.title}: utilisation, tasks, slowdowns")


def _row(name: str, value: Any, any_finished: bool) -> dict[str, object]:
    return {"metric": line_words(name).strip(), "value": with_unit(name, value, any_finished)}
