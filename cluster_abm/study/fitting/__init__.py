"""A scenario from a log: what the log's jobs are like in the workload's terms, and how near a scenario comes to it."""
