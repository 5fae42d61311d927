"""Limits: rates, concurrency, call counts and deadlines."""
