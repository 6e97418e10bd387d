"""The compiled part: state tables, and the rules by which a node lives from event to event."""
