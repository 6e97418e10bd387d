"""The bound `ideal`: all nodes as one station."""
