"""Where arriving and running tasks go: the steps of the negotiation, in Python and compiled, and the record of them."""
