"""What follows from the laws of a workload before it runs: the bound of slowdowns, relaxation time, missing means."""
