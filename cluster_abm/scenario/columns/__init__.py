"""Maps of columns: which column of a foreign table is which field of a job, as data."""

from cluster_abm.scenario.columns.expressions import parsed
from cluster_abm.scenario.columns.map import NUMBERS, WORDS, ColumnMap, Events, MapField, Spread, TableLayout
from cluster_abm.scenario.columns.shipped import shipped_maps

__all__ = ["NUMBERS", "WORDS", "ColumnMap", "Events", "MapField", "Spread", "TableLayout", "parsed", "shipped_maps"]
