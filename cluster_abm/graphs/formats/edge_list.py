"""Lists of edges with named columns."""

from __future__ import annotations

import csv
import io
import warnings

import networkx as nx
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.graphs.checks import MOST_EDGES, NOTES, NUMBERS, brief, check_names, parsed

ENDS = ["source", "target"]
MOST_COLUMNS = 100


def read_comma_separated(raw: bytes, where: str) -> nx.MultiGraph:
    """The graph in comma-separated values. Raises InputError as `_read`."""
    return _read(raw, where, ",")


def read_tab_separated(raw: bytes, where: str) -> nx.MultiGraph:
    """The graph in tab-separated values. Raises InputError as `_read`."""
    return _read(raw, where, "\t")


def _read(raw: bytes, where: str, separator: str) -> nx.MultiGraph:
    """The graph of a table with a row an edge: its columns `source` and `target`, all others are its attributes.

    Raises InputError: it is no such table.
    """
    lines = max(raw.count(b"\n"), raw.count(b"\r"))
    if lines > MOST_EDGES + 1:
        raise InputError(f"{where}: {lines:,} lines: allowed up to {MOST_EDGES + 1:,}")
    try:
        # Before millions of columns are made.
        with io.TextIOWrapper(io.BytesIO(raw), "utf-8-sig", newline="") as text:
            header = [name.strip() for name in next(csv.reader(text, delimiter=separator, skipinitialspace=True), [])]
        _check_columns(header, where)
        with warnings.catch_warnings():
            # Of a row with more values than there are columns.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # All as texts: a vertex "007" is not the vertex 7.
            table = pd.read_csv(
                io.BytesIO(raw), sep=separator, dtype=str, keep_default_na=False, skipinitialspace=True,
                index_col=False, encoding="utf-8-sig",
            )  # fmt: skip
        table.columns = header
    except (ValueError, csv.Error, pd.errors.ParserWarning) as problem:
        # pandas' own errors are ValueErrors.
        raise InputError(f"{where}: no table that can be read: {str(problem).strip()}") from None
    for name in header:
        if name in NUMBERS:
            table[name] = pd.Series([parsed(value) for value in table[name]], dtype=object)
        else:
            table[name] = table[name].str.strip()
    ends = list(zip(table["source"], table["target"], strict=True))
    check_names(list(dict.fromkeys(vertex for pair in ends for vertex in pair)), ends, where)
    others = [name for name in header if name not in ENDS]
    graph = nx.from_pandas_edgelist(table, *ENDS, edge_attr=others or None, create_using=nx.MultiGraph)
    graph.graph[NOTES] = [f"a list of edges says nothing of its {len(graph)} vertices: all are nodes"]
    return graph


def _check_columns(header: list[str], where: str) -> None:
    if not header:
        raise InputError(f"{where}: no table that can be read: its first line is empty")
    if not set(ENDS) <= set(header) or len(header) > MOST_COLUMNS or len(set(header)) < len(header):
        raise InputError(
            f"{where}: columns {brief(header)}: source and target are needed; allowed are up to {MOST_COLUMNS} columns "
            "of unlike names, of which bandwidth_mbps and latency_ms are read"
        )
