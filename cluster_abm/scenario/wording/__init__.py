"""How what a scenario says is put into words."""
