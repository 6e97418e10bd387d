"""The negotiation in compiled code, for policies that have a compiled form: the steps of `in_python`."""
