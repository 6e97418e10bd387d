"""What the tests of pictures share."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure


@pytest.fixture
def sheet(monkeypatch, tmp_path):
    """Draw by a function: its figure, checked instead of written."""
    found = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path, **_: (found.append(self), Path(path).touch()))

    def drawn(draw, *arguments):
        draw(tmp_path / "a.png", *arguments)
        return found[0]

    return drawn
