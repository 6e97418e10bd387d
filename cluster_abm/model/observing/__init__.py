"""What is measured, summarised and shown of a run."""
