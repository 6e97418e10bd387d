"""All nodes as one station, the pooled reference `pooled`; and the lower bound `srpt-pool`."""
