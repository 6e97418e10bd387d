"""The conversation of load managers in compiled code; the readable form is model.talking."""
