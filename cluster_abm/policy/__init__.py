"""What a policy is: its base classes, its view of the cluster, its decisions, and what policies share."""
