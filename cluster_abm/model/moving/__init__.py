"""Tasks and data on their way between nodes, and what failures do to them."""
