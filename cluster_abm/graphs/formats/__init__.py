"""One module for each format of a file that holds a graph: its bytes to a networkx multigraph."""
