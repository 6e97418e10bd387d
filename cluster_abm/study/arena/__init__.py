"""The arena: all policies over a space of regimes, on the same jobs."""
