"""Keys of a scenario fitted to what was measured, with intervals, what the data cannot tell, and held-out errors."""
