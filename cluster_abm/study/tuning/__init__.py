"""Parameters of a policy, or of anything else in a scenario, searched on some seeds and judged on others."""
