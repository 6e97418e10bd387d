"""The smallest cluster, or the highest load, that meets a target."""
