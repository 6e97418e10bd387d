"""Pictures of what many runs found: studies, comparisons with measurements, searches."""
