"""The audit: a record of each decision, written before its effect."""
