"""The server of the page: which requests and messages it takes, for how many tabs."""
