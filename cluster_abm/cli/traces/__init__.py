"""What `trace info` does beyond reading a file."""
