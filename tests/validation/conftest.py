"""Fixtures of the tests of a validation."""

import pytest
from stubbed import Stubbed


@pytest.fixture
def stubbed(monkeypatch):
    """A validation whose measurements are stand-ins."""
    return Stubbed(monkeypatch)
