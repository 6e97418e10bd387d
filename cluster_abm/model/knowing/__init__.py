"""What load managers know of other nodes: load reports, answers, and the views made of them."""
