"""What each user, each group of users and each group of nodes had of a run."""
