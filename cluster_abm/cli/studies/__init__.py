"""Commands that are studies of their own: the arena, the search for parameters, this machine."""
