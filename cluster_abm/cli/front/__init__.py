"""What is at the front: the help of the whole, names that the shell completes, and the messages that the page sends."""
