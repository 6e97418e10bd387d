"""Films: the network in pictures, one after another."""
