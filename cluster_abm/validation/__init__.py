"""This machine measured, and the model of a node held against it: `cluster-abm validate`."""
