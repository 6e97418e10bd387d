"""How a recording is looked at: in a notebook, and as an HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cluster_abm.arguments import FLAG, PATH, check_arguments, from_on

if TYPE_CHECKING:
    from cluster_abm.recording.recording import Recording
    from cluster_abm.recording.showing import Shown


class Looked:
    """The part of Recording that shows it."""

    def html(self, path: str | Path) -> None:
        """Write an HTML file that plays it: from disk, offline, with nothing installed.

        Raises InputError: the file cannot be written, or its times are too long for the player.
        """
        from cluster_abm.recording.html import write_html

        check_arguments(path=(path, PATH))
        write_html(path, [cast("Recording", self)])

    def show(self, embed: bool = False, height: int = 640) -> Shown:
        """What a notebook shows of it: the player, and a picture where no widget can run.

        Args:
            embed: in a frame of its own, which plays in exported HTML, too, offline.
            height: of the player [pixels].

        Raises InputError: `height` is no number of pixels.
        """
        from cluster_abm.recording.showing import show

        check_arguments(embed=(embed, FLAG), height=(height, from_on(100)))
        return show([cast("Recording", self)], embed, height)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, Any]:
        return {**self.show()._repr_mimebundle_(), "text/plain": repr(self)}
