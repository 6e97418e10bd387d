"""Users of a log: their sessions in groups that are alike, and how they hold back."""
