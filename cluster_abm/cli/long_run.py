"""A run whose end is far says so: what it has simulated so far, and whether jobs gather."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from cluster_abm.progress import FIRST_S, duration_in_words

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel

# An end that is nearer than this is not far [s].
FAR_S = 30.0
# How often the jobs in the system are counted until then [s].
COUNTED_EVERY_S = 1.0
# From here on a resource cannot keep up with what jobs demand of it.
FULL = 1.0


class Count(NamedTuple):
    """The jobs in the system at a time."""

    now_ms: float  # simulated time [ms]
    jobs: int  # how many have been submitted and have not ended


class LongRunNote:
    """Watches a run, and says once that its end is far.

    Args:
        model: the run.
        say: writes a remark.
        clock: wall time [s].
    """

    def __init__(
        self, model: ClusterModel, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._model, self._say, self._clock = model, say, clock
        self._begun: float | None = None
        self._counted_at = clock()
        self._counts: list[Count] = []
        self._is_done = False

    def look(self, share: float) -> None:
        """Take note of the share of the run that is done, 0..1; after ten seconds say so if the end is far."""
        if self._is_done:
            return
        now = self._clock()
        if self._begun is None:
            # The time before the first look may be that of compilation, which says nothing about the end.
            self._begun = now
        if now - self._counted_at >= COUNTED_EVERY_S:
            self._counted_at = now
            self._counts.append(Count(self._model.now_ms, len(self._model.engine.live_jobs())))
        elapsed_s = now - self._begun
        if elapsed_s < FIRST_S:
            return
        self._is_done = True
        left_s = elapsed_s * (1.0 - share) / share if share > 0.0 else float("inf")
        if left_s >= FAR_S:
            self._say("\n".join(self._lines(elapsed_s, left_s, share)))

    def _lines(self, elapsed_s: float, left_s: float, share: float) -> list[str]:
        setup, now_s = self._model.setup, self._model.now_ms / 1000.0
        so_far = f"note: {now_s:,.4g} s simulated in {duration_in_words(elapsed_s)}"
        if setup.run.until == "drained":
            of = f", {share:.0%} of the tasks have ended".replace("%", " %")
        else:
            of = f" of the {float(setup.run.until) / 1000.0:,.4g} s of run.until"
        left = f": about {duration_in_words(left_s)} to go" if left_s < float("inf") else ": the end is not in sight"
        lines = [so_far + of + left]
        jobs = self._counts[-1].jobs if self._counts else len(self._model.engine.live_jobs())
        # The simulated time passes unevenly: the count in the middle of it, not of the wall time.
        earlier = [one for one in self._counts if one.now_ms <= 500.0 * now_s]
        system = f"  {jobs:,} jobs are in the system"
        if earlier and jobs > 1.2 * earlier[-1].jobs:
            system += f", {earlier[-1].jobs:,} at {earlier[-1].now_ms / 1000.0:,.4g} s: they gather"
            system += self._reason()
        lines.append(system)
        lines.append(
            "  Ctrl-C ends the run and keeps what is finished; --set run.until=MS (simulated) ends it by itself"
        )
        return lines

    def _reason(self) -> str:
        load = self._model.offered_load
        full = {} if load is None else {name: value for name, value in load.as_dict().items() if value > FULL}
        if not full:
            return ""
        from cluster_abm.workload.offered import in_words

        return f", for the jobs demand more than there is\n    (offered load: {in_words(full)}; 1 is all there is)"
