"""What the tests of the commands share."""

import pytest

from cluster_abm.cli import main


@pytest.fixture
def cli(capfd, tmp_path, monkeypatch):
    """Run a command in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capfd.readouterr()
        return left.value.code, captured.out, captured.err

    return call
