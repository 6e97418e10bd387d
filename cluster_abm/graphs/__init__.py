"""Graphs in files of users: how they are read, and which of their vertices are nodes."""
