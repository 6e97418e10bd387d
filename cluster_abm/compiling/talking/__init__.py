"""What load managers that talk work with in compiled code."""
