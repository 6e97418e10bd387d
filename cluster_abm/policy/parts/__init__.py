"""Parts that policies of several papers share: load indices, estimates, slots, reservations, scores."""
