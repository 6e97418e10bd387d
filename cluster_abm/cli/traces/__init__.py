"""The larger parts of `trace`: the fit, and the guess of a map."""
