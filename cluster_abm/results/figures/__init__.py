"""What users may say about a figure, and the files it becomes."""
