"""What several readers of traces share: cells with units, dates, columns of foreign tables, and the finish."""
