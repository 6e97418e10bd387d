"""What a scenario leaves to the files that it names, and to the keys that a caller lays over it."""
