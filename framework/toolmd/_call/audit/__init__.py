"""The record of each decision, made before its effect."""
