"""The least cluster, or the highest load, that keeps what is asked of it."""
