"""Every limit of a key: the value at it is accepted, the one just beyond it refused.

The limits stand here as numbers, worked from what the keys say: shares are 0..1, periods 1 ns to 11 days [ms], speeds a
thousandth to 1e9, numbers up to 1e12 in their unit.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from effects_of_keys import listed  # noqa: F401
from pydantic import BaseModel

from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.schema import Scenario
