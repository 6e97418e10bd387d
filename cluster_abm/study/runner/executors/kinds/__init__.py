"""The kinds of executors: a module each, named like it, with its description (`EXECUTOR`) at the foot."""
