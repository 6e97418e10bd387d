"""Results in a folder, which outlive the processes that fill it."""
