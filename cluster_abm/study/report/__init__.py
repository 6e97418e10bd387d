"""A study's report: tables, findings and pictures."""
