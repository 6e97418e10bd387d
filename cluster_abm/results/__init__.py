"""From records to tables, summaries, files and pictures."""
