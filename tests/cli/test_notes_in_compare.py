"""The text of a comparison says where submission times differ between policies."""

from __future__ import annotations

import pytest

REACT = 'workload.users = "react": users submit after the ends in the run: submission times differ between policies'


@pytest.mark.slow
def test_the_text_says_it_once(cli, tmp_path):
    (tmp_path / "s.toml").write_text(
        '[cluster]\nnodes = 2\n[workload]\nkind = "sessions"\njobs_per_s = 3.0\nduration_s = 5.0\nusers = "react"\n'
        "[[workload.sessions.group]]\njobs = { mean = 2.0 }\nwork_s = { mean = 0.4 }\nafter_end = 1.0\n"
    )
    code, out, _ = cli("compare", "s.toml", "--policies", "none,jsq", "--seeds", 2, "--workers", 1)
    assert code == 0
    assert " ".join(out.split()).count(REACT) == 1
