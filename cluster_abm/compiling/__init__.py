"""Policies compiled: the methods that a policy is written in, as functions that a compiled negotiation calls."""
