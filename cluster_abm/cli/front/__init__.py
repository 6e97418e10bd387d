"""What a user of the command line sees first: the help of the whole, and names that the shell completes."""
