"""Commands that are studies of their own: the arena, and the search for parameters."""
