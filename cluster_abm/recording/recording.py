"""A recording, which shows itself: in a notebook, and as an HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluster_abm.arguments import FLAG, PATH, Kind, check_arguments, from_on
from cluster_abm.errors import InputError
from cluster_abm.recording.recorded_run import RecordedRun

if TYPE_CHECKING:
    from cluster_abm.recording.showing import Shown


class Recording(RecordedRun):
    """What happened in a run.

    Attributes:
        meta: what it is a recording of, as data that JSON can hold: scenario, policy, seed, how far it goes, the words
            of the policy's rules, and the run's summary. `kept` says which part of the run it has: `every` n-th job,
            tasks that live between `from_ns` and `to_ns` (None: in all of it), and `why`, in words ("": all is kept).
            The summary is always that of the whole run. `jobs_killed`, where there are any, are the jobs that an act
            has killed, of the script or of an agent; other killed jobs found no memory.
        tables: its tables by name (recorded_run.COLUMNS); `detail` only where it was asked for.

    Example:
        >>> import cluster_abm as ca
        >>> recording = ca.record("quickstart", "jsq", seed=1, workload__duration_s=20)
        >>> recording
        <Recording quickstart: policy jsq, seed 1: 65 tasks, 66 decisions, 29.97 s>
    """

    def html(self, path: str | Path, beside: Recording | None = None) -> None:
        """Write an HTML file that plays it: from disk, offline, with nothing installed.

        Args:
            path: of the file.
            beside: another recording on the same clock, of as many nodes: under another policy, say, or without acts.

        Raises InputError: the file cannot be written, or its times are too long for the player.
        """
        from cluster_abm.recording.html import write_html

        check_arguments(path=(path, PATH))
        write_html(path, self._with(beside))

    def show(self, embed: bool = False, height: int = 640, beside: Recording | None = None) -> Shown:
        """What a notebook shows of it: the player, and a picture where no widget can run.

        Args:
            embed: in a frame of its own, which plays in exported HTML, too, offline.
            height: of the player [pixels].
            beside: another recording on the same clock, of as many nodes.

        Raises InputError: `height` is no number of pixels, or `beside` no recording of as many nodes.
        """
        from cluster_abm.recording.showing import show

        check_arguments(embed=(embed, FLAG), height=(height, from_on(100)))
        return show(self._with(beside), embed, height)

    def _with(self, beside: Recording | None) -> list[Recording]:
        if beside is None:
            return [self]
        check_arguments(beside=(beside, Kind("a recording", lambda value: isinstance(value, Recording))))
        nodes = [one.tables["nodes"].num_rows for one in (self, beside)]
        if nodes[0] != nodes[1]:
            raise InputError(f"beside: a recording of {nodes[1]} nodes: needed is one of {nodes[0]}")
        return [self, beside]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, Any]:
        return {**self.show()._repr_mimebundle_(), "text/plain": repr(self)}
