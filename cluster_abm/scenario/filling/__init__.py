"""What a scenario leaves to the files that it names."""
