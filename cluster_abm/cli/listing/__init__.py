"""`policies`, `scenarios` and `hardware`: what there is."""
