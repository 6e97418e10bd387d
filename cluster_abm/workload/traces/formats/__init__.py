"""The formats of trace files: a module each, named like it, with its description (`FORMAT`) at the foot."""
