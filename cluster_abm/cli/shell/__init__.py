"""What the shell shows and completes: the help of the whole, and names."""
