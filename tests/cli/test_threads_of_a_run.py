"""`--threads`: the same output and files with any number of threads; bad numbers are refused."""

from __future__ import annotations

import pytest

from cluster_abm.engine import state
from cluster_abm.engine.threads import shares

SMALL = ["--set", "cluster.nodes=40", "--set", "workload.duration_s=5", "--json"]


@pytest.mark.slow
def test_files_and_output_do_not_depend_on_them(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(shares, "PAYS_S", 1e-12)
    monkeypatch.setattr(state, "FEWEST_STARTS", 1)
    found = []
    for options in ([], ["--threads", 3], ["--threads", "auto"], ["--set", "run.threads=2"]):
        code, out, err = cli("run", "cpu-bound", *SMALL, *options, "--out", "folder")
        assert code == 0, err
        files = {path.name: path.read_bytes() for path in (tmp_path / "folder").iterdir()}
        assert "scenario.toml" in files
        del files["timing.json"]
        found.append((out, files))
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize(("options", "said"), [
    (["--threads", 0], 'run.threads = 0: must be "auto" or a whole number from 1 to 256'),
    (["--threads", 257], 'run.threads = 257: must be "auto" or a whole number from 1 to 256'),
    (["--threads", "many"], "run.threads = 'many': must be"),
    (["--threads", 2, "--set", "run.threads=3"], "--threads sets this key too"),
])  # fmt: skip
def test_bad_numbers_are_refused(cli, options, said):
    code, out, err = cli("run", "cpu-bound", *SMALL, *options)
    assert (code, out) == (2, "")
    assert said in err
