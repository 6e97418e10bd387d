"""What a study is: its points, its policies, and what its runs are called."""
