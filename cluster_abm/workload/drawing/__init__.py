"""What is drawn of a workload: submission times, sizes and how they hang together."""
