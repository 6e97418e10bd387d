"""Several threads serve the nodes of one run."""
