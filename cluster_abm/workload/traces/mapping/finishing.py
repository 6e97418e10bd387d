"""The jobs of a table as a trace: on a clock of their own, with their parents, and what was filled or left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cluster_abm.arrays import Flags, Floats, Words
from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.parents import Parents
from cluster_abm.workload.traces.dependence import parents_of
from cluster_abm.workload.traces.mapping.gathered import Gathered
from cluster_abm.workload.traces.mapping.rows import ROW, SUBMIT
from cluster_abm.workload.traces.mapping.sampling import kept_workflows
from cluster_abm.workload.traces.mapping.suspects import MOST_ABSURD, SHOWN
from cluster_abm.workload.traces.parts.finishing import finished, no_job, on_own_clock
from cluster_abm.workload.traces.table import AFTER, JOB, LONGEST_MS, Trace, tally
"""..."""
