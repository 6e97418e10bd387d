"""What each task does at each moment of a window: a run that lives in it from event to event."""
