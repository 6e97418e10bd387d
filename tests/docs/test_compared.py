"""The programs of docs/compared.md: each answers the same question, and the answers are those of theory.

M/G/1 with processor sharing: random placement has the mean response 1 / (1 - 0.7) s. For the fewest jobs there is no
formula; SimPy's program and the simulator are held to each other.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "compared.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.S)
RANDOM_S = 1 / (1 - 0.7)
# Four standard deviations of a run's mean, from 16 seeds of SimPy's program.
RANDOM_MARGIN_S, FEWEST_MARGIN_S = 0.6, 0.12


def _answers(number: int, name: str) -> dict[Any, float]:
    names: dict[str, Any] = {}
    exec(compile(PROGRAMS[number], f"program {number} of docs/compared.md", "exec"), names)
    return dict(names[name])


@pytest.fixture(scope="module")
def simpy_s() -> dict[str, float]:
    pytest.importorskip("simpy")
    return _answers(0, "simpy_s")


@pytest.mark.slow
def test_simpy_gives_the_formula(simpy_s: dict[str, float]) -> None:
    assert simpy_s["random"] == pytest.approx(RANDOM_S, abs=RANDOM_MARGIN_S)


@pytest.mark.slow
def test_ciw_gives_the_same(simpy_s: dict[str, float]) -> None:
    pytest.importorskip("ciw")
    ciw_s = _answers(1, "ciw_s")
    assert ciw_s["random"] == pytest.approx(RANDOM_S, abs=RANDOM_MARGIN_S)
    assert ciw_s["fewest"] == pytest.approx(simpy_s["fewest"], abs=2 * FEWEST_MARGIN_S)


@pytest.mark.slow
def test_this_simulator_gives_the_same_and_news_that_age_cost_something(simpy_s: dict[str, float]) -> None:
    here_s = _answers(2, "here_s")
    assert here_s["random", "papers"] == pytest.approx(RANDOM_S, abs=RANDOM_MARGIN_S)
    assert here_s["jsq", "papers"] == pytest.approx(simpy_s["fewest"], abs=2 * FEWEST_MARGIN_S)
    # The same jobs: what differs is what the managers know.
    assert here_s["jsq", "papers"] < here_s["jsq", "negotiated"] < here_s["random", "papers"]
